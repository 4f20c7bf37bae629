"""Ledger entries for topics that were created, cut over and rolled back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class CreatedTopic:
    """A target topic that a run created: its id, and the original values of settings frozen until the cutover.

    `is_frozen` is whether they are still frozen.
    """

    topic: str
    topic_id: str
    frozen_configs: Mapping[str, str | None]
    is_frozen: bool = True


@dataclass(frozen=True, slots=True)
class CutOver:
    """A cutover: the topics and groups that it moved to the target, and whether groups remained on the source.

    `remaining` are the topics of the migration file for later cutovers. `left` are the groups that remained on the
    source, each with the topics on which it had committed offsets. `evidence` are the digests of the documents that a
    rollback needs.
    """

    run: str
    at: str
    groups: tuple[str, ...]
    topics: tuple[str, ...]
    partly: bool
    remaining: tuple[str, ...] = ()
    left: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    evidence: Mapping[str, str] = field(default_factory=dict)

    def to_document(self) -> dict[str, Any]:
        """Return the ledger entry."""
        return {
            "kind": "cut-over",
            "run": self.run,
            "at": self.at,
            "groups": list(self.groups),
            "topics": list(self.topics),
            "partly": self.partly,
            "remaining": list(self.remaining),
            "left": {group: list(topics) for group, topics in self.left.items()},
            "evidence": dict(self.evidence),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> CutOver:
        """Read the ledger entry back."""
        return cls(
            document["run"],
            document["at"],
            tuple(document["groups"]),
            tuple(document["topics"]),
            document["partly"],
            tuple(document.get("remaining", ())),
            {group: tuple(topics) for group, topics in document.get("left", {}).items()},
            dict(document.get("evidence", {})),
        )


@dataclass(frozen=True, slots=True)
class RolledBack:
    """A rollback: the topics it moved back to the source, how (`restore` or `fail_back`), and what it changed.

    `groups` are those that were moved back, `left` those that were not changed. `target_only` is the maximum number of
    records per topic that remain only on the target.
    """

    run: str
    at: str
    mode: str
    topics: tuple[str, ...]
    groups: tuple[str, ...]
    left: tuple[str, ...]
    target_only: Mapping[str, int] = field(default_factory=dict)

    def to_document(self) -> dict[str, Any]:
        """Return the ledger entry."""
        return {
            "kind": "rolled-back",
            "run": self.run,
            "at": self.at,
            "mode": self.mode,
            "topics": list(self.topics),
            "groups": list(self.groups),
            "left": list(self.left),
            "target_only": dict(self.target_only),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> RolledBack:
        """Read the ledger entry back."""
        return cls(
            document["run"],
            document["at"],
            document["mode"],
            tuple(document["topics"]),
            tuple(document["groups"]),
            tuple(document["left"]),
            document["target_only"],
        )
