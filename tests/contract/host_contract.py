"""What every MirrorMaker host keeps beside the contract of a process: its log, its tools, and what Java is given."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Protocol

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.mirror.host import HostProbe, HostReply, HostTools, MirrorLaunch, ProbeSubject
from kafka_migration.core.mirror.mirror_process import MirrorProcess
from tests.contract.process_contract import GRACE_S, ME, KillingContract, codes


class ContractHost(MirrorProcess[MirrorLaunch, HostReply], HostTools, Protocol):
    """A host: the process on it, and its tools."""


class HostContract(KillingContract):
    """The contract; `host` is a new one, on which nothing was ever done."""

    host: ContractHost
    # Without getent, a host cannot look up names.
    has_getent = True

    @property
    def process(self) -> MirrorProcess[MirrorLaunch, HostReply]:  # type: ignore[override]
        """The process on it."""
        return self.host

    @abstractmethod
    def launch(self, behaviour: str = "serve") -> MirrorLaunch:
        """A launch whose process serves until TERM, ignores TERM (`ignore-term`), or ends at once (`exit`)."""

    @abstractmethod
    def log_alarm(self, line: str) -> None:
        """Let the last generation's process log a line that holds an alarm of its launch."""

    def test_start_names_process_and_lease(self) -> None:
        """A start returns the process's id and the rest of its lease."""
        self.host.reserve(ME)
        launch = self.launch()

        reply = self.host.start(ME, 1, launch)

        assert reply.pid is not None
        assert reply.lease_remaining_s is not None
        assert 0 < reply.lease_remaining_s <= launch.lease_s

    @pytest.mark.parametrize(("grace_s", "exit_code"), [(GRACE_S, 143), (0, 137)])
    def test_end_has_log_and_exit_code(self, grace_s: int, exit_code: int) -> None:
        """A stop sends TERM, or KILL at once without grace time; its reply has the exit code and the log's end."""
        self.started()

        reply = self.host.stop(ME, 1, grace_s)

        assert (exit_code, True) == (reply.exit_code, bool(reply.log))

    def test_kill_from_outside_has_its_exit_code(self) -> None:
        """The exit code of a dead process is that of its end."""
        self.started()
        self.kill_process()

        assert 137 == self.host.renew(ME, 1).exit_code

    def test_logs_are_there_while_it_runs(self) -> None:
        """The log of a living generation can be read."""
        self.started()

        assert self.host.logs(None, 10).log

    def test_file_name_must_stay_below(self) -> None:
        """A launch whose file would leave the generation's directory is not sent."""
        self.host.reserve(ME)

        with pytest.raises(ValueError, match="file name"):
            self.host.start(ME, 1, replace(self.launch(), files={"../x": ""}))

    def test_only_mirrormaker_is_started(self) -> None:
        """Another main class than MirrorMaker's is refused by the host."""
        self.host.reserve(ME)

        with pytest.raises(Refused, match=r"org\.example\.Main") as error:
            self.host.start(ME, 1, replace(self.launch(), main_class="org.example.Main"))
        assert {Code.HOST_REFUSED} == codes(error)
        assert 0 == self.host.status().generation

    def test_alarm_comes_with_each_status(self) -> None:
        """The newest line of the log with one of the launch's alarms comes with a renewal, a status and a stop."""
        self.host.reserve(ME)
        self.host.start(ME, 1, replace(self.launch(), alarms=("splitting and retrying", "no such text")))
        before = self.host.renew(ME, 1).alarm
        self.log_alarm("WARN splitting and retrying (2)")

        assert ("", "WARN splitting and retrying (2)") == (before, self.host.renew(ME, 1).alarm)
        assert "WARN splitting and retrying (2)" == self.host.status().alarm
        assert "WARN splitting and retrying (2)" == self.host.stop(ME, 1, GRACE_S).alarm

    def test_fingerprint_names_the_versions(self) -> None:
        """A fingerprint tells Kafka's and Java's versions, whether or not anything was ever started."""
        launch = self.launch()
        facts = self.host.fingerprint(launch.kafka_home, launch.java_home).facts

        assert ("3.9.1", "17.0.1") == (facts["kafka"], facts["java"])

    def test_probe_disturbs_nothing(self) -> None:
        """A probe answers while another run's MirrorMaker runs, and leaves process and reservation as they are."""
        self.started()
        before = self.host.status()
        launch = self.launch()
        asked = HostProbe(ProbeSubject.HOST, names=("localhost",))
        of_host = self.host.probe(asked).facts
        of_kafka = self.host.probe(
            HostProbe(
                ProbeSubject.CLUSTERS,
                launch.kafka_home,
                launch.java_home,
                properties=dict.fromkeys(("source", "target"), "client.rack = b\n"),
            )
        ).facts

        assert int(of_host["free_kib"]) > 0
        assert int(of_host["open_files"]) > 0
        assert self.has_getent is of_host["names"].startswith("localhost 0 ")
        assert "0" == of_kafka["exit"]
        after = self.host.status()
        assert (before.pid, before.holder, True) == (after.pid, after.holder, after.is_running)

    def test_clean_keeps_the_newest_generations(self) -> None:
        """Folders of old generations go, but for the newest ones, of which the last one always is."""
        for generation in (1, 2, 3):
            self.started(generation)
            self.host.stop(ME, generation, 0)

        assert self.host.clean(ME, 2).ok
        assert [False, True, True] == [bool(self.host.logs(generation, 5).log) for generation in (1, 2, 3)]
        assert self.host.clean(ME, 0).ok
        assert [False, True] == [bool(self.host.logs(generation, 5).log) for generation in (2, 3)]
