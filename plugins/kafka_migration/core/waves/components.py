"""Connected topics: what joins them, the resulting parts, and the groups without which a part would split."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

# The hint names at most this many groups together.
MAX_IGNORED = 3
# Limits the search to a few seconds; beyond it, only the groups that read the most topics are tried.
MAX_STEPS = 2_000_000

JoinKind = Literal["group", "transactional id"]


@dataclass(frozen=True, slots=True)
class Join:
    """A group that reads several topics, or a transactional id that wrote to several; the topics are sorted."""

    kind: JoinKind
    name: str
    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Split:
    """Groups without which a wave splits, the number of parts, and the number of topics of the largest part."""

    groups: tuple[str, ...]
    parts: int
    largest: int


def components(topics: Collection[str], joins: Iterable[Join]) -> list[frozenset[str]]:
    """Return the connected components of the topics, sorted: joined topics are in one part."""
    parent = {topic: topic for topic in topics}

    def root(topic: str) -> str:
        while parent[topic] != topic:
            parent[topic] = topic = parent[parent[topic]]
        return topic

    for join in joins:
        first, *others = join.topics
        for other in others:
            parent[root(other)] = root(first)
    parts: dict[str, list[str]] = {}
    for topic in sorted(topics):
        parts.setdefault(root(topic), []).append(topic)
    return [frozenset(part) for part in parts.values()]


def split_of(topics: Collection[str], joins: Sequence[Join]) -> Split | None:
    """Return the group without which the largest part is smallest; if no single group is enough, a few together."""
    ignored: list[Join] = []
    while len(ignored) < MAX_IGNORED:
        rest = [join for join in joins if join not in ignored]
        groups = sorted(
            (join for join in rest if join.kind == "group"), key=lambda join: (-len(join.topics), join.name)
        )
        if not groups:
            return None
        best = min(
            (_without(topics, rest, group) for group in _affordable(groups, rest)),
            key=lambda split: (split.largest, -split.parts, split.groups),
        )
        if best.parts > 1:
            return _needed(topics, joins, [*(join.name for join in ignored), *best.groups])
        ignored.append(groups[0])
    return None


def _affordable(groups: Sequence[Join], joins: Iterable[Join]) -> Sequence[Join]:
    steps = sum(len(join.topics) for join in joins)
    return groups[: max(1, MAX_STEPS // max(1, steps))]


def _without(topics: Collection[str], joins: Iterable[Join], group: Join) -> Split:
    parts = components(topics, (join for join in joins if join is not group))
    return Split((group.name,), len(parts), max(map(len, parts)))


def _needed(topics: Collection[str], joins: Sequence[Join], names: list[str]) -> Split:
    """Return the split without the groups that it does not need."""

    def parts_without(ignored: Collection[str]) -> list[frozenset[str]]:
        return components(topics, (join for join in joins if join.kind != "group" or join.name not in ignored))

    for name in tuple(names):
        others = [other for other in names if other != name]
        if others and len(parts_without(others)) > 1:
            names = others
    parts = parts_without(names)
    return Split(tuple(sorted(names)), len(parts), max(map(len, parts)))
