"""The groups that a run moves or would move, and the others that read its topics: no group is dropped silently."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.kafka.cluster import GroupKind, GroupListing, GroupState, why_immovable
from kafka_migration.core.migration.patterns import matches
from kafka_migration.core.migration.settings import CutoverSettings


def which_groups(
    listings: Iterable[GroupListing], patterns: Collection[str], chosen: Collection[str] = ()
) -> tuple[str, ...]:
    """Return the names of the groups that can be moved and whose whole name matches one of the regular expressions.

    Sorted. `chosen` limits them to these names; none chosen means all.
    """
    return tuple(sorted(each.group for each in listings if each.is_movable and _is_named(each.group, patterns, chosen)))


def _is_named(group: str, patterns: Iterable[str], chosen: Collection[str]) -> bool:
    return (not chosen or group in chosen) and matches(group, patterns)


@dataclass(frozen=True, slots=True)
class OtherGroups(Document):
    """Groups that a plan does not cover.

    :param not_chosen: groups that committed on the migration's topics but are not named by the migration file
        (`cutover.groups`) or not chosen for the run; with these topics
    :param unsupported: named groups that no cutover can move, and every group without an id; with the reason
    :param unreadable: groups for which it is unknown whether they read these topics; with the reason
    """

    not_chosen: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unsupported: Mapping[str, str] = field(default_factory=dict)
    unreadable: Mapping[str, str] = field(default_factory=dict)


def unsupported_groups(
    listings: Iterable[GroupListing], patterns: Collection[str], chosen: Collection[str] = ()
) -> dict[str, str]:
    """Return the named groups that cannot be moved, each with the reason; one without an id cannot be named."""
    return {
        each.group: why
        for each in sorted(listings, key=lambda each: each.group)
        if (why := why_immovable(each.group, each.kind)) and (not each.group or _is_named(each.group, patterns, chosen))
    }


@dataclass(frozen=True, slots=True)
class PlannedGroup(Document):
    """A group of the source that `cutover.groups` names.

    `is_movable` is whether its position is given by committed offsets. `may_be_active` and `may_rewind` are whether the
    file allows this of the group.
    """

    group: str
    state: GroupState
    kind: GroupKind
    is_movable: bool
    may_be_active: bool
    may_rewind: bool


def planned_groups(
    listings: Collection[GroupListing], settings: CutoverSettings, chosen: Collection[str]
) -> tuple[PlannedGroup, ...]:
    """Return the named groups of the source, sorted; `chosen` limits them, none chosen means all."""
    named = {*which_groups(listings, settings.groups, chosen), *unsupported_groups(listings, settings.groups, chosen)}
    return tuple(
        PlannedGroup(
            each.group,
            each.state,
            each.kind,
            each.is_movable,
            each.group in settings.may_be_active,
            each.group in settings.may_rewind,
        )
        for each in sorted(listings, key=lambda each: each.group)
        if each.group in named
    )
