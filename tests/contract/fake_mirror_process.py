"""A process that copies, in memory and without a host, kept to the contract by the same tests as the real ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, Generic, NoReturn, TypeVar

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, MirrorFailed, Refused
from kafka_migration.core.mirror.mirror_process import ProcessReply, ProcessState

LEASE_S = 60
ReplyT = TypeVar("ReplyT", bound=ProcessReply)


@dataclass
class FakeProcess:
    """One generation; `exit_code` is None while it lives."""

    holder: str
    launch: Any
    pid: int
    exit_code: int | None = None
    exit_reason: str = ""
    killed: bool = False
    renewals: int = 0
    is_cleaned: bool = False


@dataclass
class FakeMirrorProcess(ABC, Generic[ReplyT]):
    """A `MirrorProcess` that takes any launch, and whose generations have no log, no pid and no exit code.

    Put an error into `errors` and the next call raises it, with nothing done. `refuse_start` is the code that
    starts are refused with; `ignores_term` and `dies_at_start` describe processes to come; `alarm` is what every
    renewal, status and stop of a process shows.
    """

    migration: str = "shop"
    holder: str = ""
    processes: dict[int, FakeProcess] = field(default_factory=dict)
    stopped_max: int = 0
    errors: list[Exception] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    refuse_start: Code | None = None
    ignores_term: bool = False
    dies_at_start: bool = False
    alarm: str = ""

    @property
    def last(self) -> int:
        """The last generation started."""
        return max(self.processes, default=0)

    def die(self, exit_code: int = 1) -> None:
        """End the last generation's process by itself."""
        self._end(self.last, exit_code, "ended")

    def expire(self) -> None:
        """End the last generation's process as its lease does."""
        self._end(self.last, 143, "lease-expired")

    def close(self) -> None:
        """There is nothing to close."""
        self.calls.append("close")

    def reserve(self, holder: str, take_over_from: str | None = None) -> ReplyT:
        """See `MirrorProcess.reserve`."""
        self._called("reserve")
        if self.holder not in {"", holder, take_over_from}:
            return self._refused("reserve", Code.RESERVED_BY, f"{self.holder} holds the reservation")
        self.holder = holder
        return self._reply("reserve")

    def release(self, holder: str) -> ReplyT:
        """See `MirrorProcess.release`."""
        self._called("release")
        self._must_not_be_held_by_another("release", holder)
        if self.holder and self._state(self.last, self.processes.get(self.last)) is ProcessState.RUNNING:
            self._refused("release", Code.ALREADY_RUNNING, f"generation {self.last} lives")
        self.holder = ""
        return self._reply("release")

    def start(self, holder: str, generation: int, launch: Any) -> ReplyT:
        """See `MirrorProcess.start`."""
        self._called("start")
        self._check(launch)
        self._must_hold("start", holder)
        present = self.processes.get(self.last)
        if present is not None and present.exit_code is None:
            if generation == self.last and present.holder == holder:
                return self._reply("start", adopted=True)
            return self._refused("start", Code.ALREADY_RUNNING, f"generation {self.last} runs")
        self._must_be_next(generation)
        self._admit(launch)
        self.processes[generation] = FakeProcess(holder, launch, pid=1000 + generation)
        if self.dies_at_start:
            self.die(1)
            return self._refused("start", Code.MIRROR_DEAD, "it ended at its start with exit code 1")
        return self._reply("start")

    def renew(self, holder: str, generation: int) -> ReplyT:
        """See `MirrorProcess.renew`."""
        self._called("renew")
        self._must_hold("renew", holder)
        if generation != self.last:
            return self._refused("renew", Code.GENERATION_UNEXPECTED, f"the last generation here is {self.last}")
        if generation:
            self.processes[generation].renewals += 1
        return self._reply("renew")

    def status(self) -> ReplyT:
        """See `MirrorProcess.status`."""
        self._called("status")
        return self._reply("status")

    def stop(self, holder: str, generation: int | None, grace_s: int) -> ReplyT:
        """See `MirrorProcess.stop`."""
        self._called("stop")
        self._must_not_be_held_by_another("stop", holder)
        generation = self.last if generation is None else generation
        self.stopped_max = max(self.stopped_max, generation)
        ended = min(generation, self.last)
        process = self.processes.get(ended)
        if process is not None and process.exit_code is None:
            process.killed = self.ignores_term or grace_s == 0
            self._end(ended, 137 if process.killed else 143, "stopped")
        return self._reply("stop", ended, with_log=True)

    def logs(self, generation: int | None, lines: int) -> ReplyT:
        """See `MirrorProcess.logs`."""
        self._called("logs")
        return self._reply("logs", generation, with_log=True)

    def clean(self, holder: str, keep: int) -> ReplyT:
        """See `MirrorProcess.clean`."""
        self._called("clean")
        self._must_not_be_held_by_another("clean", holder)
        for generation in [g for g in self.processes if g < self.last and g <= self.last - keep]:
            self.processes[generation].is_cleaned = True
        return self._reply("clean")

    def _check(self, launch: Any) -> None:
        """Raise `ValueError` for a launch that must not be sent."""

    def _admit(self, launch: Any) -> None:
        """Raise `Refused` for a launch that must not be started."""

    def _called(self, verb: str) -> None:
        self.calls.append(verb)
        if self.errors:
            raise self.errors.pop(0)

    def _end(self, generation: int, exit_code: int, reason: str) -> None:
        self.processes[generation].exit_code = exit_code
        self.processes[generation].exit_reason = reason

    def _must_hold(self, verb: str, holder: str) -> None:
        if self.holder != holder:
            self._refused(verb, Code.NOT_RESERVED, f"the holder of the reservation is {self.holder or 'none'}")

    def _must_not_be_held_by_another(self, verb: str, holder: str) -> None:
        if self.holder not in {"", holder}:
            self._refused(verb, Code.RESERVED_BY, f"{self.holder} holds the reservation")

    def _must_be_next(self, generation: int) -> None:
        if self.refuse_start is not None:
            self._refused("start", self.refuse_start, "as the test wants it")
        if generation <= self.stopped_max:
            self._refused("start", Code.GENERATION_STOPPED, f"{self.stopped_max} was told to stop")
        if generation != max(self.last, self.stopped_max) + 1:
            self._refused("start", Code.GENERATION_UNEXPECTED, f"the last generation here is {self.last}")

    def _refused(self, verb: str, code: Code, message: str) -> NoReturn:
        error = MirrorFailed if code is Code.MIRROR_DEAD else Refused
        raise error([Finding(code, f"migration {self.migration}", f"{verb}: {message}", "another state", "Wait.")])

    @abstractmethod
    def _reply(
        self, verb: str, generation: int | None = None, *, adopted: bool = False, with_log: bool = False
    ) -> ReplyT:
        """Return the reply to a request about a generation, by default the last one."""

    def _fields(self, verb: str, generation: int | None) -> dict[str, Any]:
        """Return what every reply says."""
        shown = self.last if generation is None else generation
        process = self.processes.get(shown)
        state = self._state(shown, process)
        return {
            "generation": shown if process else 0,
            "state": state,
            "exit_reason": process.exit_reason if process else "",
            "holder": self.holder,
            "lease_remaining_s": LEASE_S if state is ProcessState.RUNNING else None,
            "killed": bool(process and process.killed),
            "alarm": self.alarm if process and verb in {"renew", "status", "stop"} else "",
        }

    def _state(self, generation: int, process: FakeProcess | None) -> ProcessState:
        if process is None:
            return ProcessState.NONE
        if process.exit_code is None:
            return ProcessState.RUNNING
        return ProcessState.STOPPED if generation <= self.stopped_max else ProcessState.DEAD
