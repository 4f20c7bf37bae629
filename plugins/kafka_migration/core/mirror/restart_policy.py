"""When a MirrorMaker that died is started again: how often, after which pause, and when it is left dead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.mirror.diagnosis import cause_in
from kafka_migration.core.mirror.host import HostReply, ProcessState

FIRST_PAUSE_S = 5
LONGEST_PAUSE_S = 300


@dataclass(frozen=True, slots=True)
class Death:
    """A generation that ended without having been told to, and when the next one may start; an evidence document."""

    generation: int
    at: str
    reason: str
    log: str
    start_after: datetime

    @classmethod
    def of(cls, reply: HostReply, now: datetime, earlier: int) -> Death:
        """Return the death that a host's reply tells of; `earlier` deaths in this run make the pause longer."""
        pause_s = min(FIRST_PAUSE_S * 3**earlier, LONGEST_PAUSE_S)
        reason = f"exit code {reply.exit_code}, {reply.exit_reason or 'nobody saw it end'}"
        start_after = now + timedelta(seconds=pause_s)
        return cls(reply.generation, now.isoformat(timespec="seconds"), reason, reply.log, start_after)

    def __str__(self) -> str:
        return f"{self._cause}generation {self.generation} ended: {self.reason}"

    @property
    def with_log(self) -> str:
        """The death with the last lines of MirrorMaker's log; told once."""
        last_lines = " | ".join([line for line in self.log.splitlines() if line.strip()][-3:])
        return f"{self}; last log lines: {last_lines or 'none'}"

    @property
    def _cause(self) -> str:
        cause = cause_in(self.log)
        return f"{cause}; " if cause else ""

    def to_document(self) -> dict[str, Any]:
        """Return the evidence document."""
        return {
            "generation": self.generation,
            "at": self.at,
            "reason": self.reason,
            "log": self.log,
            "start_after": self.start_after.isoformat(),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Death:
        """Read back what `to_document` wrote."""
        start_after = datetime.fromisoformat(document["start_after"])
        return cls(document["generation"], document["at"], document["reason"], document["log"], start_after)


def was_told_to_stop(reply: HostReply) -> bool:
    """Tell whether somebody stopped this generation; then it stays so."""
    return reply.state is ProcessState.STOPPED


def dead_for_good(deaths: Sequence[Death], restarts: int) -> Finding:
    """Return what a run ends with whose MirrorMaker died more often than it may."""
    return Finding(
        Code.MIRROR_DEAD,
        "MirrorMaker",
        "; ".join([*map(str, deaths[:-1]), deaths[-1].with_log]),
        f"a living process; it was started again {restarts} time(s) (mirror.restarts)",
        "Mend the cause that the log names and trigger the run again; what was copied stays.",
    )


def stopped_by_others(reply: HostReply) -> Finding:
    """Return what a watch ends with whose MirrorMaker somebody stopped."""
    return Finding(
        Code.MIRROR_DEAD,
        "MirrorMaker",
        f"generation {reply.generation} was told to stop, exit code {reply.exit_code}",
        "a living process until this run stops it",
        "Somebody stopped it on purpose: a task of this run that was cleared or marked, or a person on the host. "
        "Trigger the run again; what was copied stays.",
    )
