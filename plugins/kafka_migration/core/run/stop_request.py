"""A request to stop mirroring: any user may write one, and the active run checks for it at each poll."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.text.terminal_text import shown


@dataclass(frozen=True, slots=True)
class StopRequest(Document):
    """Who asked which generation to stop mirroring, when and why; `run` is the holder of the reservation."""

    generation: int
    run: str
    at: str
    by: str
    reason: str = ""

    def __str__(self) -> str:
        reason = f": {self.reason}" if self.reason else ""
        return shown(f"asked to stop by {self.by} at {self.at}{reason}")


def stop_requested(request: StopRequest) -> Finding:
    """Return the finding that a stop request ended the cutover."""
    return Finding(
        Code.STOP_REQUESTED,
        f"generation {request.generation} of MirrorMaker",
        str(request),
        "mirroring up to the fenced end offsets of the source",
        "Start the producers again if they were stopped, and trigger a new cutover later.",
        happened=f"Generation {request.generation} of MirrorMaker was {request}.",
        matters="The cutover ended before the copy was complete: no group was moved, and the next run validates the "
        "copied records.",
    )


def what_follows(mode: Mode | None) -> str:
    """Return what a run does after its mirroring was stopped on request; `None` means an unknown mode."""
    if mode is Mode.CUTOVER:
        return f"the cutover then fails with {Code.STOP_REQUESTED} and moves no group"
    if mode is None or mode is Mode.FOLLOW:
        return "the run then validates the copied records"
    return "the run then validates the copied records; the next run copies the rest"
