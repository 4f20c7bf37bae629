"""Copies as engines leave them, groups anywhere in them, and by trying all where each group must go on."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# A record: its key (none: no order) and what it holds. Few values, so that many records are identical.
Record = tuple[int | None, int]
Partitions = dict[int, list[Record]]


@dataclass(frozen=True)
class Scenario:
    """Both logs, and where a group stands on the source.

    :param by_key: whether the engine chose partitions by key; else it kept them
    """

    source: Partitions
    target: Partitions
    committed: dict[int, int]
    by_key: bool = True

    @property
    def unread(self) -> Partitions:
        """What the group has not read."""
        return {number: log[self.committed[number] :] for number, log in self.source.items()}

    @property
    def best(self) -> dict[int, int]:
        """The last place in each target partition from which everything unread follows in order."""
        return {
            number: max(place for place in range(len(log) + 1) if self._loses_nothing(number, log[place:]))
            for number, log in self.target.items()
        }

    def _loses_nothing(self, number: int, rest: Sequence[Record]) -> bool:
        if not self.by_key:
            return _is_read_by(self.unread[number], rest)
        unread = [record for log in self.unread.values() for record in log]
        keys = {key for key, _ in unread if key is not None and key % len(self.target) == number}
        return all(_is_read_by([r for r in unread if r[0] == key], rest) for key in keys)

    def best_back(self, committed: dict[int, int]) -> dict[int, int]:
        """The last place in each source partition before which a reader of the target has read everything.

        It has read a record if the source's records of its key, up to there, are in order among what it has read.
        """
        read = [record for number, log in self.target.items() for record in log[: committed[number]]]
        return {number: self._first_unread(number, read, committed) for number in self.source}

    def _first_unread(self, number: int, read: Sequence[Record], committed: dict[int, int]) -> int:
        log = self.source[number]
        if not self.by_key:
            return _length_read(log, self.target[number][: committed[number]])
        keys = {key for key, _ in log}
        places = {key: [place for place, record in enumerate(log) if record[0] == key] for key in keys}
        read_of = {key: _length_read([log[place] for place in places[key]], read) for key in keys}
        return min((places[key][read_of[key]] for key in keys if read_of[key] < len(places[key])), default=len(log))


def _length_read(records: Sequence[Record], log: Sequence[Record]) -> int:
    """Return how many of the records, from the first on, a reader of this log has met in their order."""
    return max(length for length in range(len(records) + 1) if _is_read_by(records[:length], log))


def _is_read_by(unread: Sequence[Record], log: Iterable[Record]) -> bool:
    """Whether a reader of this log meets the records in their order."""
    left = iter(log)
    return all(record in left for record in unread)


def copied(source: Partitions, rng: random.Random, targets: int, restarts: int, *, by_key: bool = True) -> Partitions:
    """Copy as MirrorMaker does: partitions interleaved, each in order; a restart goes some records back."""
    target: Partitions = {number: [] for number in range(targets)}
    position = dict.fromkeys(source, 0)
    while unfinished := [n for n in source if position[n] < len(source[n])]:
        number = rng.choice(unfinished)
        key, value = source[number][position[number]]
        place = rng.randrange(targets) if key is None else key % targets
        target[place if by_key else number].append((key, value))
        position[number] += 1
        if restarts and rng.random() < 0.1:
            restarts -= 1
            position = {n: max(0, at - rng.randrange(4)) for n, at in position.items()}
    return target


def random_scenario(rng: random.Random, sources: int = 2, targets: int = 3, *, by_key: bool = True) -> Scenario:
    """Return a copy of keys that live in one partition each, and a group anywhere in it."""
    values = rng.randint(1, 4)
    source: Partitions = {
        number: [(rng.randrange(3) * sources + number, rng.randrange(values)) for _ in range(rng.randrange(15))]
        for number in range(sources)
    }
    target = copied(source, rng, targets if by_key else sources, rng.randrange(4), by_key=by_key)
    return Scenario(source, target, {number: rng.randrange(len(log) + 1) for number, log in source.items()}, by_key)
