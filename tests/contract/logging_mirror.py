"""What a host would reply about a MirrorMaker that a test runs without a host: the end of its log, and its alarm."""

from __future__ import annotations

from abc import ABC, abstractmethod

from kafka_migration.core.mirror.host import HostReply, MirrorLaunch
from kafka_migration.core.mirror.mirror_process import ProcessState

# As mirrorctl's constant of this name.
LOG_TAIL_LINES = 40


def ended(log: str, *, exit_code: int | None = None, killed: bool = False) -> HostReply:
    """Return the reply about a stopped generation with this log."""
    return HostReply(
        ok=True,
        code="",
        message="",
        verb="stop",
        migration="shop",
        generation=1,
        state=ProcessState.STOPPED,
        exit_code=exit_code,
        killed=killed,
        log=log,
    )


class LoggingMirror(ABC):
    """A MirrorMaker that logs what it does; `launch` is what it was started with."""

    launch: MirrorLaunch

    @property
    @abstractmethod
    def is_alive(self) -> bool:
        """Whether its process runs."""

    @abstractmethod
    def log(self) -> str:
        """Return what it has logged so far."""

    def reply(self) -> HostReply:
        """Return what a host would say of it now."""
        lines = self.log().splitlines(keepends=True)
        alarms = [line.strip() for line in lines if any(alarm in line for alarm in self.launch.alarms)]
        return HostReply(
            ok=True,
            code="",
            message="",
            verb="status",
            migration="shop",
            generation=1,
            state=ProcessState.RUNNING if self.is_alive else ProcessState.STOPPED,
            log="".join(lines[-LOG_TAIL_LINES:]),
            alarm="".join(alarms[-1:]),
        )
