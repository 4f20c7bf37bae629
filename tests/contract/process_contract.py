"""What every `MirrorProcess` keeps, whatever copies and wherever it runs. A new adapter inherits this suite.

What is about hosts, their logs and Java is in `host_contract`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import FindingsError, MirrorFailed, Refused
from kafka_migration.core.mirror.mirror_process import AnyProcess, ProcessState

ME = "kafka_migration__shop/manual__2026-01-01T00:00:00.5+00:00#1"
OTHER = "kafka_nightly_sync__shop/scheduled__2026-01-02T01:00:00+00:00#2"
GRACE_S = 20


def codes(error: pytest.ExceptionInfo[FindingsError]) -> set[Code]:
    """The codes of an error's findings."""
    return {finding.code for finding in error.value.findings}


class ProcessContract(ABC):
    """The contract; `process` is a new one, of which nothing was ever started."""

    process: AnyProcess

    @abstractmethod
    def launch(self, behaviour: str = "serve") -> Any:
        """A launch whose process serves until it is stopped, ignores that (`ignore-term`), or ends at once (`exit`)."""

    @abstractmethod
    def kill_process(self) -> None:
        """Kill the last generation's process from outside."""

    def free(self) -> None:
        """Free the reservation of another run, whose process must be dead for that."""
        self.kill_process()
        self.process.release(OTHER)
        assert ProcessState.DEAD is self.process.status().state

    def make_way(self) -> bool:
        """Do what a place needs between a death and the next start; where a dead process is gone, that is nothing."""
        return True

    def started(self, generation: int = 1, behaviour: str = "serve") -> None:
        """Reserve and start."""
        self.process.reserve(ME)
        self.process.start(ME, generation, self.launch(behaviour))

    def test_new_host_knows_nothing(self) -> None:
        """A migration that was never touched is free, at generation 0, with nothing running."""
        reply = self.process.status()

        assert (0, ProcessState.NONE, "", False) == (reply.generation, reply.state, reply.holder, reply.is_running)

    def test_reservation_is_kept_for_its_holder(self) -> None:
        """A holder may reserve again; any other run is refused, and the refusal names the holder."""
        self.process.reserve(ME)

        assert ME == self.process.reserve(ME).holder
        with pytest.raises(Refused, match="manual__2026") as error:
            self.process.reserve(OTHER)
        assert {Code.RESERVED_BY} == codes(error)

    def test_take_over_needs_the_exact_holder(self) -> None:
        """A reservation is taken over only from exactly the holder named."""
        self.process.reserve(ME)

        with pytest.raises(Refused) as error:
            self.process.reserve(OTHER, take_over_from=ME + "0")
        assert {Code.RESERVED_BY} == codes(error)
        assert OTHER == self.process.reserve(OTHER, take_over_from=ME).holder

    def test_release_frees_only_the_own_reservation(self) -> None:
        """Release frees the caller's reservation, is fine when nothing is held, and leaves another's alone."""
        self.process.release(ME)
        self.process.reserve(ME)
        with pytest.raises(Refused) as error:
            self.process.release(OTHER)

        assert {Code.RESERVED_BY} == codes(error)
        assert not self.process.release(ME).holder
        assert not self.process.release(ME).holder

    def test_release_waits_for_the_end(self) -> None:
        """The reservation is not freed while the process lives: no run would stop it then. After its end it is."""
        self.started()
        with pytest.raises(Refused) as error:
            self.process.release(ME)
        kept = self.process.status()
        self.process.stop(ME, 1, GRACE_S)

        assert {Code.ALREADY_RUNNING} == codes(error)
        assert (ME, True) == (kept.holder, kept.is_running)
        assert not self.process.release(ME).holder

    def test_start_needs_the_reservation(self) -> None:
        """Nothing starts for a run that does not hold the reservation."""
        self.process.reserve(OTHER)

        with pytest.raises(Refused) as error:
            self.process.start(ME, 1, self.launch())
        assert {Code.NOT_RESERVED} == codes(error)
        assert ProcessState.NONE is self.process.status().state

    def test_start_brings_a_living_process(self) -> None:
        """A start returns the living process and its generation."""
        self.process.reserve(ME)

        reply = self.process.start(ME, 1, self.launch())

        assert (1, True, False) == (reply.generation, reply.is_running, reply.adopted)

    def test_start_tried_again_adopts(self) -> None:
        """The same start again finds its own process and starts nothing."""
        self.started()
        first = self.process.status()

        again = self.process.start(ME, 1, self.launch())

        assert again.adopted
        assert (first.pid, first.generation) == (again.pid, again.generation)

    def test_there_are_never_two(self) -> None:
        """While a process lives, no other generation starts, and no other holder starts this one."""
        self.started()
        with pytest.raises(Refused) as next_generation:
            self.process.start(ME, 2, self.launch())
        self.process.reserve(OTHER, take_over_from=ME)
        with pytest.raises(Refused) as other_holder:
            self.process.start(OTHER, 1, self.launch())

        assert {Code.ALREADY_RUNNING} == codes(next_generation) == codes(other_holder)

    def test_stop_ends_the_process_for_good(self) -> None:
        """A stopped generation is not alive, says how it ended, and never starts again; the next one may."""
        self.started()

        reply = self.process.stop(ME, 1, GRACE_S)

        assert (ProcessState.STOPPED, 1) == (reply.state, reply.generation)
        assert ("stopped", False) == (reply.exit_reason, reply.killed)
        with pytest.raises(Refused) as error:
            self.process.start(ME, 1, self.launch())
        assert {Code.GENERATION_STOPPED} == codes(error)
        assert self.process.start(ME, 2, self.launch()).is_running

    def test_stop_again_tells_the_same(self) -> None:
        """Stopping what is stopped changes nothing and returns what was recorded."""
        self.started()
        first = self.process.stop(ME, 1, GRACE_S)

        again = self.process.stop(ME, None, GRACE_S)

        assert (first.exit_code, first.state, first.generation) == (again.exit_code, again.state, again.generation)

    def test_stop_before_start_leaves_a_tombstone(self) -> None:
        """A generation stopped before it started does not start; its reply is about the last real one."""
        self.process.reserve(ME)

        reply = self.process.stop(ME, 1, GRACE_S)

        assert (0, False) == (reply.generation, reply.is_running)
        with pytest.raises(Refused) as error:
            self.process.start(ME, 1, self.launch())
        assert {Code.GENERATION_STOPPED} == codes(error)
        assert self.process.start(ME, 2, self.launch()).is_running

    def test_stop_of_a_later_generation_ends_the_last_one(self) -> None:
        """A stop bars all generations up to its own, so none of them lives on, and the next after it may start."""
        self.started()

        reply = self.process.stop(ME, 2, GRACE_S)

        assert (ProcessState.STOPPED, 1) == (reply.state, reply.generation)
        assert self.process.start(ME, 3, self.launch()).is_running

    def test_stop_needs_no_reservation_but_respects_one(self) -> None:
        """Stop works on a free migration; where another run holds it, it does not, and the process lives on."""
        self.started()
        self.process.reserve(OTHER, take_over_from=ME)
        with pytest.raises(Refused) as error:
            self.process.stop(ME, 1, GRACE_S)
        kept = self.process.status()
        self.free()

        assert {Code.RESERVED_BY} == codes(error)
        assert ProcessState.RUNNING is kept.state
        assert ProcessState.STOPPED is self.process.stop(ME, 1, GRACE_S).state

    def test_death_is_seen(self) -> None:
        """A process that ended by itself is dead, and is not started again without a request."""
        self.started()
        self.kill_process()

        reply = self.process.renew(ME, 1)

        assert (ProcessState.DEAD, "ended", None) == (reply.state, reply.exit_reason, reply.pid)
        assert self.process.start(ME, 2, self.launch()).is_running

    def test_process_that_ends_at_once_fails_the_start(self) -> None:
        """A start whose process does not live fails; its generation is used up and dead."""
        self.process.reserve(ME)

        with pytest.raises(MirrorFailed) as error:
            self.process.start(ME, 1, self.launch("exit"))
        found = self.process.status()
        assert {Code.MIRROR_DEAD} == codes(error)
        assert (1, ProcessState.DEAD, True) == (found.generation, found.state, bool(found.exit_reason))
        assert self.make_way()
        assert self.process.start(ME, 2, self.launch()).is_running

    def test_renew_needs_reservation_and_generation(self) -> None:
        """Only the holder renews, and only the generation that runs."""
        self.started()
        with pytest.raises(Refused) as holder:
            self.process.renew(OTHER, 1)
        with pytest.raises(Refused) as generation:
            self.process.renew(ME, 2)

        assert {Code.NOT_RESERVED} == codes(holder)
        assert {Code.GENERATION_UNEXPECTED} == codes(generation)
        assert self.process.renew(ME, 1).is_running

    def test_clean_respects_a_reservation(self) -> None:
        """Nothing is removed where another run holds the reservation."""
        self.started()
        self.process.reserve(OTHER, take_over_from=ME)

        with pytest.raises(Refused) as error:
            self.process.clean(ME, 1)
        assert {Code.RESERVED_BY} == codes(error)

    def test_clean_keeps_the_state(self) -> None:
        """What is kept of old generations goes; the state, and which generation comes next, stay."""
        for generation in (1, 2, 3):
            self.started(generation)
            self.process.stop(ME, generation, 0)

        self.process.clean(ME, 0)

        reply = self.process.status()
        assert (3, ProcessState.STOPPED, ME) == (reply.generation, reply.state, reply.holder)
        assert self.process.start(ME, 4, self.launch()).is_running

    def test_closed_connection_is_opened_again(self) -> None:
        """A call after `close` is answered as before."""
        self.started()
        self.process.close()

        assert self.process.status().is_running


class KillingContract(ProcessContract):
    """A place that remembers every generation by itself, and can end a process by force."""

    @pytest.mark.parametrize("generation", [0, 2, 7])
    def test_generations_follow_each_other(self, generation: int) -> None:
        """A start with any number but the next is refused, with what the host is at."""
        self.process.reserve(ME)

        with pytest.raises(Refused) as error:
            self.process.start(ME, generation, self.launch())
        assert codes(error) <= {Code.GENERATION_UNEXPECTED, Code.GENERATION_STOPPED}

    def test_process_that_does_not_end_is_killed(self) -> None:
        """What does not end within the grace time is ended by force, and the reply says so, now and later."""
        self.started(behaviour="ignore-term")

        reply = self.process.stop(ME, 1, 1)

        assert (ProcessState.STOPPED, True) == (reply.state, reply.killed)
        assert self.process.stop(ME, 1, 1).killed

    def test_stop_without_grace_is_a_kill(self) -> None:
        """With a grace time of 0 the process is ended by force at once, so that it stores nothing more."""
        self.started()

        reply = self.process.stop(ME, 1, 0)

        assert (ProcessState.STOPPED, True) == (reply.state, reply.killed)
