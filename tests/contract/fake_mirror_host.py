"""A MirrorMaker host in memory, kept to the contract by the same tests as the real one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.mirror.host import HostProbe, HostReply, MirrorLaunch, ProbeSubject, ProcessState
from kafka_migration.core.mirror.mirrorctl_protocol import checked, launch_variables, probe_variables

MAIN_CLASSES = {"org.apache.kafka.connect.mirror.MirrorMaker", "kafka.tools.MirrorMaker"}


def healthy(probe: HostProbe, now: datetime) -> dict[str, str]:
    """What a host without problems answers to a probe; its tools know one broker without topics and quotas."""
    if probe.subject is ProbeSubject.HOST:
        names = "".join(f"{name} 0 10.0.0.1\n" for name in probe.names)
        return {"free_kib": "10000000", "open_files": "65536", "names": names, "clock": str(int(now.timestamp()))}
    moment = int(now.timestamp())
    printed = {
        ProbeSubject.SPACE: "Received DESCRIBE_LOG_DIRS response from node 1 for x: [DescribeLogDirsResult("
        "logDir='/data', topics=[], totalBytes=2000000000, usableBytes=1000000000)]\n"
        '{"brokers":[{"broker":1,"logDirs":[{"partitions":[],"error":null,"logDir":"/data"}]}],"version":1}\n',
        ProbeSubject.CLOCK: f"1 AAA 7 0 {moment * 1000} {moment * 1000} Leader\n",
    }
    clocks = {"clock_before": str(moment), "clock": str(moment)} if probe.subject is ProbeSubject.CLOCK else {}
    return {"tool": "Tool", "exit": "0", "output": printed.get(probe.subject, ""), "errors": "", **clocks}


@dataclass
class FakeProcess:
    """One generation; `exit_code` is None while it lives."""

    holder: str
    launch: MirrorLaunch
    pid: int
    exit_code: int | None = None
    exit_reason: str = ""
    killed: bool = False
    renewals: int = 0
    is_cleaned: bool = False


@dataclass
class FakeMirrorHost:
    """A `MirrorHost` without a host.

    Put an error into `errors` and the next call raises it, with nothing done. `refuse_start` is the code that
    starts are refused with; `ignores_term` and `dies_at_start` describe processes to come; `log` is what every
    reply that has a log shows, `alarm` what every renewal, status and stop of a process shows. `facts` is what the host
    is, `probed` what differs from a healthy answer to each probe; `probes` are those that were asked; `now`
    is its clock.
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
    log: str = "Kafka MirrorMaker stopped.\n"
    alarm: str = ""
    facts: dict[str, str] = field(default_factory=lambda: {"kafka": "3.9.1", "java": "17.0.1"})
    probed: dict[ProbeSubject, dict[str, str]] = field(default_factory=dict)
    probes: list[HostProbe] = field(default_factory=list)
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

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

    def reserve(self, holder: str, take_over_from: str | None = None) -> HostReply:
        """See `MirrorHost.reserve`."""
        self._called("reserve")
        if self.holder not in {"", holder, take_over_from}:
            return self._refused("reserve", Code.RESERVED_BY, f"{self.holder} holds the reservation")
        self.holder = holder
        return self._reply("reserve")

    def release(self, holder: str) -> HostReply:
        """See `MirrorHost.release`."""
        self._called("release")
        self._must_not_be_held_by_another("release", holder)
        if self.holder and self._state(self.last, self.processes.get(self.last)) is ProcessState.RUNNING:
            self._refused("release", Code.ALREADY_RUNNING, f"generation {self.last} lives")
        self.holder = ""
        return self._reply("release")

    def start(self, holder: str, generation: int, launch: MirrorLaunch) -> HostReply:
        """See `MirrorHost.start`."""
        self._called("start")
        launch_variables(launch)
        self._must_hold("start", holder)
        present = self.processes.get(self.last)
        if present is not None and present.exit_code is None:
            if generation == self.last and present.holder == holder:
                return self._reply("start", adopted=True)
            return self._refused("start", Code.ALREADY_RUNNING, f"generation {self.last} runs")
        self._must_be_next(generation)
        if launch.main_class not in MAIN_CLASSES:
            self._refused("start", Code.HOST_REFUSED, f"main class {launch.main_class} is not allowed")
        self.processes[generation] = FakeProcess(holder, launch, pid=1000 + generation)
        if self.dies_at_start:
            self.die(1)
            return self._refused("start", Code.MIRROR_DEAD, "it ended at its start with exit code 1")
        return self._reply("start")

    def renew(self, holder: str, generation: int) -> HostReply:
        """See `MirrorHost.renew`."""
        self._called("renew")
        self._must_hold("renew", holder)
        if generation != self.last:
            return self._refused("renew", Code.GENERATION_UNEXPECTED, f"the last generation here is {self.last}")
        if generation:
            self.processes[generation].renewals += 1
        return self._reply("renew")

    def status(self) -> HostReply:
        """See `MirrorHost.status`."""
        self._called("status")
        return self._reply("status")

    def stop(self, holder: str, generation: int | None, grace_s: int) -> HostReply:
        """See `MirrorHost.stop`."""
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

    def logs(self, generation: int | None, lines: int) -> HostReply:
        """See `MirrorHost.logs`."""
        self._called("logs")
        return self._reply("logs", generation, with_log=True)

    def fingerprint(self, kafka_home: str | None, java_home: str | None) -> HostReply:
        """See `MirrorHost.fingerprint`."""
        self._called("fingerprint")
        self._must_have_tools("fingerprint")
        return replace(self._reply("fingerprint"), facts=dict(self.facts))

    def probe(self, probe: HostProbe) -> HostReply:
        """See `MirrorHost.probe`."""
        self._called("probe")
        probe_variables(probe)
        self.probes.append(probe)
        if probe.subject is not ProbeSubject.HOST:
            self._must_have_tools("probe")
        return replace(self._reply("probe"), facts={**healthy(probe, self.now()), **self.probed.get(probe.subject, {})})

    def clean(self, holder: str, keep: int) -> HostReply:
        """See `MirrorHost.clean`."""
        self._called("clean")
        self._must_not_be_held_by_another("clean", holder)
        for generation in [g for g in self.processes if g < self.last and g <= self.last - keep]:
            self.processes[generation].is_cleaned = True
        return self._reply("clean")

    def _called(self, verb: str) -> None:
        self.calls.append(verb)
        if self.errors:
            raise self.errors.pop(0)

    def _end(self, generation: int, exit_code: int, reason: str) -> None:
        self.processes[generation].exit_code = exit_code
        self.processes[generation].exit_reason = reason

    def _must_have_tools(self, verb: str) -> None:
        if self.refuse_start in {Code.JAVA_MISSING, Code.MM_BINARY_NOT_FOUND, Code.HOST_TOOL_MISSING}:
            self._refused(verb, self.refuse_start, "as the test wants it")

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

    def _refused(self, verb: str, code: Code, message: str) -> HostReply:
        return self._reply(verb, ok=False, code=str(code), message=message, with_log=code is Code.MIRROR_DEAD)

    def _reply(
        self,
        verb: str,
        generation: int | None = None,
        *,
        ok: bool = True,
        code: str = "",
        message: str = "",
        adopted: bool = False,
        with_log: bool = False,
    ) -> HostReply:
        shown = self.last if generation is None else generation
        process = self.processes.get(shown)
        state = self._state(shown, process)
        alive = state is ProcessState.RUNNING
        reply = HostReply(
            ok=ok,
            code=code,
            message=message,
            verb=verb,
            migration=self.migration,
            generation=shown if process else 0,
            state=state,
            pid=process.pid if process and alive else None,
            exit_code=process.exit_code if process else None,
            exit_reason=process.exit_reason if process else "",
            holder=self.holder,
            lease_remaining_s=process.launch.lease_s if process and alive else None,
            boot_id="fake",
            adopted=adopted,
            killed=bool(process and process.killed),
            log=self.log if process and not process.is_cleaned and (with_log or state is ProcessState.DEAD) else "",
            alarm=self.alarm if process and verb in {"renew", "status", "stop"} else "",
        )
        return checked(reply)

    def _state(self, generation: int, process: FakeProcess | None) -> ProcessState:
        if process is None:
            return ProcessState.NONE
        if process.exit_code is None:
            return ProcessState.RUNNING
        return ProcessState.STOPPED if generation <= self.stopped_max else ProcessState.DEAD
