"""Random histories of a copy: generations of MirrorMaker, some of them killed, aborted records, cleaners, groups.

Where MirrorMaker has several tasks, one of them may be started again before its generation ends.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kafka_migration.core.kafka.records import NO_TIMESTAMP
from kafka_migration.core.translation.by_topic import Began, HowCopied, RepartitionedTopic
from kafka_migration.core.translation.translation_contract import Vector
from tests.compaction.cleaner import Entry, Log, Record

Logs = dict[int, Log]
Place = tuple[int, int]
"""A partition and an offset."""


@dataclass
class History:
    """Both logs, what the ledger says of the copy, and the committed offsets of groups.

    :param copies: the target partitions and offsets of the copies of each source partition and offset
    """

    how: HowCopied
    source: Logs
    target: Logs
    topic: RepartitionedTopic
    vectors: list[Vector]
    copies: Mapping[Place, Sequence[Place]]


class _Making:
    """A history while it is made. Few keys, values and timestamps, so that many records are equal."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        keeps_partitions = rng.random() < 0.3
        self.is_compacted = rng.random() < 0.2
        self.how = HowCopied("new", keeps_partitions, self.is_compacted, has_timestamps=rng.random() < 0.8)
        sources = rng.choice((1, 2, 2, 3))
        targets = sources if keeps_partitions else rng.choice((1, 2, 3))
        compacts_source = self.is_compacted and rng.random() < 0.5
        self.source = {n: Log(rng.choice((0, 1000)), compacts=compacts_source) for n in range(sources)}
        self.target = {n: Log(rng.choice((0, 1000)), compacts=self.is_compacted) for n in range(targets)}
        self.keys = rng.randint(1, 4)
        self.values = rng.randint(1, 3)
        self.times = rng.choice((1, 1, 3))
        self.untimed = rng.choice((0.0, 0.0, 0.3, 1.0))
        self.null_keys = 0.0 if self.is_compacted else rng.choice((0.0, 0.0, 0.3, 1.0))
        self.scatters_source = rng.random() < 0.25
        self.scatters_target = rng.random() < 0.25
        self.aborts = rng.choice((0.0, 0.3))
        self.is_exactly_once = rng.random() < 0.2
        self.stored = dict.fromkeys(self.source, 0)
        self.began: list[Began] = []
        self.copies: defaultdict[Place, list[Place]] = defaultdict(list)

    def make(self) -> History:
        rng = self.rng
        self.produce(rng.randrange(8))
        if rng.random() < 0.3:
            self.append_to_target(rng.randrange(4))
        for _ in range(rng.randint(1, 4)):
            self.produce(rng.randrange(9))
            self.generation(is_killed=rng.random() < 0.4)
            self.clean()
        ends = {n: log.end for n, log in self.target.items()}
        positions = dict(self.stored)
        if rng.random() < 0.3:
            self.produce(rng.randrange(4))
        self.clean()
        starts = {n: rng.randint(0, at) if rng.random() < 0.05 else 0 for n, at in positions.items()}
        topic = RepartitionedTopic("old", self.how, starts, positions, ends, tuple(self.began))
        return History(self.how, self.source, self.target, topic, self.groups(positions), self.copies)

    def groups(self, positions: Mapping[int, int]) -> list[Vector]:
        commits = [{n: self.rng.randint(0, end) for n, end in positions.items()} for _ in range(self.rng.randint(1, 4))]
        return sorted({tuple(sorted(vector.items())) for vector in commits})

    def produce(self, count: int) -> None:
        """Write records, some of them in transactions that end with a marker or are aborted."""
        for _ in range(count):
            key = None if self.rng.random() < self.null_keys else self.rng.randrange(self.keys)
            home = self.rng.randrange(len(self.source)) if self.scatters_source or key is None else key
            log = self.source[home % len(self.source)]
            is_aborted = self.rng.random() < self.aborts
            log.append(self.record(key), is_aborted=is_aborted)
            if is_aborted or self.rng.random() < self.aborts:
                log.append(None)

    def record(self, key: int | None) -> Record:
        is_tombstone = self.is_compacted and self.rng.random() < 0.15
        value = None if is_tombstone else self.rng.randrange(self.values)
        return Record(key, value, NO_TIMESTAMP if self.rng.random() < self.untimed else self.rng.randrange(self.times))

    def append_to_target(self, count: int) -> None:
        """Write records of others to the target before the copy begins."""
        for _ in range(count):
            self.target[self.rng.randrange(len(self.target))].append(self.record(self.rng.randrange(self.keys)))

    def generation(self, *, is_killed: bool) -> None:
        """Copy from the stored positions on; a killed generation has stored less than it sent."""
        self.began.append(Began(dict(self.stored), {n: log.end for n, log in self.target.items()}))
        for _ in range(self.rng.choice((0, 0, 0, 1, 2))):
            task = {n for n in self.source if self.rng.random() < 0.5}
            self.lives(task, is_killed=True, most=self.rng.randrange(12))
        most = 1000 if not is_killed and self.rng.random() < 0.7 else self.rng.randrange(12)
        self.lives(set(self.source), is_killed=is_killed, most=most)

    def lives(self, task: set[int], *, is_killed: bool, most: int) -> None:
        """Let what copies these source partitions send so many records; then it is stopped, or killed."""
        rng, sent, copies = self.rng, dict(self.stored), []
        while most and (unfinished := [n for n in sorted(task) if sent[n] < self.source[n].end]):
            number = rng.choice(unfinished)
            offset, record = next(self.source[number].read(sent[number]), (None, None))
            if offset is not None and record is not None:
                copies.append((number, offset, self.send(number, offset, record)))
            sent[number] = self.source[number].end if offset is None else offset + 1
            most -= 1
        self.stored = {n: rng.randint(self.stored[n], at) for n, at in sent.items()} if is_killed else sent
        if self.is_exactly_once:
            for number, offset, copy in copies:
                copy.is_aborted = offset >= self.stored[number]
            for log in self.target.values():
                log.append(None)

    def send(self, number: int, offset: int, record: Record) -> Entry:
        """Write the copy of a record."""
        place = number if self.how.keeps_partitions else self.partition_of(record.key)
        log = self.target[place]
        if record.timestamp == NO_TIMESTAMP or not self.how.has_timestamps:
            record = record._replace(timestamp=self.rng.randrange(100))
        self.copies[number, offset].append((place, log.append(record)))
        return log.entries[-1]

    def partition_of(self, key: int | None) -> int:
        if key is None or self.scatters_target:
            return self.rng.randrange(len(self.target))
        return key % len(self.target)

    def clean(self) -> None:
        """Let both cleaners run now and then, each up to anywhere."""
        for log in (*self.source.values(), *self.target.values()):
            if log.compacts and self.rng.random() < 0.5:
                log.roll()
                log.clean(0, self.rng.randint(0, log.end))


def history(seed: int) -> History:
    """Return the history of a seed."""
    return _Making(random.Random(seed)).make()
