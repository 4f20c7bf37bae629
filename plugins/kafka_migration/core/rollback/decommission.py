"""May the old cluster be switched off? The conditions on both clusters and on the ledger, one by one.

A condition is met, not met, or unknown. The old cluster may go only if all conditions are met.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.kafka.offsets import GroupsCommits, Offsets
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.text.quoting import group_subject
from kafka_migration.core.text.shortened import first, some
from kafka_migration.core.text.terminal_text import duration
from kafka_migration.core.validation.coverage_rules import coverage_of

NOT_KNOWN = timedelta.max


class State(StrEnum):
    """Whether a condition is met."""

    MET = "met"
    NOT_MET = "not met"
    UNKNOWN = "unknown"


class NotKnown(str):
    """A reason that is a value which cannot be read."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class SourceGroup:
    """A group with commits on the migration's topics on the source; `commits` is `None` if they cannot be read."""

    group: str
    is_active: bool
    commits: Offsets | None


@dataclass(frozen=True, slots=True)
class OldCluster:
    """The state of both clusters, for all topics that were ever copied.

    :param topics: those of the migration file, and all others that were copied
    :param source_ends: the end offsets on the source; unreadable partitions are missing
    :param source_partitions: the number of partitions of each topic on the source
    :param source_groups: all groups with commits on these topics on the source
    :param commits_at_cutover: the saved source commits of the moved groups at their cutover
    :param target_commits: their current commits on the target
    :param written: the offsets that the cutovers wrote for them
    :param active_on_target: the groups with members on the target
    :param unreadable: the moved groups that cannot be read on the target, each with the reason
    :param retention: how long the source keeps records; `None` is without a limit
    """

    now: datetime
    ledger: Ledger
    topics: tuple[str, ...]
    source_ends: Offsets
    source_partitions: Mapping[str, int]
    source_groups: tuple[SourceGroup, ...]
    commits_at_cutover: GroupsCommits
    target_commits: GroupsCommits
    written: Mapping[str, Offsets]
    active_on_target: Collection[str]
    retention: Mapping[str, timedelta | None]
    unreadable: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WaitingTimes:
    """How long the source must have received no records, and how long a rollback must remain possible.

    An `overlap` of `None` means each topic's own retention on the source.
    """

    quiet: timedelta = timedelta(hours=24)
    overlap: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Condition(Document):
    """One condition with its state, and the reasons why it is not met or unknown."""

    condition: str
    state: State
    reasons: tuple[str, ...] = ()


def decommission_conditions(old: OldCluster, patience: WaitingTimes) -> tuple[Condition, ...]:
    """Return every condition with its state."""
    return tuple(condition(text, look(old, patience)) for text, look in _CONDITIONS)


def may_go(conditions: Iterable[Condition]) -> bool:
    """Whether the old cluster may be switched off: unknown is not met."""
    return all(each.state is State.MET for each in conditions)


def condition(text: str, found: Iterable[str]) -> Condition:
    """Return a condition with what was found against it, each a `NotKnown` if it is only not known."""
    reasons = tuple(found)
    is_known = any(not isinstance(reason, NotKnown) for reason in reasons)
    state = State.NOT_MET if is_known else State.UNKNOWN if reasons else State.MET
    return Condition(text, state, tuple(map(str, first(reasons))))


EVERY_TOPIC_CUT_OVER = "Every topic is cut over"


def _cut_over(old: OldCluster, _: WaitingTimes) -> Iterator[str]:
    moved = old.ledger.moved_topics()
    if left := [topic for topic in old.topics if topic not in moved]:
        yield f"not cut over: {some(left)}"


def _stopped(old: OldCluster, _: WaitingTimes) -> Iterator[str]:
    open_generation = old.ledger.open_generation
    if open_generation is not None:
        number = open_generation.number
        yield NotKnown(f"generation {number} has no stop certificate: its MirrorMaker process may still run")


def _proved(old: OldCluster, _: WaitingTimes) -> Iterator[str]:
    covered = coverage_of(old.ledger)
    for topic in old.topics:
        found = covered.get(topic)
        if found is None or not found.is_proved:
            reason = next(found.reasons(), "nothing was validated") if found else "nothing was copied"
            yield f"{topic}: verdict {found.standing if found else 'none'} ({reason})"


def _quiet(old: OldCluster, patience: WaitingTimes) -> Iterator[str]:
    stop = old.ledger.last_stop
    copied = stop.mirror_positions if stop else {}
    for topic in old.topics:
        partitions = [p for p in copied if p.topic == topic]
        if len(partitions) != old.source_partitions.get(topic):
            yield f"{topic}: {old.source_partitions.get(topic, 0)} partitions, but {len(partitions)} when it was copied"
        for partition in sorted(partitions):
            end = old.source_ends.get(partition)
            if end is None:
                yield NotKnown(f"{partition}: its end cannot be read, but was {copied[partition]:,} when it was copied")
            elif end != copied[partition]:
                yield f"{partition}: its end is {end:,}, but was {copied[partition]:,} when it was copied"
    yield from _too_young(old, patience.quiet, "the source must receive no records for")


def _too_young(old: OldCluster, least: timedelta, what: str) -> Iterator[str]:
    for cutover in old.ledger.cutovers:
        age = old.now - datetime.fromisoformat(cutover.at)
        if age < least:
            yield f"{some(cutover.topics)}: cut over {_words(age)} ago; {what} {_words(least)}"


def _no_readers(old: OldCluster, _: WaitingTimes) -> Iterator[str]:
    for group in old.source_groups:
        saved = old.commits_at_cutover.get(group.group)
        if group.is_active:
            yield f"{group_subject(group.group)} has members on the source"
        elif group.commits is None:
            yield NotKnown(f"{group_subject(group.group)}: its commits on the source cannot be read")
        elif saved is None:
            yield f"{group_subject(group.group)} has commits on the source, and no cutover has moved it"
        elif any(p not in saved or saved[p].offset != at for p, at in group.commits.items()):
            yield f"{group_subject(group.group)} has committed on the source since it was moved"


def _groups_moved(old: OldCluster, _: WaitingTimes) -> Iterator[str]:
    moved = {group for cutover in old.ledger.cutovers for group in cutover.groups}
    for cutover in old.ledger.cutovers:
        for group in sorted(cutover.left.keys() - moved):
            yield f"{group_subject(group)} was not moved by {cutover.run}"


def _read_on_target(old: OldCluster, _: WaitingTimes) -> Iterator[str]:
    for group, written in sorted(old.written.items()):
        commits = old.target_commits.get(group, {})
        has_read = any(p in commits and commits[p].offset > at for p, at in written.items())
        if group in old.unreadable:
            yield NotKnown(f"{group_subject(group)} cannot be read on the target: {old.unreadable[group]}")
        elif not has_read and group not in old.active_on_target:
            yield f"{group_subject(group)} has no member on the target and has committed nothing since it was moved"


def _overlap(old: OldCluster, patience: WaitingTimes) -> Iterator[str]:
    if patience.overlap is not None:
        yield from _too_young(old, patience.overlap, "a rollback must remain possible for")
        return
    for cutover in old.ledger.cutovers:
        age = old.now - datetime.fromisoformat(cutover.at)
        for topic in cutover.topics:
            keeps = old.retention.get(topic, NOT_KNOWN)
            if keeps is NOT_KNOWN:
                yield NotKnown(f"{topic}: its retention on the source cannot be read")
            elif keeps is not None and age < keeps:
                yield f"{topic}: cut over {_words(age)} ago, but the source keeps records for {_words(keeps)}"


def _settings(old: OldCluster, _: WaitingTimes) -> Iterator[str]:
    for topic, created in sorted(old.ledger.topics.items()):
        if created.is_frozen and created.frozen_configs and topic in old.topics:
            yield f"{topic}: its retention on the target is still turned off"


def _words(span: timedelta) -> str:
    return duration(max(0.0, span.total_seconds()))


_Look = Callable[[OldCluster, WaitingTimes], Iterable[str]]
_CONDITIONS: tuple[tuple[str, _Look], ...] = (
    (EVERY_TOPIC_CUT_OVER, _cut_over),
    ("MirrorMaker has stopped", _stopped),
    ("Every copy is proved", _proved),
    ("The source has received no records since it was copied", _quiet),
    ("No consumer group reads on the source", _no_readers),
    ("All consumer groups were moved", _groups_moved),
    ("The moved groups read on the target", _read_on_target),
    ("The time for a rollback is over", _overlap),
    ("The topics on the target have their own retention", _settings),
)
