"""Damages one record of a copy: the pure part on lists of records, and recreating a topic with the result."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from confluent_kafka.admin import ConfigResource, ConfigSource

from sandbox.data.asking import asked
from sandbox.data.records import Record
from sandbox.data.sending import Sender
from sandbox.data.topics import ADMIN_TIMEOUT_S, Topic, admin, create_topics, present_topics
from sandbox.errors import SandboxError


class Damage(StrEnum):
    """The kinds of damage to one record in the middle of a partition."""

    DROP = "drop"
    ALTER = "alter"
    DUPLICATE = "duplicate"
    REORDER = "reorder"


@dataclass(frozen=True, slots=True)
class Damaged:
    """A partition's records after the damage.

    `rank` is the first place (from 0) where they differ from the original: for a duplicate, the place of the second
    record.
    """

    records: list[Record]
    rank: int


def damaged(damage: Damage, records: Sequence[Record]) -> Damaged:
    """Return the records with one in the middle damaged; all others stay unchanged.

    Raises:
        ValueError: no record from the middle on is suitable for the damage.
    """
    return _DAMAGES[damage](list(records), len(records) // 2)


def _drop(records: list[Record], middle: int) -> Damaged:
    place = _place(records, middle, lambda n: n + 1 == len(records) or records[n] != records[n + 1])
    return Damaged([*records[:place], *records[place + 1 :]], place)


def _alter(records: list[Record], middle: int) -> Damaged:
    place = _place(records, middle, lambda n: bool(records[n].value))
    record = records[place]
    value = bytearray(record.value or b"")
    value[len(value) // 2] ^= 0x01
    return Damaged([*records[:place], record._replace(value=bytes(value)), *records[place + 1 :]], place)


def _duplicate(records: list[Record], middle: int) -> Damaged:
    place = _place(records, middle, lambda n: n + 1 == len(records) or records[n] != records[n + 1])
    return Damaged([*records[: place + 1], *records[place:]], place + 1)


def _reorder(records: list[Record], middle: int) -> Damaged:
    """Swap neighbours of one key, which breaks the order that consumers rely on."""
    place = _place(records, middle, lambda n: n + 1 < len(records) and _are_swappable(records[n], records[n + 1]))
    return Damaged([*records[:place], records[place + 1], records[place], *records[place + 2 :]], place)


def _are_swappable(one: Record, other: Record) -> bool:
    return one.key is not None and one.key == other.key and one != other


def _place(records: list[Record], middle: int, suits: Callable[[int], bool]) -> int:
    for place in range(middle, len(records)):
        if suits(place):
            return place
    raise ValueError(f"none of the {len(records) - middle} records from the middle on can be damaged in this way")


_DAMAGES = {Damage.DROP: _drop, Damage.ALTER: _alter, Damage.DUPLICATE: _duplicate, Damage.REORDER: _reorder}


def remake_topic(bootstrap: str, name: str, contents: Mapping[int, Sequence[Record]]) -> None:
    """Delete a topic, create it again with the same settings, and write these records to these partitions.

    Raises:
        SandboxError: the topic was not deleted, or the brokers did not accept all records.
    """
    topic = Topic(name, len(contents), _own_configs(bootstrap, name))
    _delete(bootstrap, name)
    create_topics(bootstrap, [topic])
    sender = Sender(bootstrap)
    for partition, records in contents.items():
        for record in records:
            sender.send(name, record._replace(partition=partition))
    sender.flush()


def _own_configs(bootstrap: str, topic: str) -> dict[str, str]:
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    client = admin(bootstrap)
    described = asked(
        lambda: client.describe_configs([resource])[resource].result(ADMIN_TIMEOUT_S), f"the settings of topic {topic}"
    )
    own = ConfigSource.DYNAMIC_TOPIC_CONFIG.value
    return {entry.name: entry.value for entry in described.values() if entry.source == own}


def _delete(bootstrap: str, topic: str) -> None:
    client = admin(bootstrap)
    client.delete_topics([topic], operation_timeout=ADMIN_TIMEOUT_S)[topic].result(ADMIN_TIMEOUT_S)
    deadline = time.monotonic() + ADMIN_TIMEOUT_S
    while topic in present_topics(bootstrap):
        if time.monotonic() > deadline:
            raise SandboxError(f"topic {topic} was deleted but is still there after {ADMIN_TIMEOUT_S} s")
        time.sleep(0.1)
