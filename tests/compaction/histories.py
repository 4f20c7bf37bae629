"""Random histories of a copy: producers, MirrorMaker and both cleaners take turns, and damage may be done."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from zlib import crc32

from tests.compaction.cleaner import Log, Record

FOREVER = 1 << 40
DAMAGES = ("lose", "lose_tombstone", "lose_key", "alter", "extra", "duplicate", "rewind", "swap", "stale", "redate")
Range = tuple[int, int]


@dataclass(slots=True)
class Side:
    """The logs of one cluster's topic by partition, and which of their offsets the comparison is about."""

    logs: list[Log]
    windows: list[Range] = field(default_factory=list)

    @property
    def ends(self) -> list[int]:
        """Where the logs end now."""
        return [log.end for log in self.logs]


@dataclass(slots=True)
class History:
    """What was done, and what both clusters hold at its end.

    :param killed: generations that ended ungracefully; the comparison is of those up to `last`
    :param damages: what was done to the copy
    :param is_late: whether the source forgot a tombstone before it was copied
    """

    by_key: bool
    source: Side
    target: Side
    killed: set[int] = field(default_factory=set)
    last: int = 1
    damages: list[str] = field(default_factory=list)
    is_late: bool = False


class _Making:
    """A history while it is made."""

    def __init__(self, seed: int, by_key: bool, damage: str | None) -> None:
        self.rng = rng = random.Random(seed)
        self.now = 0
        partitions = rng.choice((1, 2)) if by_key else 1
        targets = rng.choice((1, 3)) if by_key else 1
        self.has_null_keys = rng.random() < 0.1
        retention = [rng.choice((0, 3, 30, FOREVER)) for _ in range(2)]
        compacts = rng.choice(((True, True), (True, True), (True, False), (False, True)))
        self.history = History(
            by_key,
            Side([Log(retention[0], compacts[0] and not self.has_null_keys) for _ in range(partitions)]),
            Side([Log(retention[1], compacts[1] and not self.has_null_keys) for _ in range(targets)]),
        )
        self.compacts_later = compacts
        self.keys = rng.randint(1, 5)
        self.values = 0
        self.transactions = rng.random() < 0.2
        self.is_exactly_once = rng.random() < 0.2
        self.cleans = rng.choice((0.0, 0.05, 0.2))
        self.damage = damage
        self.at = [0] * partitions
        self.copied: list[tuple[int, Log, Record]] = []
        self.starts = self.reached = list(self.at)
        self.deleted: list[list[tuple[int, Record]]] = [[] for _ in range(partitions)]

    def make(self) -> History:
        """Play it all."""
        rng, history = self.rng, self.history
        self.produce(rng.randint(0, 6))
        self.mirror(rng.randint(0, 12))
        self.starts = list(self.at)
        target_starts = history.target.ends
        self.produce(rng.randint(1, 14))
        damage_at = rng.random()
        self.generation(damage_at)
        if rng.random() < 0.3:
            self.kill()
            if rng.random() < 0.7:
                history.last = 2
                self.produce(rng.randint(0, 4))
                while any(at < reached for at, reached in zip(self.at, self.reached, strict=True)):
                    self.mirror(1)
                self.generation(2.0)
        self.end_windows(target_starts)
        if rng.random() < 0.5:
            self.produce(rng.randint(0, 5))
            if rng.random() < 0.5:
                self.mirror(rng.randint(1, 10))
        self.clean_up()
        return history

    # Producers and cleaners.

    def produce(self, count: int) -> None:
        """Send records, some of them in transactions."""
        while count > 0:
            size = self.rng.randint(1, 3)
            partition = self.rng.randrange(len(self.at))
            is_transaction = self.transactions and self.rng.random() < 0.5
            is_aborted = is_transaction and self.rng.random() < 0.4
            log = self.history.source.logs[partition]
            for _ in range(size):
                record = self.new_record(partition)
                offset = log.append(record, is_aborted=is_aborted)
                if record.value is None and not is_aborted:
                    self.deleted[partition].append((offset, record))
            if is_transaction:
                log.append(None)
            count -= size
            self.tick()

    def new_record(self, partition: int) -> Record:
        """Make a record of one of the partition's keys, now and then one that is identical to another."""
        key = self.rng.choice([k for k in range(8) if k % len(self.at) == partition][: self.keys])
        if self.has_null_keys and self.rng.random() < 0.3:
            return Record(None, self.new_value(), self.now)
        if self.rng.random() < 0.25:
            return Record(key, None, self.now)
        if self.rng.random() < 0.1:
            return Record(key, key, 0)
        return Record(key, self.new_value(), self.now)

    def new_value(self) -> int:
        self.values += 1
        return 100 + self.values

    def tick(self) -> None:
        """Let time pass; cleaners may run."""
        self.now += self.rng.choice((0, 1, 1, 5))
        for side in (self.history.source, self.history.target):
            for log in side.logs:
                if self.rng.random() < 0.3:
                    log.roll()
                if self.rng.random() < self.cleans:
                    log.clean(self.now, self.rng.choice((None, self.rng.randint(0, log.end))))

    # MirrorMaker.

    def generation(self, damage_at: float) -> None:
        """Copy some or all that there is; do the damage meanwhile."""
        before = len(self.copied)
        self.mirror(self.rng.choice((3, 8, 60)))
        if self.damage is not None and damage_at <= 1.0:
            self.hurt(before)
            self.mirror(self.rng.randint(0, 8))

    def mirror(self, count: int) -> None:
        """Copy so many records, in the order of each partition."""
        for _ in range(count):
            partition = self.rng.randrange(len(self.at))
            found = next(self.history.source.logs[partition].read(self.at[partition]), None)
            end = self.history.source.ends[partition] if found is None else found[0]
            self.note_lateness(partition, self.at[partition], end)
            self.at[partition] = end
            if found is None:
                continue
            offset, record = found
            self.at[partition] = offset + 1
            self.send(partition, record)
            if self.rng.random() < 0.5:
                self.tick()
            if self.rng.random() < 0.1:
                self.produce(1)

    def note_lateness(self, partition: int, start: int, end: int) -> None:
        """Notice tombstones in a hole that the source has forgotten before they were copied, with nothing newer."""
        log = self.history.source.logs[partition]
        for offset, record in self.deleted[partition]:
            newer = any(r.key == record.key for _, r in log.read(offset + 1))
            self.history.is_late |= start <= offset < end and not newer

    def send(self, partition: int, record: Record) -> None:
        log = self.log_of(record)
        log.append(record)
        if self.is_exactly_once and self.rng.random() < 0.4:
            log.append(None)
        self.copied.append((partition, log, record))

    def log_of(self, record: Record) -> Log:
        logs = self.history.target.logs
        if record.key is None:
            return self.rng.choice(logs)
        return logs[crc32(b"%d" % record.key) % len(logs)]

    def kill(self) -> None:
        """End ungracefully: MirrorMaker goes on from a position that it stored earlier."""
        self.history.killed.add(1)
        self.reached = self.at
        self.at = [self.rng.randint(start, at) for start, at in zip(self.starts, self.at, strict=True)]

    def end_windows(self, target_starts: list[int]) -> None:
        """What was copied so far is compared."""
        history = self.history
        history.source.windows = list(zip(self.starts, self.at, strict=True))
        history.target.windows = list(zip(target_starts, history.target.ends, strict=True))

    # Damage.

    def hurt(self, before: int) -> None:
        """Do the damage to what this generation has copied; a cleaner may have taken its object."""
        act: Callable[[int], bool] = getattr(self, f"_{self.damage}")
        if act(before):
            assert self.damage is not None
            self.history.damages.append(self.damage)

    def _entries(self, before: int) -> list[tuple[Log, int]]:
        """Return the logs and places of records that this generation left on the target, as far as they are there."""
        sent = self.copied[before:]
        found = []
        for log in {id(log): log for _, log, _ in sent}.values():
            count = sum(one is log for _, one, _ in sent)
            found += [(log, n) for n, e in enumerate(log.entries) if e.offset >= log.end - count and e.record]
        return found

    def _cut(self, log: Log, places: list[int]) -> bool:
        """Take records out as if they had never been sent: what follows moves up, which needs a log without holes."""
        first = min(places)
        gone = {log.entries[n].offset for n in places}
        if log.clean_to > log.entries[first].offset:
            return False
        log.entries = [entry for entry in log.entries if entry.offset not in gone]
        for entry in log.entries:
            entry.offset -= sum(offset < entry.offset for offset in gone)
        log.end -= len(gone)
        log.active_from = min(log.active_from, log.end)
        return True

    def _lose(self, before: int, wanted: Callable[[Record], bool] = lambda record: True) -> bool:
        there = [(log, n) for log, n in self._entries(before) if wanted(log.entries[n].record)]  # type: ignore[arg-type]
        if not there:
            return False
        log, place = self.rng.choice(there)
        return self._cut(log, [place])

    def _lose_tombstone(self, before: int) -> bool:
        return self._lose(before, lambda record: record.value is None)

    def _lose_key(self, before: int) -> bool:
        there = self._entries(before)
        if not there:
            return False
        log, place = self.rng.choice(there)
        key = log.entries[place].record.key  # type: ignore[union-attr]
        return self._cut(log, [n for one, n in there if one is log and log.entries[n].record.key == key])  # type: ignore[union-attr]

    def _change(self, before: int, change: Callable[[Record], Record]) -> bool:
        there = self._entries(before)
        if not there:
            return False
        log, place = self.rng.choice(there)
        entry = log.entries[place]
        assert entry.record is not None
        entry.record = change(entry.record)
        return True

    def _alter(self, before: int) -> bool:
        return self._change(before, lambda record: record._replace(value=self.new_value()))

    def _redate(self, before: int) -> bool:
        return self._change(before, lambda record: record._replace(timestamp=record.timestamp + 1_000))

    def _extra(self, before: int) -> bool:
        record = Record(self.rng.randrange(8), self.new_value(), self.now)
        self.log_of(record).append(record)
        return True

    def _stale(self, before: int) -> bool:
        if len(self.copied) < 2:
            return False
        _, log, record = self.rng.choice(self.copied)
        log.append(record)
        return True

    def _duplicate(self, before: int) -> bool:
        if not self.copied:
            return False
        _, log, record = self.copied[-1]
        log.append(record)
        return True

    def _rewind(self, before: int) -> bool:
        """Send everything once more, though nothing was killed."""
        again = self.copied[before:]
        for partition, _, record in again:
            self.send(partition, record)
        return bool(again)

    def _swap(self, before: int) -> bool:
        there = self._entries(before)
        pairs = [(log, n) for log, n in there if n + 1 < len(log.entries) and log.entries[n + 1].record]
        if not pairs:
            return False
        log, n = self.rng.choice(pairs)
        one, two = log.entries[n], log.entries[n + 1]
        one.record, two.record = two.record, one.record
        return True

    def clean_up(self) -> None:
        """Let both cleaners run until the logs are compared."""
        history = self.history
        for side, compacts in zip((history.source, history.target), self.compacts_later, strict=True):
            for log in side.logs:
                log.compacts = compacts
        for _ in range(self.rng.randint(0, 4)):
            self.now += self.rng.choice((0, 1, 10, 40))
            for side in (history.source, history.target):
                for log in side.logs:
                    if self.rng.random() < 0.6:
                        log.roll()
                    if self.rng.random() < 0.7:
                        log.clean(self.now)


def history(seed: int, *, by_key: bool, damage: str | None = None) -> History:
    """Make the history of a seed: of a good copy, or of one with a damage (if its object is still there)."""
    return _Making(seed, by_key, damage).make()
