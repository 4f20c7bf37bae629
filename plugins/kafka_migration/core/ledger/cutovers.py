"""Ledger entries of reservations, and of topics that were created, cut over and rolled back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.run.stand_still import StandStill


@dataclass(frozen=True, slots=True)
class LedgerEntry(Document):
    """What every entry but those of generations begins with: the run that wrote it, and when (ISO 8601)."""

    run: str
    at: str


@dataclass(frozen=True, slots=True)
class Reserved(LedgerEntry):
    """A reservation of the migration; `taken_over_from` is the run that did not free the previous one."""

    taken_over_from: str | None = None
    kind: Literal["reserved"] = "reserved"


@dataclass(frozen=True, slots=True)
class CreatedTopic(Document):
    """A target topic that a run created: its id, and the original values of settings frozen until the cutover.

    `is_frozen` is whether they are still frozen.
    """

    topic_id: str
    frozen_configs: Mapping[str, str | None]
    is_frozen: bool = True


@dataclass(frozen=True, slots=True)
class AnnouncedTopic(Document):
    """A target topic that a run is about to create: all its settings, and the values to restore after the cutover."""

    partitions: int
    configs: Mapping[str, str]
    frozen_configs: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class TopicsAnnounced(LedgerEntry):
    """The target topics that a run is about to create, by name."""

    topics: Mapping[str, AnnouncedTopic]
    kind: Literal["topics-announced"] = "topics-announced"


@dataclass(frozen=True, slots=True)
class TopicsCreated(LedgerEntry):
    """The target topics that a run created, by name; `left` are announced ones that others created in the meantime."""

    topics: Mapping[str, CreatedTopic]
    left: tuple[str, ...] = ()
    kind: Literal["topics-created"] = "topics-created"


@dataclass(frozen=True, slots=True)
class SettingsFrozen(LedgerEntry):
    """Created topics whose settings a run froze again."""

    topics: tuple[str, ...]
    kind: Literal["settings-frozen"] = "settings-frozen"


@dataclass(frozen=True, slots=True)
class SettingsRestored(LedgerEntry):
    """Created topics whose original settings a run restored."""

    topics: tuple[str, ...]
    kind: Literal["settings-restored"] = "settings-restored"


@dataclass(frozen=True, slots=True)
class Rehearsed(LedgerEntry):
    """A rehearsal: the first reasons against a cutover, notes that prevent none, and the seconds that each phase took.

    `migration_digest` is the SHA-256 of the migration file that was rehearsed. `stand_still` is the forecast for a
    cutover; `None`: not known.
    """

    ADDED: ClassVar[frozenset[str]] = frozenset({"stand_still"})

    migration_digest: str
    against: tuple[str, ...]
    notes: tuple[str, ...]
    seconds: Mapping[str, float]
    stand_still: StandStill | None = None
    kind: Literal["rehearsed"] = "rehearsed"


@dataclass(frozen=True, slots=True)
class Reported(LedgerEntry):
    """The end of a run that had reserved the migration: the digest of its `run.json`, which has those of its files."""

    evidence: Mapping[str, str]
    kind: Literal["reported"] = "reported"


@dataclass(frozen=True, slots=True)
class CutOver(LedgerEntry):
    """A cutover: the topics and groups that it moved to the target, and whether groups remained on the source.

    `remaining` are the topics of the migration file for later cutovers. `left` are the groups that remained on the
    source, each with the topics on which it had committed offsets. `evidence` are the digests of the documents that a
    rollback needs.
    """

    groups: tuple[str, ...]
    topics: tuple[str, ...]
    partly: bool
    remaining: tuple[str, ...] = ()
    left: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    evidence: Mapping[str, str] = field(default_factory=dict)
    kind: Literal["cut-over"] = "cut-over"


@dataclass(frozen=True, slots=True)
class RolledBack(LedgerEntry):
    """A rollback: the topics it moved back to the source, how (`restore` or `fail_back`), and what it changed.

    `groups` are those that were moved back, `left` those that were not changed. `target_only` is the maximum number of
    records per topic that remain only on the target.
    """

    mode: str
    topics: tuple[str, ...]
    groups: tuple[str, ...]
    left: tuple[str, ...]
    target_only: Mapping[str, int] = field(default_factory=dict)
    kind: Literal["rolled-back"] = "rolled-back"
