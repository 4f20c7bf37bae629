"""The groups that a run would move: for people who ask before they trigger it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.groups.selection import unsupported_groups, which_groups
from kafka_migration.core.kafka.cluster import GroupKind, GroupListing, GroupState
from kafka_migration.core.migration.settings import CutoverSettings


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
    return tuple(_planned(each, settings) for each in _sorted(listings) if each.group in named)


def _sorted(listings: Iterable[GroupListing]) -> list[GroupListing]:
    return sorted(listings, key=lambda each: each.group)


def _planned(listing: GroupListing, settings: CutoverSettings) -> PlannedGroup:
    return PlannedGroup(
        listing.group,
        listing.state,
        listing.kind,
        listing.is_movable,
        listing.group in settings.may_be_active,
        listing.group in settings.may_rewind,
    )
