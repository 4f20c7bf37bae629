"""The restart policy for a dead MirrorMaker process: how often it is restarted, and after which pause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.migration.engine_table import Abilities
from kafka_migration.core.mirror.causes import Sign, repair, sign_of_end
from kafka_migration.core.mirror.log_entries import root_exception
from kafka_migration.core.mirror.mirror_process import ProcessReply
from kafka_migration.core.mirror.uncopyable import complaint_in
from kafka_migration.core.text.shortened import sentence

FIRST_PAUSE_S = 5
LONGEST_PAUSE_S = 300


@dataclass(frozen=True, slots=True)
class Death(Document):
    """A generation that ended without a stop request, and when the next one may start; an evidence document.

    Only failures count for the limit of restarts.
    """

    ADDED: ClassVar[frozenset[str]] = frozenset({"is_failure"})

    generation: int
    at: str
    reason: str
    log: str
    start_after: datetime
    is_failure: bool = True

    @classmethod
    def of(cls, reply: ProcessReply, now: datetime, earlier: int) -> Death:
        """Return the death in a reply; each of the `earlier` failures in this run makes the pause longer."""
        pause_s = min(FIRST_PAUSE_S * 3**earlier, LONGEST_PAUSE_S)
        start_after = now + timedelta(seconds=pause_s)
        at = now.isoformat(timespec="seconds")
        return cls(reply.generation, at, reply.manner, reply.log or "", start_after, reply.is_failure)

    def __str__(self) -> str:
        sign = self._sign()
        cause = f"{sign.cause.what}; " if sign else ""
        return f"{cause}generation {self.generation} ended: {self.reason}"

    @property
    def with_log(self) -> str:
        """The death with MirrorMaker's exception, or else with the last lines of its log, for its first report."""
        sign = self._sign()
        if said := sign.quote if sign else root_exception(self.log):
            return f"{self}; MirrorMaker says: {said}"
        last_lines = " | ".join([line for line in self.log.splitlines() if line.strip()][-3:])
        return f"{self}; last log lines: {last_lines or 'none'}"

    @property
    def ends_each_start(self) -> bool:
        """Whether every further start would end like this one."""
        complaint, sign = complaint_in(self.log), self._sign()
        is_by_record = complaint is not None and complaint.ends_each_start
        return is_by_record or (sign is not None and sign.cause.is_lasting)

    def _sign(self) -> Sign | None:
        """Read the log for the cause, which takes a search of each of its lines."""
        return sign_of_end(self.log)


def dead_for_good(deaths: Sequence[Death], restarts: int, engine: Abilities) -> Finding:
    """Return the finding of a run whose MirrorMaker died more often than its limit allows."""
    named = "" if engine.why_no_field("mirror.restarts") else " (mirror.restarts)"
    found = "; ".join([*map(str, deaths[:-1]), deaths[-1].with_log])
    return Finding(
        Code.MIRROR_DEAD,
        "MirrorMaker",
        found,
        f"a running process; it was restarted {restarts} time(s){named}",
        repair(engine.log),
        happened=sentence(f"MirrorMaker ended: {found}"),
        matters=f"It was restarted {restarts} time(s){named} and is not running, so no further records are copied.",
    )


def stopped_by_others(reply: ProcessReply) -> Finding:
    """Return the finding of a watch whose MirrorMaker was stopped, changed or deleted from outside."""
    if reply.change:
        return _changed_by_others(reply)
    return Finding(
        Code.MIRROR_DEAD,
        "MirrorMaker",
        f"generation {reply.generation} was stopped on request, exit code {reply.exit_code}",
        "a running process until this run stops it",
        "Find out whether a task of this run was cleared or marked, or an operator stopped it. Then trigger the run "
        "again.",
        happened=f"Generation {reply.generation} of MirrorMaker was stopped on request, but not by this run.",
        matters="The run has not reached its goal, and no further records are copied.",
    )


def _changed_by_others(reply: ProcessReply) -> Finding:
    return Finding(
        Code.CONNECTOR_CHANGED,
        "MirrorMaker",
        f"generation {reply.generation}: {reply.change}",
        "a connector that only the runs of this migration start, change and delete",
        "Find out who did it. Kubernetes operators such as Strimzi delete connectors that they did not create, unless "
        "that is switched off. Then trigger the run again.",
        happened=f"Generation {reply.generation} of MirrorMaker ended, but this run did not stop it: {reply.change}.",
        matters="The run has not reached its goal, and no further records are copied. It started nothing again, "
        "because it may happen again.",
    )
