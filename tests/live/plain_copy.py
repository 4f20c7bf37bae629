"""A copy as a plain consumer finds it, compared record by record without the package: what a run must say of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from confluent_kafka.admin import AdminClient

from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.ledger.generations import ReadOffsets
from sandbox.data.reading import Placed, read_records
from sandbox.data.records import Record
from tests.unit.groups.lived_partition import is_read_by

Side = Mapping[str, str]
VERDICTS = ("PASS", "WARN", "FAIL")


class Told(NamedTuple):
    """What a run says of a topic."""

    verdict: str
    source: int
    target: int


@dataclass(frozen=True)
class Both:
    """The committed records of a partition on both sides."""

    source: Sequence[Placed]
    target: Sequence[Placed]

    @property
    def twice(self) -> int:
        """How many records the target has more."""
        return len(self.target) - len(self.source)

    def require_copied(self) -> None:
        """No record is missing on the target, none is foreign, and a reader meets all in their order."""
        source, target = records_of(self.source), records_of(self.target)
        assert not Counter(source) - Counter(target), "records are missing"
        assert set(target) <= set(source), "records are foreign"
        assert is_read_by(source, target), "records are out of order"


Seen = Mapping[TopicPartition, Both]


def records_of(placed: Sequence[Placed]) -> list[Record]:
    """Return the records without their places."""
    return [each.record for each in placed]


def read_both(source: Side, target: Side, topics: Sequence[str]) -> dict[TopicPartition, Both]:
    """Read topics on both sides; a partition that the target does not have is empty there."""
    there = AdminClient(dict(target)).list_topics(timeout=60).topics
    seen = {}
    for topic in topics:
        copied = read_records(target["bootstrap.servers"], topic) if topic in there else {}
        for partition, placed in read_records(source["bootstrap.servers"], topic).items():
            seen[TopicPartition(topic, partition)] = Both(placed, copied.get(partition, []))
    return seen


def stored_positions(target: Side, offsets_topic: str) -> Offsets:
    """Return the next source offset that MirrorMaker 2 would copy, as it has stored it; nothing before its first."""
    if offsets_topic not in AdminClient(dict(target)).list_topics(timeout=60).topics:
        return {}
    found = {}
    for placed in read_records(target["bootstrap.servers"], offsets_topic).values():
        for key, value in ((each.record.key, each.record.value) for each in placed):
            at = json.loads(key or b"")[1]
            found[TopicPartition(at["topic"], at["partition"])] = json.loads(value or b"")["offset"] + 1
    return found


def run_must_say(topic: str, read: Sequence[ReadOffsets], seen: Seen) -> Told:
    """Return what a run must say of the offsets that it has read."""
    verdicts, counts = [], Counter[str]()
    for (name, partition), both in seen.items():
        mine = [each for each in read if each.partition == partition] if name == topic else []
        source = [p.record for p in both.source if any(m.source_start <= p.offset < m.source_end for m in mine)]
        target = [p.record for p in both.target if any(m.target_start <= p.offset < m.target_end for m in mine)]
        verdicts.append(_verdict(source, target))
        counts.update(source=len(source), target=len(target))
    return Told(max(verdicts, key=VERDICTS.index), counts["source"], counts["target"])


def _verdict(source: Sequence[Record], target: Sequence[Record]) -> str:
    if list(source) == list(target):
        return "PASS"
    return "WARN" if is_read_by(source, target) and set(target) <= set(source) else "FAIL"


def whole_must_say(topic: str, seen: Seen) -> Told:
    """Return what all runs together must say."""
    mine = [both for partition, both in seen.items() if partition.topic == topic]
    source, target = sum(len(both.source) for both in mine), sum(len(both.target) for both in mine)
    return Told("WARN" if target > source else "PASS", source, target)


def best_place(both: Both, offset: int) -> int:
    """Return the highest target offset from which a reader meets all records from a source offset on, by trying all."""
    unread, target = records_of([placed for placed in both.source if placed.offset >= offset]), records_of(both.target)
    return next(n for n in range(len(target), -1, -1) if is_read_by(unread, target[n:]))
