"""Consumer groups of a Kafka cluster over its admin client."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, ConsumerGroupType, KafkaError, KafkaException
from confluent_kafka import TopicPartition as ClientPartition
from confluent_kafka.admin import MemberDescription

from kafka_migration.adapters.kafka.kafka_client import ClusterClient, call_timeout_s, may_pass
from kafka_migration.adapters.system.collector import without_collections
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.groups.group_writes import unreadable_finding
from kafka_migration.core.kafka.cluster import (
    GroupDescription,
    GroupKind,
    GroupListing,
    GroupMember,
    GroupState,
    why_immovable,
)
from kafka_migration.core.kafka.offsets import CommittedOffset, TopicPartition

# The coordinator's errors if a group has members, depending on its state and protocol.
_ACTIVE = {
    KafkaError.NON_EMPTY_GROUP,
    KafkaError.UNKNOWN_MEMBER_ID,
    KafkaError.REBALANCE_IN_PROGRESS,
    KafkaError.ILLEGAL_GENERATION,
    KafkaError.STALE_MEMBER_EPOCH,
}
# By protocol type; a group that only commits offsets has none.
_KINDS: Mapping[str, GroupKind] = {
    "": "classic",
    "consumer": "classic",
    "connect": "connect",
    "share": "share",
    "streams": "streams",
}
# The states in the client's older call.
_PLAIN_STATES: Mapping[str, GroupState] = {
    "Stable": GroupState.STABLE,
    "Empty": GroupState.EMPTY,
    "Dead": GroupState.DEAD,
    "PreparingRebalance": GroupState.PREPARING_REBALANCING,
    "CompletingRebalance": GroupState.COMPLETING_REBALANCING,
}


class GroupCalls(ClusterClient):
    """The consumer group methods of `core.kafka.cluster.KafkaCluster`."""

    def list_groups(self) -> tuple[GroupListing, ...]:
        """Return every group of any kind that the client may describe, sorted by name."""
        listings = {listing.group_id: _listing(listing) for listing in self._call(self._listed)}
        # Brokers before Kafka 2.6 list groups without their states.
        described = self._described_groups([g for g, each in listings.items() if each.state is GroupState.UNKNOWN])
        # The state of a group that may not be described stays unknown, and the others are listed.
        states = {group: _state(found) for group, found in described.items() if not isinstance(found, KafkaException)}
        listings |= {group: replace(listings[group], state=state) for group, state in states.items()}
        for group in self._call(self._groups_of_all_protocols):
            kind = _KINDS.get(group.protocol_type, "other")
            state = _PLAIN_STATES.get(group.state, GroupState.UNKNOWN)
            listings.setdefault(group.id, GroupListing(group.id, state, kind))
        return tuple(listings[group] for group in sorted(listings))

    def _listed(self) -> Any:
        with without_collections():
            result = self._admin.list_consumer_groups(request_timeout=call_timeout_s()).result(call_timeout_s())
        if result.errors:
            # Do not return an incomplete list without the groups of one broker. The client documents a list of
            # `KafkaException`, and gives `KafkaError`, which no `except` clause catches (confluent-kafka 2.16.1).
            error = result.errors[0]
            raise error if isinstance(error, KafkaException) else KafkaException(error)
        return result.valid

    def _groups_of_all_protocols(self, group: str | None = None) -> Any:
        """Return all groups, or this one, from the client's older call.

        The newer ones omit groups of other protocol types, and what their members say of themselves.
        """
        with warnings.catch_warnings(), without_collections():
            warnings.simplefilter("ignore", DeprecationWarning)
            return self._admin.list_groups(group=group, timeout=call_timeout_s())

    def connect_workers(self, group: str) -> tuple[str, ...]:
        """Return the REST address of each worker of the Kafka Connect cluster with this group, as a URL, sorted."""
        return self._call(lambda: self._worker_addresses(group))

    def _worker_addresses(self, group: str) -> tuple[str, ...]:
        found = [each for each in self._groups_of_all_protocols(group) if each.id == group]
        if error := next((each.error for each in found if each.error is not None), None):
            raise KafkaException(error)
        members = [member for each in found if each.protocol_type == "connect" for member in each.members]
        return tuple(sorted(rest_address(group, member.metadata) for member in members))

    def _described_groups(self, groups: Collection[str]) -> dict[str, Any]:
        """Return the client's description of each group, or the `KafkaException`."""
        # Brokers since Kafka 4.0 refuse to describe the empty id.
        named = sorted({group for group in groups if group})
        if not named:
            return {}
        return self._outcomes(
            lambda some: self._admin.describe_consumer_groups(list(some), request_timeout=call_timeout_s()), named
        )

    def describe_groups(self, groups: Collection[str]) -> Mapping[str, GroupDescription]:
        """Return state and members of every one of the groups."""
        described = self._present(self._described_groups(groups))
        found = {group: _description(group, description) for group, description in described.items()}
        missing = {group: GroupState.DEAD if group else GroupState.UNKNOWN for group in groups}
        return {group: found.get(group, GroupDescription(group, state)) for group, state in missing.items()}

    def committed_offsets(
        self, group: str, partitions: Collection[TopicPartition] | None = None
    ) -> Mapping[TopicPartition, CommittedOffset]:
        """Return a group's committed offsets on these partitions (`None`: on all); those without one are missing.

        Waits for offsets that a transaction is about to commit.
        """
        _require_id(group)
        # If no group of the cluster ever committed, this request crashes the process (confluent-kafka 2.16.1).
        if (partitions is not None and not partitions) or self._is_unknown(group):
            return {}
        return self._call(lambda: self._stable_offsets(group, partitions))

    def _is_unknown(self, group: str) -> bool:
        return self.describe_groups([group])[group].state is GroupState.DEAD

    def _stable_offsets(
        self, group: str, partitions: Collection[TopicPartition] | None
    ) -> dict[TopicPartition, CommittedOffset]:
        """Return the committed offsets. Raises `KafkaException` while a transaction is about to change one."""
        wanted = None if partitions is None else [ClientPartition(*p) for p in sorted(partitions)]
        results = self._results(
            lambda some: self._admin.list_consumer_group_offsets(
                [ConsumerGroupTopicPartitions(each, wanted) for each in some],
                require_stable=True,
                request_timeout=call_timeout_s(),
            ),
            [group],
        )
        found = {}
        for answer in (p for result in results.values() for p in result.topic_partitions):
            if answer.error is not None:
                raise KafkaException(_told(group, answer.error))
            if answer.offset >= 0:
                partition = TopicPartition(answer.topic, answer.partition)
                found[partition] = CommittedOffset(answer.offset, answer.metadata or "")
        return found

    def alter_offsets(self, group: str, offsets: Mapping[TopicPartition, CommittedOffset]) -> None:
        """Set the offsets of an empty group; a group that does not exist is created."""
        _require_id(group)
        if not offsets:
            return
        denied = self._call(lambda: self._altered(group, offsets))
        if any(error.code() in _ACTIVE for _, error in denied):
            raise Refused([self._active_finding(group, next(e for _, e in denied if e.code() in _ACTIVE))])
        if denied:
            raise Refused(self._denied_finding(group, partition, error) for partition, error in denied)

    def _altered(self, group: str, offsets: Mapping[TopicPartition, CommittedOffset]) -> list[tuple[str, KafkaError]]:
        """Try once; return each partition that was not written, with the broker's reason.

        Raises `KafkaException` for a reason that may be temporary. Active members are not such a reason.
        """
        # The source's leader epoch is invalid here, so none is written.
        wanted = [ClientPartition(p.topic, p.partition, c.offset, c.metadata) for p, c in sorted(offsets.items())]
        futures = self._admin.alter_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(group, wanted)], request_timeout=call_timeout_s()
        )
        denied = [
            (f"{answer.topic}[{answer.partition}]", answer.error)
            for answer in self._alter_answers(group, futures)
            if answer.error is not None
        ]
        passing = next((error for _, error in denied if may_pass(error)), None)
        if passing is not None and not any(error.code() in _ACTIVE for _, error in denied):
            raise KafkaException(passing)
        return denied

    def delete_group(self, group: str) -> None:
        """Delete an empty group with all its offsets; a missing group is ignored."""
        outcome = self._outcomes(
            lambda some: self._admin.delete_consumer_groups(list(some), request_timeout=call_timeout_s()), [group]
        )[group]
        if isinstance(outcome, KafkaException):
            error = outcome.args[0]
            if error.code() in _ACTIVE:
                raise Refused([self._active_finding(group, error)]) from outcome
            if error.code() != KafkaError.GROUP_ID_NOT_FOUND:
                raise self._translated(outcome) from outcome

    def _alter_answers(self, group: str, futures: Mapping[str, Any]) -> list[Any]:
        """Return the answers per partition; an answer about the whole group is raised."""
        try:
            return [p for future in futures.values() for p in future.result(call_timeout_s()).topic_partitions]
        except KafkaException as error:
            if error.args[0].code() in _ACTIVE:
                raise Refused([self._active_finding(group, error.args[0])]) from error
            raise

    def _active_finding(self, group: str, error: KafkaError) -> Finding:
        return Finding(
            Code.GROUP_ACTIVE,
            f"group {group}",
            f"{self.name} answers: {error.str()}",
            "a group without members",
            "Stop the group's consumers on this cluster. Then clear the task with its downstream tasks.",
            happened=f"The group {group} still has members on the cluster {self.name}: {error.str()}.",
            matters="Kafka accepts offsets only for a group without members, so the group's offsets were not changed.",
        )

    def _denied_finding(self, group: str, partition: str, error: KafkaError) -> Finding:
        return Finding(
            Code.OFFSETS_NOT_WRITTEN,
            f"group {group}, {partition}",
            f"{self.name} answers: {error.str()}",
            "a written offset",
            "Correct what the broker names: for example a missing right on the group or the topic. Then clear the "
            "task with its downstream tasks.",
            happened=f"The cluster {self.name} did not write the offset of group {group} on {partition}: "
            f"{error.str()}.",
            matters="Consumers that start on this cluster now would read records of this partition twice or miss some.",
        )


def rest_address(group: str, metadata: bytes) -> str:
    """Return the REST address in what a worker told its group: a version (int16), and a text after its length (int16).

    So it is in all versions of Connect's protocol. While the group rebalances, brokers do not show it.
    """
    size = int.from_bytes(metadata[2:4], "big")
    address = metadata[4 : 4 + size]
    if not address or len(address) < size:
        reason = f"the addresses of the workers in group {group!r} are not known while they rebalance"
        raise KafkaException(KafkaError(KafkaError.REBALANCE_IN_PROGRESS, reason, retriable=True))
    return address.decode(errors="replace")


def _require_id(group: str) -> None:
    """Raise `Refused` for the empty id: Python's client refuses it with an error of its own."""
    if not group:
        raise Refused([unreadable_finding(group, why_immovable(group, "classic"))])


def _told(group: str, error: KafkaError) -> KafkaError:
    """Return the error with a text that names its cause, if Kafka's own text does not."""
    if error.code() != KafkaError.UNSTABLE_OFFSET_COMMIT:
        return error
    return KafkaError(error.code(), f"offsets of group {group!r} are pending in an open transaction")


def _listing(listing: Any) -> GroupListing:
    is_new = getattr(listing, "type", None) == ConsumerGroupType.CONSUMER
    return GroupListing(listing.group_id, _state(listing), "consumer" if is_new else "classic")


def _state(described: Any) -> GroupState:
    name = getattr(getattr(described, "state", None), "name", "")
    return GroupState(name) if name in set(GroupState) else GroupState.UNKNOWN


def _description(group: str, description: Any) -> GroupDescription:
    members = tuple(
        GroupMember(m.member_id, m.client_id or "", m.host or "", _assigned(m)) for m in description.members
    )
    return GroupDescription(group, _state(description), members)


def _assigned(member: MemberDescription) -> frozenset[TopicPartition]:
    """Return a member's assigned partitions; none while the group is rebalancing."""
    assignment = member.assignment
    given = assignment.topic_partitions if assignment else None
    return frozenset(TopicPartition(p.topic, p.partition) for p in given or ())
