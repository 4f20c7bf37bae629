"""A MirrorMaker host in memory, kept to the contract by the same tests as the real one."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import NoReturn

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.mirror.host import HostProbe, HostReply, MirrorLaunch, ProbeSubject
from kafka_migration.core.mirror.mirror_process import ProcessState
from kafka_migration.core.mirror.mirrorctl_protocol import checked, launch_variables, probe_variables
from tests.contract.fake_mirror_process import FakeMirrorProcess

MAIN_CLASSES = {"org.apache.kafka.connect.mirror.MirrorMaker", "kafka.tools.MirrorMaker"}


def healthy(probe: HostProbe, now: datetime) -> dict[str, str]:
    """What a host without problems answers to a probe; its client knows one broker without topics and quotas."""
    if probe.subject is ProbeSubject.HOST:
        names = "".join(f"{name} 0 10.0.0.1\n" for name in probe.names)
        return {"free_kib": "10000000", "open_files": "65536", "names": names, "clock": str(int(now.timestamp()))}
    moment = int(now.timestamp() * 1000)
    outputs = {
        "brokers": {},
        "clock": {"before": moment, "after": moment, "shown": moment},
        "quotas": [],
        "round_trip": 400,
        "space": {"free": {"1": 10**9}, "sizes": {}},
    }
    answers = {name: {"exit": "0", "output": output} for name, output in outputs.items()}
    return {"exit": "0", "output": json.dumps({"source": answers, "target": answers}), "errors": ""}


@dataclass
class FakeMirrorHost(FakeMirrorProcess[HostReply]):
    """A `MirrorProcess` and `HostTools` without a host.

    `log` is what every reply that has a log shows. `facts` is what the host is, `probed` what differs from a healthy
    answer to each probe; `probes` are those that were asked; `now` is its clock.
    """

    log: str = "Kafka MirrorMaker stopped.\n"
    facts: dict[str, str] = field(default_factory=lambda: {"kafka": "3.9.1", "java": "17.0.1"})
    probed: dict[ProbeSubject, dict[str, str]] = field(default_factory=dict)
    probes: list[HostProbe] = field(default_factory=list)
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def fingerprint(self, kafka_home: str | None, java_home: str | None) -> HostReply:
        """See `HostTools.fingerprint`."""
        self._called("fingerprint")
        self._must_have_tools("fingerprint")
        return replace(self._reply("fingerprint"), facts=dict(self.facts))

    def probe(self, probe: HostProbe) -> HostReply:
        """See `HostTools.probe`."""
        self._called("probe")
        probe_variables(probe)
        self.probes.append(probe)
        if probe.subject is not ProbeSubject.HOST:
            self._must_have_tools("probe")
        return replace(self._reply("probe"), facts={**healthy(probe, self.now()), **self.probed.get(probe.subject, {})})

    def _check(self, launch: MirrorLaunch) -> None:
        launch_variables(launch)

    def _admit(self, launch: MirrorLaunch) -> None:
        if launch.main_class not in MAIN_CLASSES:
            self._refused("start", Code.HOST_REFUSED, f"main class {launch.main_class} is not allowed")

    def _must_have_tools(self, verb: str) -> None:
        if self.refuse_start in {Code.JAVA_MISSING, Code.MM_BINARY_NOT_FOUND, Code.HOST_TOOL_MISSING}:
            self._refused(verb, self.refuse_start, "as the test wants it")

    def _refused(self, verb: str, code: Code, message: str) -> NoReturn:
        self._reply(verb, ok=False, code=str(code), message=message, with_log=code is Code.MIRROR_DEAD)
        raise AssertionError(f"{code} is no refusal")

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
        has_log = process and not process.is_cleaned and (with_log or state is ProcessState.DEAD)
        reply = HostReply(
            **self._fields(verb, generation),
            ok=ok,
            code=code,
            message=message,
            verb=verb,
            migration=self.migration,
            pid=process.pid if process and alive else None,
            exit_code=process.exit_code if process else None,
            boot_id="fake",
            adopted=adopted,
            log=self.log if has_log else "",
        )
        return checked(reply)
