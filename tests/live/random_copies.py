"""Records and faithful copies of them by a seed, for tests that damage them or do not."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from zlib import crc32

from tests.live.comparison import Spot
from tests.live.validation_scene import START_MS, Sent

HOT_KEYS = (b"", *(b"hot-%d" % n for n in range(5)))
# Timestamps are so far apart that a changed one is never another record's.
STEP_MS = 1_000
Header = tuple[str, bytes | None]


@dataclass(eq=False, slots=True)
class Placed:
    """A record as it lies on the target; `origin` is where the source has it, `None` if it does not."""

    record: Sent
    origin: Spot | None = None


Log = list[Placed]
Wanted = Callable[[Sent], object]


def random_records(rng: random.Random, count: int) -> list[Sent]:
    """Return distinct records: of keys with many records, of keys with one, and without a key.

    Null and empty values and headers of every shape are always among them.
    """
    return [
        Sent(_key(rng, n), _value(rng, n), _headers(rng, n), START_MS + n * STEP_MS + rng.randrange(STEP_MS // 2))
        for n in range(count)
    ]


def _key(rng: random.Random, number: int) -> bytes | None:
    if number % 6 == 5:
        return None
    return b"once-%d" % number if number % 6 == 4 else rng.choice(HOT_KEYS)


def _value(rng: random.Random, number: int) -> bytes | None:
    shapes = {3: None, 7: b""}
    return shapes.get(number % 10, b"%d-" % number + rng.randbytes(rng.randrange(60)))


def _headers(rng: random.Random, number: int) -> list[Header]:
    shapes: Sequence[list[Header]] = (
        [],
        [("trace", rng.randbytes(8))],
        [("twice", b"1"), ("twice", rng.randbytes(4)), ("empty", b"")],
        [("null", None), ("größe", rng.randbytes(2)), ("", b"no name")],
    )
    return shapes[number % len(shapes)]


def home(key: bytes | None, partitions: int) -> int:
    """Return the partition of a key."""
    return crc32(key or b"") % partitions


def placed_by_key(rng: random.Random, records: Iterable[Sent], partitions: int) -> list[list[Sent]]:
    """Return records by partition, those without a key in any."""
    logs: list[list[Sent]] = [[] for _ in range(partitions)]
    for record in records:
        logs[rng.randrange(partitions) if record.key is None else home(record.key, partitions)].append(record)
    return logs


class Copy:
    """A topic's partitions on both sides, the target's at first as a faithful copier leaves them.

    :param target: how many partitions the target has; keys are put anew where this is not the source's number
    """

    def __init__(self, rng: random.Random, source: Sequence[Sequence[Sent]], target: int) -> None:
        self.rng, self.source = rng, source
        self.by_key = len(source) != target
        self.target: list[Log] = [[] for _ in range(target)]
        for placed in self._read():
            self._log_of(placed).append(placed)

    def _read(self) -> list[Placed]:
        """Return the source's records as a copier gets them: partitions interleave, each keeps its order."""
        rest = [[Placed(r, (p, n)) for n, r in enumerate(log)][::-1] for p, log in enumerate(self.source)]
        order = [p for p, log in enumerate(rest) for _ in log]
        self.rng.shuffle(order)
        return [rest[p].pop() for p in order]

    def _log_of(self, placed: Placed) -> Log:
        assert placed.origin is not None
        if not self.by_key:
            return self.target[placed.origin[0]]
        key = placed.record.key
        return self.target[self.rng.randrange(len(self.target)) if key is None else home(key, len(self.target))]

    @property
    def sent(self) -> list[list[Sent]]:
        """The records of the target's partitions."""
        return [[placed.record for placed in log] for log in self.target]

    def some(self, wanted: Wanted = bool) -> tuple[Log, int]:
        """Return the log and place of a random record that is wanted. Raises `IndexError` if there is none."""
        return self.rng.choice([(log, at) for log in self.target for at, one in enumerate(log) if wanted(one.record)])

    def of_one_key(self, least: int) -> tuple[Log, list[int]]:
        """Return a log and the places in it of a random key that has so many records there."""
        log, at = self.some(lambda r: r.key is not None and self._count(r.key) >= least)
        return log, [n for n, one in enumerate(log) if one.record.key == log[at].record.key]

    def _count(self, key: bytes) -> int:
        return max(sum(one.record.key == key for one in log) for log in self.target)

    def place_of(self, placed: Placed) -> Spot:
        """Return where the target has a record."""
        ((partition, offset),) = [(p, n) for p, log in enumerate(self.target) for n, x in enumerate(log) if x is placed]
        return partition, offset
