"""Documents about the consumer groups: the plans, the saved offsets, the cutover and the rollback."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TypeVar

from kafka_migration.core.cutover.not_moved import NotMoved
from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.offsets_plan import OffsetsPlan
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.kafka.commits import GroupsCommits
from kafka_migration.core.ledger.cutovers import CutOver, RolledBack


@dataclass(frozen=True, slots=True)
class RollbackPlanDocument(Document):
    """A plan of group offsets, its digest, and its page as Markdown."""

    digest: str
    plan: OffsetsPlan
    markdown: str


PlanOfGroups = TypeVar("PlanOfGroups", bound=RollbackPlanDocument)
"""The document of a plan of either direction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetsPlanDocument(RollbackPlanDocument):
    """The plan of a cutover or a rehearsal; `not_moved` are the rows that it does not move."""

    not_moved: tuple[NotMoved, ...]
    final: bool


@dataclass(frozen=True, slots=True)
class OffsetsBeforeDocument(Document):
    """The committed offsets on both sides before a run wrote any; `digest` is that of the plan."""

    at: str
    digest: str
    source: GroupsCommits
    target: GroupsCommits

    def of_side(self, side: Side) -> GroupsCommits:
        """Return the saved offsets of one side."""
        return self.source if side == "source" else self.target


@dataclass(frozen=True, slots=True, kw_only=True)
class CutoverDocument(CutOver):
    """A cutover as the ledger has it, and what is left to do for a person."""

    next_steps: tuple[str, ...]

    @classmethod
    def of(cls, cut_over: CutOver, next_steps: tuple[str, ...]) -> CutoverDocument:
        """Return the document of a ledger entry."""
        return cls(**{each.name: getattr(cut_over, each.name) for each in fields(cut_over)}, next_steps=next_steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class RolledBackDocument(RolledBack):
    """A rollback as the ledger has it, and what is left to do for a person."""

    next_steps: tuple[str, ...]

    @classmethod
    def of(cls, rolled_back: RolledBack, next_steps: tuple[str, ...]) -> RolledBackDocument:
        """Return the document of a ledger entry."""
        return cls(
            **{each.name: getattr(rolled_back, each.name) for each in fields(rolled_back)}, next_steps=next_steps
        )


@dataclass(frozen=True, slots=True)
class SettingsDocument(Document):
    """The restored settings by topic; `warnings` say which ones the cluster denied."""

    at: str
    restored: Mapping[str, Mapping[str, str | None]]
    warnings: tuple[Finding, ...]
