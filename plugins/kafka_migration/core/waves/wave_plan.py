"""Waves: topics that must move together, because a group reads several of them or a transaction writes several.

Topics are joined by what was observed, even if one of them is not to be moved now. `WavePlan.not_known` lists what
could not be read: because of it a wave may be too small, but never too large.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import TypeVar

from kafka_migration.core.kafka.cluster import GroupKind, why_immovable
from kafka_migration.core.kafka.reserved_topics import reserved_reason, streams_topics
from kafka_migration.core.kafka.transaction_log import COMMITTED_OFFSETS, TRANSACTION_STATE
from kafka_migration.core.migration.patterns import matches
from kafka_migration.core.migration.settings import UNMOVED_GROUP_PREFIXES
from kafka_migration.core.text.quoting import plain_name
from kafka_migration.core.text.shortened import some
from kafka_migration.core.waves.components import Join, JoinKind, Split, components, split_of

T = TypeVar("T")

# Smaller waves need no hint how to split them.
HINT_FROM_TOPICS = 10
# The limit of topics in a migration file.
MAX_TOPICS = 5000


@dataclass(frozen=True, slots=True)
class GroupReads:
    """A consumer group, and the topics on which it has commits or to which its members are assigned.

    `is_active` is `None` if unknown; `not_known` says why `topics` may be incomplete.
    """

    group: str
    kind: GroupKind = "classic"
    topics: frozenset[str] = frozenset()
    is_active: bool | None = False
    not_known: str = ""

    @property
    def is_movable(self) -> bool:
        """Whether a cutover can move it."""
        return not why_immovable(self.group, self.kind)

    @property
    def words(self) -> str:
        """The group with what makes it special, for a line of text."""
        return f"{plain_name(self.group)} ({self.kind if self.group else 'no id'})"


@dataclass(frozen=True, slots=True)
class Clusters:
    """The state of both clusters.

    :param partitions: the number of partitions of every topic of the source
    :param records: the number of offsets that the source holds of a topic, an upper bound of its records; missing if
        unknown
    :param transactions: the topics that each transactional id wrote to, as far as the log still shows
    :param transactions_not_known: why there may be more; empty if the whole log was read
    :param on_target: the same as `records`, for the source's topics that exist on the target; `None` if unknown
    """

    partitions: Mapping[str, int]
    records: Mapping[str, int]
    groups: tuple[GroupReads, ...] = ()
    transactions: Mapping[str, Collection[str]] = field(default_factory=dict)
    transactions_not_known: str = ""
    on_target: Mapping[str, int | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Wish:
    """The user's request: patterns for whole names of topics (none: all), and of groups to ignore.

    `elsewhere` are topics of other migration files, each with its file. Independent waves are merged until they have
    `min_topics`.
    """

    topics: tuple[str, ...] = ()
    ignored_groups: tuple[str, ...] = ()
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    min_topics: int = 1


@dataclass(frozen=True, slots=True)
class Wave:
    """Topics that move together.

    :param parts: the number of independent parts
    :param is_read: whether any group is known to read them; only the last wave (or waves) has topics without readers
    :param records: `None` if unknown for one of the topics
    :param groups: the groups that read any of them, except the ignored ones
    :param ignored: the ignored groups that read any of them
    :param joins: what joins them
    :param transactional_ids: all that wrote to any of them
    :param committing: those of them that also committed offsets of a group; the log does not show of which group
    :param elsewhere: topics that belong together with these and are not proposed, each with the reason
    :param streams: the topics that Kafka Streams created
    """

    topics: tuple[str, ...]
    parts: int
    is_read: bool
    partitions: int
    records: int | None
    groups: tuple[GroupReads, ...]
    ignored: tuple[str, ...]
    joins: tuple[Join, ...]
    transactional_ids: tuple[str, ...]
    committing: tuple[str, ...]
    elsewhere: Mapping[str, str]
    streams: tuple[str, ...]
    split: Split | None

    @property
    def movable(self) -> tuple[str, ...]:
        """The groups that a cutover of this wave can move."""
        return tuple(each.group for each in self.groups if each.is_movable)


@dataclass(frozen=True, slots=True)
class WavePlan:
    """All waves, the smallest first; and everything that is in no wave, with the reason."""

    waves: tuple[Wave, ...]
    left_out: Mapping[str, str]
    elsewhere: Mapping[str, str]
    ignored: tuple[GroupReads, ...]
    immovable: tuple[GroupReads, ...]
    not_known: tuple[str, ...]


def plan_waves(clusters: Clusters, wish: Wish) -> WavePlan:
    """Return the waves of all topics to be moved; each topic, group and transactional id is in exactly one wave.

    Ignored groups may be in several.
    """
    left_out = {topic: reason for topic in sorted(clusters.partitions) if (reason := reserved_reason(topic))}
    topics = [topic for topic in sorted(clusters.partitions) if topic not in left_out]
    elsewhere = {topic: reason for topic in topics if (reason := _elsewhere(topic, clusters, wish))}
    everyone = sorted(clusters.groups, key=lambda each: each.group)
    ignored = tuple(
        each
        for each in everyone
        if each.group.startswith(UNMOVED_GROUP_PREFIXES) or matches(each.group, wish.ignored_groups)
    )
    names = {each.group for each in ignored}
    groups = tuple(_with_streams(topics, [each for each in everyone if each.group not in names]))
    planner = _Planner(clusters, frozenset(topics), elsewhere, groups, ignored, wish.min_topics)
    return WavePlan(
        waves=tuple(planner.waves()),
        left_out=left_out,
        elsewhere=elsewhere,
        ignored=ignored,
        immovable=tuple(each for each in groups if not each.is_movable),
        not_known=tuple(_not_known(clusters, groups, topics)),
    )


def _elsewhere(topic: str, clusters: Clusters, wish: Wish) -> str:
    """Return why a topic is not proposed, though it joins others; empty for one that is."""
    if wish.topics and not matches(topic, wish.topics):
        return "not asked for"
    if topic in wish.elsewhere:
        return wish.elsewhere[topic]
    there = clusters.on_target.get(topic, 0)
    if there is None:
        return "already on the target; it is unknown whether it is empty"
    return f"already on the target, with records up to offset {there:,}" if there else ""


def _with_streams(topics: Iterable[str], groups: Collection[GroupReads]) -> Iterator[GroupReads]:
    """Return the groups, each with the topics that Kafka Streams created for it."""
    made = streams_topics(topics, [each.group for each in groups])
    return (replace(each, topics=each.topics | frozenset(made.get(each.group, ()))) for each in groups)


def _not_known(clusters: Clusters, groups: Iterable[GroupReads], topics: Iterable[str]) -> Iterator[str]:
    for each in groups:
        if each.not_known:
            yield f"what group {plain_name(each.group)} reads: {each.not_known}"
    if clusters.transactions_not_known:
        yield f"what transactional ids write to ({TRANSACTION_STATE}): {clusters.transactions_not_known}"
    silent = sorted(name for name, written in clusters.transactions.items() if not written)
    if silent:
        yield f"what these transactional ids write to, because the log no longer shows it: {some_plain(silent)}"
    uncounted = [topic for topic in topics if topic not in clusters.records]
    if uncounted:
        yield f"how many records these topics have: {some_plain(uncounted)}"


some_plain = partial(some, word=plain_name, longest=250)
"""Return the first names for a line of text, and how many more there are; group names may have 32,767 characters."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Topics of one wave, with the groups and transactional ids that read, write or join them."""

    topics: frozenset[str]
    groups: tuple[GroupReads, ...]
    ignored: tuple[GroupReads, ...]
    transactional_ids: tuple[str, ...]
    joins: tuple[Join, ...]


@dataclass(frozen=True, slots=True)
class _Planner:
    clusters: Clusters
    topics: frozenset[str]
    elsewhere: Mapping[str, str]
    groups: tuple[GroupReads, ...]
    ignored: tuple[GroupReads, ...]
    min_topics: int

    def waves(self) -> Iterator[Wave]:
        """Yield the waves with readers, then the waves of all topics without known readers."""
        joins = tuple(self._joins())
        read_topics = frozenset(chain.from_iterable(each.topics for each in self.groups))
        found = [part for part in components(self.topics, joins) if part - self.elsewhere.keys()]
        read = sorted((part for part in found if not part.isdisjoint(read_topics)), key=self._size)
        unread = [part for part in found if part.isdisjoint(read_topics)]
        waves_read, waves_unread = self._put_together(read), self._packed(unread)
        together = [*waves_read, *waves_unread]
        for number, part in enumerate(self._parts(together, joins)):
            yield self._wave(part, len(together[number]), is_read=number < len(waves_read))

    def _size(self, part: frozenset[str]) -> tuple[bool, int, int, tuple[str, ...]]:
        """Return the sort key of a part: records, if known, then partitions, then names."""
        topics = sorted(part - self.elsewhere.keys())
        records = [self.clusters.records.get(topic) for topic in topics]
        partitions = sum(self.clusters.partitions[topic] for topic in topics)
        return None in records, sum(filter(None, records)), partitions, tuple(topics)

    def _put_together(self, parts: Iterable[frozenset[str]]) -> list[list[frozenset[str]]]:
        """Merge parts until each result has enough topics; the remainder joins the last one."""
        together: list[list[frozenset[str]]] = []
        for part in parts:
            if together and self._proposed(together[-1]) < self.min_topics:
                together[-1].append(part)
            else:
                together.append([part])
        if len(together) > 1 and self._proposed(together[-1]) < self.min_topics:
            left_over = together.pop()
            together[-1] += left_over
        return together

    def _packed(self, parts: Iterable[frozenset[str]]) -> list[list[frozenset[str]]]:
        """Pack the parts into few waves, none with more topics than a file allows, unless it is a single part."""
        packed: list[list[frozenset[str]]] = []
        size = 0
        for part in parts:
            size += len(part)
            if not packed or size > MAX_TOPICS:
                packed.append([])
                size = len(part)
            packed[-1].append(part)
        return packed

    def _proposed(self, parts: Iterable[frozenset[str]]) -> int:
        return sum(len(part - self.elsewhere.keys()) for part in parts)

    def _joins(self) -> Iterator[Join]:
        for each in self.groups:
            yield from self._join("group", each.group, each.topics)
        for name, written in sorted(self.clusters.transactions.items()):
            yield from self._join("transactional id", name, written)

    def _join(self, kind: JoinKind, name: str, topics: Collection[str]) -> Iterator[Join]:
        joined = self.topics.intersection(topics)
        if len(joined) > 1:
            yield Join(kind, name, tuple(sorted(joined)))

    def _parts(self, together: Iterable[Sequence[frozenset[str]]], joins: Iterable[Join]) -> Iterator[_Part]:
        waves = [frozenset(chain.from_iterable(parts)) for parts in together]
        place = {topic: number for number, topics in enumerate(waves) for topic in topics}
        groups = _of_parts(place, self.groups, lambda each: each.topics)
        ignored = _of_parts(place, self.ignored, lambda each: each.topics)
        ids = _of_parts(place, sorted(self.clusters.transactions), lambda name: self.clusters.transactions[name])
        joined = _of_parts(place, joins, lambda join: join.topics)
        for number, topics in enumerate(waves):
            yield _Part(topics, groups[number], ignored[number], ids[number], joined[number])

    def _wave(self, part: _Part, parts: int, *, is_read: bool) -> Wave:
        topics = tuple(sorted(part.topics - self.elsewhere.keys()))
        counts = [self.clusters.records.get(topic) for topic in topics]
        known = [count for count in counts if count is not None]
        made = streams_topics(topics, [each.group for each in part.groups])
        written = self.clusters.transactions
        has_hint = is_read and parts == 1 and len(topics) >= HINT_FROM_TOPICS
        return Wave(
            topics=topics,
            parts=parts,
            is_read=is_read,
            partitions=sum(self.clusters.partitions[topic] for topic in topics),
            records=sum(known) if len(known) == len(counts) else None,
            groups=part.groups,
            ignored=tuple(each.group for each in part.ignored),
            joins=part.joins,
            transactional_ids=part.transactional_ids,
            committing=tuple(name for name in part.transactional_ids if COMMITTED_OFFSETS in written[name]),
            elsewhere={topic: self.elsewhere[topic] for topic in sorted(part.topics & self.elsewhere.keys())},
            streams=tuple(sorted(chain.from_iterable(made.values()))),
            split=split_of(part.topics, part.joins) if has_hint else None,
        )


def _of_parts(
    place: Mapping[str, int], items: Iterable[T], topics_of: Callable[[T], Collection[str]]
) -> defaultdict[int, tuple[T, ...]]:
    """Return the items that concern each part, by the part's number and in their order."""
    found: defaultdict[int, list[T]] = defaultdict(list)
    for item in items:
        for number in {place[topic] for topic in topics_of(item) if topic in place}:
            found[number].append(item)
    return defaultdict(tuple, {number: tuple(each) for number, each in found.items()})
