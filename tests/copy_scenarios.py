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

    def best_back(self, stand: dict[int, int]) -> dict[int, int]:
        """The last place in each source partition before which a group that reads the target has read everything.

        Of what it had not read on the source it is still to read whatever follows, in order, from where it stands.
        """
        rest = {number: log[stand[number] :] for number, log in self.target.items()}
        return {number: self._first_ahead(number, rest) for number in self.source}

    def _first_ahead(self, number: int, rest: Partitions) -> int:
        log, start = self.source[number], self.committed[number]
        lines = [list(range(start, len(log)))]
        if self.by_key:
            lines = [[place for place in lines[0] if log[place][0] == key] for key in {key for key, _ in log}]
            ahead = [record for each in rest.values() for record in each]
        else:
            ahead = rest[number]
        tails = [
            [line[n:] for n in range(len(line) + 1) if _is_read_by([log[p] for p in line[n:]], ahead)] for line in lines
        ]
        return min((max(found, key=len)[0] for found in tails if max(found, key=len)), default=len(log))


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
