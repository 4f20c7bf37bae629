"""The groups that a run moves, and the others that read its topics, so that no group is dropped silently."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.kafka.cluster import GroupListing, why_immovable
from kafka_migration.core.migration.patterns import matches


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
