"""A request to end mirroring: anybody may ask, the run that mirrors looks for it at each poll."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.text.shown import shown


@dataclass(frozen=True, slots=True)
class StopRequest:
    """Who asked which generation to end mirroring, when and why; `run` is the holder that mirrors."""

    generation: int
    run: str
    at: str
    by: str
    reason: str = ""

    def __str__(self) -> str:
        reason = f": {self.reason}" if self.reason else ""
        return shown(f"asked to stop by {self.by} at {self.at}{reason}")

    def to_document(self) -> dict[str, Any]:
        """Return the request as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> StopRequest:
        """Read back what `to_document` wrote."""
        return cls(
            int(document["generation"]), document["run"], document["at"], document["by"], document.get("reason", "")
        )


def stop_requested(request: StopRequest) -> Finding:
    """Name the request as the reason why a cutover goes no further."""
    return Finding(
        Code.STOP_REQUESTED,
        f"generation {request.generation} of MirrorMaker",
        str(request),
        "mirroring up to the fenced ends of the source",
        "No group was touched, and what was copied stays; start the producers again if they were stopped. The next run "
        "validates what was copied; trigger a new cutover when the reason is gone.",
    )


def what_follows(mode: Mode | None) -> str:
    """Say what a run does once its mirroring was ended on request; `None` is a mode that cannot be told."""
    if mode is Mode.CUTOVER:
        return f"the cutover then fails with {Code.STOP_REQUESTED} and moves no group"
    if mode is None or mode is Mode.FOLLOW:
        return "the run then validates what was copied"
    return "the run then validates what was copied; the rest is left to the next run"
