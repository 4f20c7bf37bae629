"""What every `MirrorHost` keeps, whatever it runs on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import FindingsError, MirrorFailed, Refused
from kafka_migration.core.mirror.host import HostProbe, MirrorHost, MirrorLaunch, ProbeSubject, ProcessState

ME = "kafka_migration__shop/manual__2026-01-01T00:00:00.5+00:00#1"
OTHER = "kafka_nightly_sync__shop/scheduled__2026-01-02T01:00:00+00:00#2"
GRACE_S = 20


def codes(error: pytest.ExceptionInfo[FindingsError]) -> set[Code]:
    """The codes of an error's findings."""
    return {finding.code for finding in error.value.findings}


class HostContract(ABC):
    """The contract; `host` is a new one, on which nothing was ever done."""

    host: MirrorHost
    # Without getent, a host cannot look up names.
    has_getent = True

    @abstractmethod
    def launch(self, behaviour: str = "serve") -> MirrorLaunch:
        """A launch whose process serves until TERM, ignores TERM (`ignore-term`), or ends at once (`exit`)."""

    @abstractmethod
    def kill_process(self) -> None:
        """Kill the last generation's process from outside, with exit code 137."""

    @abstractmethod
    def log_alarm(self, line: str) -> None:
        """Let the last generation's process log a line that holds an alarm of its launch."""

    def started(self, generation: int = 1, behaviour: str = "serve") -> None:
        """Reserve and start."""
        self.host.reserve(ME)
        self.host.start(ME, generation, self.launch(behaviour))

    def test_new_host_knows_nothing(self) -> None:
        """A migration that was never touched is free, at generation 0, with nothing running."""
        reply = self.host.status()

        assert (True, 0, ProcessState.NONE, "", None) == (
            reply.ok,
            reply.generation,
            reply.state,
            reply.holder,
            reply.pid,
        )

    def test_reservation_is_kept_for_its_holder(self) -> None:
        """A holder may reserve again; nobody else may, and the refusal names the holder."""
        self.host.reserve(ME)

        assert ME == self.host.reserve(ME).holder
        with pytest.raises(Refused, match="manual__2026") as error:
            self.host.reserve(OTHER)
        assert {Code.RESERVED_BY} == codes(error)

    def test_take_over_needs_the_exact_holder(self) -> None:
        """A reservation is taken over from exactly the holder named, and from nobody else."""
        self.host.reserve(ME)

        with pytest.raises(Refused) as error:
            self.host.reserve(OTHER, take_over_from=ME + "0")
        assert {Code.RESERVED_BY} == codes(error)
        assert OTHER == self.host.reserve(OTHER, take_over_from=ME).holder

    def test_release_frees_only_the_own_reservation(self) -> None:
        """Release frees the caller's reservation, is fine when nothing is held, and leaves another's alone."""
        self.host.release(ME)
        self.host.reserve(ME)
        with pytest.raises(Refused) as error:
            self.host.release(OTHER)

        assert {Code.RESERVED_BY} == codes(error)
        assert not self.host.release(ME).holder
        assert not self.host.release(ME).holder

    def test_release_waits_for_the_end(self) -> None:
        """Over a living process the reservation is not freed, as nobody would stop it then; after its end it is."""
        self.started()
        with pytest.raises(Refused) as error:
            self.host.release(ME)
        kept = self.host.status()
        self.host.stop(ME, 1, GRACE_S)

        assert {Code.ALREADY_RUNNING} == codes(error)
        assert (ME, True) == (kept.holder, kept.is_running)
        assert not self.host.release(ME).holder

    def test_start_needs_the_reservation(self) -> None:
        """Nothing starts for a run that does not hold the reservation."""
        self.host.reserve(OTHER)

        with pytest.raises(Refused) as error:
            self.host.start(ME, 1, self.launch())
        assert {Code.NOT_RESERVED} == codes(error)
        assert ProcessState.NONE is self.host.status().state

    def test_start_brings_a_living_process(self) -> None:
        """A start returns the living process, its generation and its lease."""
        self.host.reserve(ME)
        launch = self.launch()

        reply = self.host.start(ME, 1, launch)

        assert (1, True, False) == (reply.generation, reply.is_running, reply.adopted)
        assert reply.pid is not None
        assert reply.lease_remaining_s is not None
        assert 0 < reply.lease_remaining_s <= launch.lease_s

    def test_start_tried_again_adopts(self) -> None:
        """The same start again finds its own process and starts nothing."""
        self.started()
        first = self.host.status()

        again = self.host.start(ME, 1, self.launch())

        assert again.adopted
        assert (first.pid, first.generation) == (again.pid, again.generation)

    def test_there_are_never_two(self) -> None:
        """While a process lives, no other generation starts, and no other holder starts this one."""
        self.started()
        with pytest.raises(Refused) as next_generation:
            self.host.start(ME, 2, self.launch())
        self.host.reserve(OTHER, take_over_from=ME)
        with pytest.raises(Refused) as other_holder:
            self.host.start(OTHER, 1, self.launch())

        assert {Code.ALREADY_RUNNING} == codes(next_generation) == codes(other_holder)

    @pytest.mark.parametrize("generation", [0, 2, 7])
    def test_generations_follow_each_other(self, generation: int) -> None:
        """A start with any number but the next is refused, with what the host is at."""
        self.host.reserve(ME)

        with pytest.raises(Refused) as error:
            self.host.start(ME, generation, self.launch())
        assert codes(error) <= {Code.GENERATION_UNEXPECTED, Code.GENERATION_STOPPED}

    def test_stop_ends_the_process_for_good(self) -> None:
        """A stopped generation is not alive, says how it ended, and never starts again; the next one may."""
        self.started()

        reply = self.host.stop(ME, 1, GRACE_S)

        assert (ProcessState.STOPPED, 1, 143, "stopped", False) == (
            reply.state,
            reply.generation,
            reply.exit_code,
            reply.exit_reason,
            reply.killed,
        )
        assert reply.log
        with pytest.raises(Refused) as error:
            self.host.start(ME, 1, self.launch())
        assert {Code.GENERATION_STOPPED} == codes(error)
        assert self.host.start(ME, 2, self.launch()).is_running

    def test_stop_again_tells_the_same(self) -> None:
        """Stopping what is stopped changes nothing and returns what was recorded."""
        self.started()
        first = self.host.stop(ME, 1, GRACE_S)

        again = self.host.stop(ME, None, GRACE_S)

        assert (first.exit_code, first.state, first.generation) == (again.exit_code, again.state, again.generation)

    def test_stop_before_start_leaves_a_tombstone(self) -> None:
        """A generation stopped before it started does not start; its reply is about the last real one."""
        self.host.reserve(ME)

        reply = self.host.stop(ME, 1, GRACE_S)

        assert (0, False) == (reply.generation, reply.is_running)
        with pytest.raises(Refused) as error:
            self.host.start(ME, 1, self.launch())
        assert {Code.GENERATION_STOPPED} == codes(error)
        assert self.host.start(ME, 2, self.launch()).is_running

    def test_stop_of_a_later_generation_ends_the_last_one(self) -> None:
        """A stop bars all generations up to its own, so none of them lives on, and the next after it may start."""
        self.started()

        reply = self.host.stop(ME, 2, GRACE_S)

        assert (ProcessState.STOPPED, 1) == (reply.state, reply.generation)
        assert self.host.start(ME, 3, self.launch()).is_running

    def test_stop_needs_no_reservation_but_respects_one(self) -> None:
        """Stop works on a free migration; where another run holds it, it does not, and the process lives on."""
        self.started()
        self.host.reserve(OTHER, take_over_from=ME)
        with pytest.raises(Refused) as error:
            self.host.stop(ME, 1, GRACE_S)
        kept = self.host.status()
        self.kill_process()
        self.host.release(OTHER)

        assert {Code.RESERVED_BY} == codes(error)
        assert (ProcessState.RUNNING, ProcessState.DEAD) == (kept.state, self.host.status().state)
        assert ProcessState.STOPPED is self.host.stop(ME, 1, GRACE_S).state

    def test_process_that_ignores_term_is_killed(self) -> None:
        """What does not end within the grace time is killed, and the reply says so, now and later."""
        self.started(behaviour="ignore-term")

        reply = self.host.stop(ME, 1, 1)

        assert (ProcessState.STOPPED, True, 137) == (reply.state, reply.killed, reply.exit_code)
        assert self.host.stop(ME, 1, 1).killed

    def test_death_is_seen(self) -> None:
        """A process that ended by itself is dead, with its exit code; it is not started again by the host."""
        self.started()
        self.kill_process()

        reply = self.host.renew(ME, 1)

        assert (ProcessState.DEAD, 137, None) == (reply.state, reply.exit_code, reply.pid)
        assert self.host.start(ME, 2, self.launch()).is_running

    def test_process_that_ends_at_once_fails_the_start(self) -> None:
        """A start whose process does not live fails with the log's end; its generation is used up and dead."""
        self.host.reserve(ME)

        with pytest.raises(MirrorFailed) as error:
            self.host.start(ME, 1, self.launch("exit"))
        found = self.host.status()
        assert {Code.MIRROR_DEAD} == codes(error)
        assert (1, ProcessState.DEAD, "ended") == (found.generation, found.state, found.exit_reason)
        assert self.host.start(ME, 2, self.launch()).is_running

    def test_renew_needs_reservation_and_generation(self) -> None:
        """Only the holder renews, and only the generation that runs."""
        self.started()
        with pytest.raises(Refused) as holder:
            self.host.renew(OTHER, 1)
        with pytest.raises(Refused) as generation:
            self.host.renew(ME, 2)

        assert {Code.NOT_RESERVED} == codes(holder)
        assert {Code.GENERATION_UNEXPECTED} == codes(generation)
        assert self.host.renew(ME, 1).is_running

    def test_logs_are_there_while_it_runs(self) -> None:
        """The log of a living generation can be read."""
        self.started()

        assert self.host.logs(None, 10).log

    def test_file_name_must_stay_below(self) -> None:
        """A launch whose file would leave the generation's directory is not sent."""
        self.host.reserve(ME)

        with pytest.raises(ValueError, match="file name"):
            self.host.start(ME, 1, replace(self.launch(), files={"../x": ""}))

    def test_stop_without_grace_is_a_kill(self) -> None:
        """With a grace time of 0 the process gets no TERM, so that it does nothing in a shutdown hook."""
        self.started()

        reply = self.host.stop(ME, 1, 0)

        assert (ProcessState.STOPPED, True, 137) == (reply.state, reply.killed, reply.exit_code)

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
                ProbeSubject.BROKERS,
                launch.kafka_home,
                launch.java_home,
                bootstrap="b:1",
                properties="client.rack = b\n",
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

    def test_clean_respects_a_reservation(self) -> None:
        """Nothing is removed where another run holds the reservation."""
        self.started()
        self.host.reserve(OTHER, take_over_from=ME)

        with pytest.raises(Refused) as error:
            self.host.clean(ME, 1)
        assert {Code.RESERVED_BY} == codes(error)
