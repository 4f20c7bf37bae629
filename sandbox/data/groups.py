"""Inactive consumer groups on the source: at the end, with lag, on some partitions, without a commit."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from confluent_kafka import Consumer, TopicPartition

from sandbox.data.asking import asked
from sandbox.data.clients import client_config
from sandbox.errors import SandboxError

TIMEOUT_S = 120.0


@dataclass(frozen=True, slots=True)
class Group:
    """A consumer group: its topics with the share (0 to 1) of each partition that it has read.

    `only` limits a topic's commits to some partitions. A group that has read nothing joins once and commits nothing.
    """

    name: str
    read: Mapping[str, float]
    only: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    commits: bool = True
    metadata: str = ""

    def offset(self, partition: TopicPartition, low: int, high: int) -> int | None:
        """Return the offset to commit on a partition with this range; `None` for none."""
        wanted = self.only.get(partition.topic)
        if not self.commits or (wanted is not None and partition.partition not in wanted):
            return None
        return low + int((high - low) * self.read[partition.topic])


GROUPS = (
    Group("billing", {"orders": 1.0, "payments": 1.0, "audit": 1.0, "transfers": 1.0}),
    Group("reporting", {"orders": 0.6, "payments": 0.6}, metadata="nightly report"),
    Group("fraud", {"orders": 0.9, "transfers": 1.0}, only={"orders": (0, 2), "transfers": (1,)}),
    # Kafka deletes an empty group without offsets after some minutes.
    Group("archive", {"orders": 0.0, "audit": 0.0}, commits=False),
)


def make_groups(bootstrap: str, groups: Iterable[Group] = GROUPS) -> None:
    """Let all groups join, commit their offsets and leave, at the same time.

    Raises:
        SandboxError: a group got no partitions in time.
    """
    members = [_Member(bootstrap, group) for group in groups]
    try:
        _wait_until_joined(members)
        for member in members:
            member.commit()
    finally:
        for member in members:
            member.leave()


def have_committed(bootstrap: str, groups: Iterable[Group] = GROUPS) -> bool:
    """True if every group that commits has done so; brokers delete the offsets a week after the last member left."""
    return all(_has_committed(bootstrap, group) for group in groups if group.commits)


def _has_committed(bootstrap: str, group: Group) -> bool:
    # Without an AdminClient, which crashes if the cluster has no coordinator yet.
    consumer = Consumer({**client_config(bootstrap), "group.id": group.name})
    try:
        places = [TopicPartition(topic, number) for topic in group.read for number in group.only.get(topic, (0,))]
        return all(place.offset >= 0 for place in _committed(consumer, places))
    finally:
        consumer.close()


def _committed(consumer: Consumer, places: list[TopicPartition]) -> list[TopicPartition]:
    """Return the commits of these partitions."""
    found: list[TopicPartition] = asked(lambda: consumer.committed(places, timeout=TIMEOUT_S), "the groups' commits")
    return found


class _Member:
    """The one consumer of a group."""

    def __init__(self, bootstrap: str, group: Group) -> None:
        self.group = group
        self.partitions: list[TopicPartition] = []
        self._consumer = Consumer(
            {
                **client_config(bootstrap),
                "group.id": group.name,
                "client.id": f"{group.name}-1",
                "enable.auto.commit": False,
                "auto.offset.reset": "latest",
                # Offset requests queue up after a fetch that waits for records.
                "fetch.wait.max.ms": 10,
            }
        )
        self._consumer.subscribe(list(group.read), on_assign=self._assigned)

    def has_joined(self) -> bool:
        """Continue to join; true once partitions are assigned."""
        self._consumer.poll(0.05)
        return bool(self.partitions)

    def commit(self) -> None:
        """Commit what the group has read."""
        offsets = [commit for partition in self.partitions if (commit := self._commit(partition))]
        if offsets:
            asked(
                lambda: self._consumer.commit(offsets=offsets, asynchronous=False),
                f"the commit of group {self.group.name}",
            )

    def leave(self) -> None:
        """Leave the group."""
        self._consumer.close()

    def _assigned(self, _consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self.partitions = partitions

    def _commit(self, partition: TopicPartition) -> TopicPartition | None:
        low, high = asked(
            lambda: self._consumer.get_watermark_offsets(partition, timeout=TIMEOUT_S), f"the ends of {partition.topic}"
        )
        offset = self.group.offset(partition, low, high)
        if offset is None:
            return None
        return TopicPartition(partition.topic, partition.partition, offset, self.group.metadata)


def _wait_until_joined(members: list[_Member]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    waiting = members
    while waiting := [member for member in waiting if not member.has_joined()]:
        if time.monotonic() > deadline:
            names = ", ".join(member.group.name for member in waiting)
            raise SandboxError(f"no partitions were assigned within {TIMEOUT_S:.0f} s to the groups {names}")
