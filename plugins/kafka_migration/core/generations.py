"""Generations: one start of MirrorMaker's JVM each, bounded by what was true before and after it.

Before each start, with the old process dead, the ledger takes per partition P = the next source offset to
copy and E = the target end; after the stop likewise. The window of a generation is then, for a
same-partition copy, source [P, P') against target [E, E').
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from kafka_migration.core.codes import Code
from kafka_migration.core.errors import Finding
from kafka_migration.core.offsets import Offsets, from_document, to_document


@dataclass(frozen=True, slots=True)
class GenerationStart:
    """What was true right before a start."""

    generation: int
    run: str
    at: str
    mirror_positions: Offsets
    target_end_offsets: Offsets

    def to_document(self) -> dict[str, Any]:
        """Return the ledger entry."""
        return {
            "kind": "generation-started",
            "generation": self.generation,
            "run": self.run,
            "at": self.at,
            "mirror_positions": to_document(self.mirror_positions),
            "target_end_offsets": to_document(self.target_end_offsets),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> GenerationStart:
        """Read the ledger entry back."""
        return cls(
            document["generation"],
            document["run"],
            document["at"],
            from_document(document["mirror_positions"]),
            from_document(document["target_end_offsets"]),
        )


@dataclass(frozen=True, slots=True)
class StopCertificate:
    """What was true right after a stop, and how the process ended.

    `graceful` is told by MirrorMaker's last log line, not by the exit code (143 after SIGTERM).
    """

    generation: int
    run: str
    at: str
    graceful: bool
    exit_code: int | None
    reason: str
    mirror_positions: Offsets
    target_end_offsets: Offsets

    def to_document(self) -> dict[str, Any]:
        """Return the ledger entry."""
        return {
            "kind": "generation-stopped",
            "generation": self.generation,
            "run": self.run,
            "at": self.at,
            "graceful": self.graceful,
            "exit_code": self.exit_code,
            "reason": self.reason,
            "mirror_positions": to_document(self.mirror_positions),
            "target_end_offsets": to_document(self.target_end_offsets),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> StopCertificate:
        """Read the ledger entry back."""
        return cls(
            document["generation"],
            document["run"],
            document["at"],
            document["graceful"],
            document["exit_code"],
            document["reason"],
            from_document(document["mirror_positions"]),
            from_document(document["target_end_offsets"]),
        )


@dataclass(frozen=True, slots=True)
class Generation:
    """A start and, once it ended, its stop certificate."""

    start: GenerationStart
    stop: StopCertificate | None = None

    @property
    def number(self) -> int:
        """The generation's number, counted from 1."""
        return self.start.generation

    @property
    def topics(self) -> frozenset[str]:
        """The topics that its stop certificate names; none before the stop."""
        return frozenset(p.topic for p in self.stop.mirror_positions) if self.stop else frozenset()

    def limited_to(self, topics: Collection[str]) -> Generation:
        """Return the generation with the partitions of these topics only."""
        return Generation(_only(self.start, topics), self.stop and _only(self.stop, topics))


Moment = TypeVar("Moment", GenerationStart, StopCertificate)


def _only(moment: Moment, topics: Collection[str]) -> Moment:
    positions, ends = (
        {p: offset for p, offset in offsets.items() if p.topic in topics}
        for offsets in (moment.mirror_positions, moment.target_end_offsets)
    )
    return replace(moment, mirror_positions=positions, target_end_offsets=ends)


def continuity_findings(
    last: StopCertificate | None, stored: Offsets, target_end_offsets: Offsets
) -> tuple[Finding, ...]:
    """Compare what is with what the last stop certificate said; every difference is one finding.

    MirrorMaker's stored position may only be where it was (a proved end counts as the position, so the stored
    one may lie below it), and the target may not have grown while nothing of ours ran.
    """
    if last is None:
        return ()
    return (*_position_findings(last, stored), *_foreign_writes(last, target_end_offsets))


def _position_findings(last: StopCertificate, stored: Offsets) -> Iterable[Finding]:
    for partition, position in sorted(last.mirror_positions.items()):
        if stored.get(partition, 0) > position:
            yield Finding(
                Code.POSITION_CHANGED,
                str(partition),
                f"stored position {stored[partition]:,}",
                f"at most {position:,}, as certified when generation {last.generation} stopped",
                "Something moved MirrorMaker's position since. Find out what ran, before records are left out.",
            )


def _foreign_writes(last: StopCertificate, target_end_offsets: Offsets) -> Iterable[Finding]:
    for partition, end in sorted(last.target_end_offsets.items()):
        present = target_end_offsets.get(partition)
        if present is not None and present != end:
            yield Finding(
                Code.TARGET_WRITTEN_BY_OTHERS,
                str(partition),
                f"target end {present:,}",
                f"{end:,}, the end when generation {last.generation} stopped",
                "Stop whatever else writes to (or re-created) the target topic; records that are not ours make "
                "the copy unprovable.",
            )
