"""The process that copies: values, and the Protocol that each adapter of an engine's process implements.

One migration has at most one process that copies at any time. The place where it runs enforces this, not Airflow. A
*generation* is one such process from its start to its stop, numbered from 1. A *reservation* says which run may act; it
does not expire. The *lease* is a dead-man's switch: a generation that is not renewed in time ends by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Protocol, TypeAlias, TypeVar

from kafka_migration.core.documents.codec import Document

LaunchT_contra = TypeVar("LaunchT_contra", contravariant=True)
ReplyT_co = TypeVar("ReplyT_co", bound="ProcessReply", covariant=True)


# The exit code of a process that another one killed; the host says so of an end that mirrorctl asked for.
_KILLED = (137, "ended")
_BY_WHOM = "killed by a person, or by the kernel because the host had no free memory"


class ProcessState(StrEnum):
    """The state of a generation's process.

    `none`: no process was ever started. `dead`: it was started and is not alive, although no stop was requested.
    """

    NONE = "none"
    RUNNING = "running"
    STOPPED = "stopped"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class ProcessReply(Document):
    """The state right after a request. An engine's own reply may have more fields, which only the engine reads.

    `generation` is 0 when nothing was ever started; everything about a process belongs to that generation. `pid`,
    `started_at` (epoch s), `exit_code` and `lease_remaining_s` are `None` if unknown or not applicable. `holder` is
    empty when the migration is not reserved. `adopted`: a start found its own process already running. `killed`: the
    process did not end on request. `exit_reason` is `stopped`, `lease-expired`, `ended` (by itself), or empty when
    unknown.

    `change` says what others did to it, such as a deletion; empty if nothing is known.

    `log` holds the last lines, for requests that return them; `None`: the generation has no log, which is not an empty
    log. `alarm` is the newest problem that the process itself reports, in its own words; empty if there is none.
    """

    ADDED: ClassVar[frozenset[str]] = frozenset({"change"})

    generation: int = 0
    state: ProcessState = ProcessState.NONE
    pid: int | None = None
    started_at: int | None = None
    exit_code: int | None = None
    exit_reason: str = ""
    holder: str = ""
    lease_remaining_s: int | None = None
    adopted: bool = False
    killed: bool = False
    log: str | None = None
    alarm: str = ""
    change: str = ""

    @property
    def is_running(self) -> bool:
        """Whether the generation's process is alive."""
        return self.state is ProcessState.RUNNING

    @property
    def manner(self) -> str:
        """How the process of a dead generation ended, in a few words."""
        code = "unknown" if self.exit_code is None else self.exit_code
        end = self.exit_reason or "the end was not observed"
        return f"exit code {code}, {_BY_WHOM if (self.exit_code, end) == _KILLED else end}"

    @property
    def is_failure(self) -> bool:
        """Whether MirrorMaker itself failed; else the place where it runs ended it, as when a worker restarts."""
        return True


class HowEnded(StrEnum):
    """How a process ended. `unknown`: nothing proves that the end was orderly, and nothing shows a kill."""

    ORDERLY = "orderly"
    KILLED = "killed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ProcessEnding:
    """How a generation ended, as its engine judges a reply; that of a process that is alive is unknown.

    `distrusts_positions`: its stored positions may be after records that never arrived. `resent`: a part of it was
    started again before the end, so it may have sent records again at any place of its range. `is_flushed`: an end in
    order proves that it waited for the answers to all that it sent, before it stored its positions.
    """

    how: HowEnded
    distrusts_positions: bool = False
    resent: bool = False
    is_flushed: bool = True

    @property
    def is_clean(self) -> bool:
        """Whether everything that it sent is in its stored positions, and nothing else.

        A part that was started again may end in order before it has caught up with what was sent before.
        """
        return self.how is HowEnded.ORDERLY and not self.distrusts_positions and not self.resent


class MirrorProcess(Protocol[LaunchT_contra, ReplyT_co]):
    """The process of one migration. `LaunchT` is what its engine makes for a start; only the process reads it.

    Every method raises `Refused` when the place where it runs refuses or must not be trusted, and `TransientError` when
    that was unreachable or busy and nothing was done. An acting method (`reserve`, `release`, `start`, `stop`, `clean`)
    raises `OutcomeUnknown` when the action may have happened and a status request did not show it.
    """

    def reserve(self, holder: str, take_over_from: str | None = None) -> ReplyT_co:
        """Take the reservation; it is no error to hold it already.

        The reservation of another run is taken over only if its holder is exactly `take_over_from`, else `RESERVED_BY`.
        """

    def release(self, holder: str) -> ReplyT_co:
        """Free the reservation, also if it is already free; `RESERVED_BY` if another run holds it.

        `ALREADY_RUNNING` while a process of the migration is alive: without a reservation no run would stop it.
        """

    def start(self, holder: str, generation: int, launch: LaunchT_contra) -> ReplyT_co:
        """Start a generation; return once its process is alive.

        A second request of the same holder while that generation runs starts nothing; the reply is then
        `adopted`. Refusals: `NOT_RESERVED`; `ALREADY_RUNNING`; `GENERATION_STOPPED` if a stop of this generation was
        requested, started or not; `GENERATION_UNEXPECTED` if it does not follow the last started or stopped one; those
        of the place where it runs. A process that ends at once raises `MirrorFailed` (`MIRROR_DEAD`); the generation
        is then used up.
        """

    def renew(self, holder: str, generation: int) -> ReplyT_co:
        """Renew the lease of a generation if it is alive, and return its status.

        Refusals: `NOT_RESERVED`, `GENERATION_UNEXPECTED`.
        """

    def status(self) -> ReplyT_co:
        """Return the current state, with the log's last lines if the generation is dead and has a log."""

    def stop(self, holder: str, generation: int | None, grace_s: int) -> ReplyT_co:
        """End a generation (None: the last one) for ever: on request, and by force after `grace_s`; return at its end.

        With a `grace_s` of 0 it is ended by force at once, so it stores nothing more.
        The stop leaves a tombstone, so a late start of this or an earlier generation is refused. A generation that is
        already stopped or was never started is no error: the reply then has the recorded state. Its generation is the
        last one really started if that is lower, and that one is ended too. `RESERVED_BY` if another run holds the
        reservation; none is needed. A process that survives raises `MirrorFailed` (`MIRROR_NOT_STOPPED`).
        """

    def logs(self, generation: int | None, lines: int) -> ReplyT_co:
        """Return the last lines of a generation's log (None: of the last one), if it has a log."""

    def clean(self, holder: str, keep: int) -> ReplyT_co:
        """Remove what is kept of all generations except the last and the `keep` newest ones.

        `RESERVED_BY` if another run holds the reservation; none is needed.
        """

    def close(self) -> None:
        """Close the connection, if one is open; a later call opens it again."""


# A process with the launches and replies of its own engine, which those who use it only pass on to that engine.
AnyProcess: TypeAlias = MirrorProcess[Any, ProcessReply]
