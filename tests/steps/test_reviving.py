"""Rules of restarting a dead MirrorMaker; each poll is that of a new trigger."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from kafka_migration.adapters.store.evidence_store import RunEvidence
from kafka_migration.adapters.store.ledger_store import LedgerStore
from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import MirrorFailed, Refused, TransientError
from kafka_migration.steps.mirror.start_stop import Reviver
from tests.contract.fake_cluster import FakeCluster
from tests.contract.fake_mirror_host import FakeMirrorHost
from tests.steps.clock import FakeClock
from tests.steps.world import P0, World


@pytest.fixture
def dead(world: World, clock: FakeClock) -> World:
    """A run whose first generation has copied one of two records and died."""
    world.source.produce("orders", 0, (b"a", b"1"), (b"b", b"2"))
    world.start()
    world.mirror({P0: 1})
    world.host.log = "java.lang.OutOfMemoryError"
    world.host.die(3)
    return world


def poll(world: World) -> str:
    """Poll as a new watcher does; return what it waits for, nothing if MirrorMaker runs."""
    reviver = Reviver(world.run)
    reply = reviver.renew(reviver.newest().number)
    return "" if reply.is_running else reviver.step(reply, {})


def later(world: World, clock: FakeClock, seconds: float) -> str:
    clock.elapsed_s += seconds
    return poll(world)


def codes(error: pytest.ExceptionInfo[Any]) -> list[str]:
    return [str(finding.code) for finding in error.value.findings]


def test_dead_mirrormaker_is_started_again_after_a_pause(dead: World, clock: FakeClock) -> None:
    """A death is recorded at once; after the pause the dead generation is certified, and the next one starts there."""
    assert "it is started again in 5 s" in poll(dead)
    assert "it is started again in 1 s" in later(dead, clock, 4)
    assert (1, ["exit code 3, ended"]) == (
        len(dead.ledger.generations),
        [d["reason"] for d in dead.run.evidence.of_attempt(Kind.RESTART)],
    )

    assert "started again as generation 2" == later(dead, clock, 1)
    first, second = dead.ledger.generations
    assert first.stop is not None
    assert "died (exit code 3, ended)" == first.stop.reason
    assert (1, 1) == (first.stop.mirror_positions[P0], second.start.mirror_positions[P0])
    assert "" == poll(dead)


def test_pauses_grow_until_it_is_left_dead(dead: World, clock: FakeClock) -> None:
    """After `mirror.restarts` (3) restarts the next death fails the watch, with every death in the finding."""
    for pause_s in (5, 15, 45):
        assert f"again in {pause_s} s" in poll(dead)
        assert "started again" in later(dead, clock, pause_s)
        dead.host.die(3)

    with pytest.raises(MirrorFailed) as error:
        poll(dead)
    assert ["MIRROR_DEAD"] == codes(error)
    assert 4 == error.value.findings[0].found.count("exit code 3")
    assert "OutOfMemoryError" in error.value.findings[0].found


def test_death_at_the_start_counts(dead: World, clock: FakeClock) -> None:
    """A process that ends at its start counts as a generation and as a restart."""
    dead.host.dies_at_start = True
    poll(dead)

    assert "generation 2 ended at its start" == later(dead, clock, 5)
    assert "again in 15 s" in poll(dead)
    assert "generation 3 ended at its start" == later(dead, clock, 15)
    assert [3, 1] == [g.stop.exit_code for g in dead.ledger.generations if g.stop]


class Crash(BaseException):
    """The triggerer is gone."""


STEPS = [
    (RunEvidence, "write", 1),
    (FakeMirrorHost, "stop", 1),
    (LedgerStore, "append", 1),
    (FakeCluster, "delete_topics", 1),
    (LedgerStore, "append", 2),
    (FakeMirrorHost, "start", 1),
]


@contextmanager
def crash_at(owner: type, name: str, call: int, *, done: bool) -> Iterator[None]:
    """Let the n-th call of a method be the last thing that happens, or the first that does not."""
    real, calls = getattr(owner, name), [0]

    def crashing(*arguments: Any, **more: Any) -> Any:
        calls[0] += 1
        result = real(*arguments, **more) if done or calls[0] != call else None
        if calls[0] == call:
            raise Crash
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, crashing)
        with pytest.raises(Crash):
            yield


@pytest.mark.parametrize("done", [False, True])
@pytest.mark.parametrize(("owner", "name", "call"), STEPS)
def test_restart_that_is_cut_short_is_finished_by_another_trigger(
    dead: World, clock: FakeClock, owner: type, name: str, call: int, done: bool
) -> None:
    """After a crash before or after any step, another trigger leaves one process, and certifies all earlier ones."""
    with crash_at(owner, name, call, done=done):
        poll(dead)
        later(dead, clock, 5)

    for _ in range(3):
        later(dead, clock, 5)

    *ended, living = dead.ledger.generations
    assert "" == poll(dead)
    assert living.stop is None
    assert [living.number] == [n for n, process in dead.host.processes.items() if process.exit_code is None]
    assert [True] * len(ended) == [g.stop is not None for g in ended]
    assert [1] * (len(ended) + 1) == [g.start.mirror_positions[P0] for g in (*ended[1:], living, living)]
    assert 1 == len(dead.run.evidence.of_attempt(Kind.RESTART))


def test_start_that_did_not_reach_the_host_is_certified_as_such(dead: World, clock: FakeClock) -> None:
    """A start that did not reach the host counts as a generation but not as a death."""
    poll(dead)
    with crash_at(FakeMirrorHost, "start", 1, done=False):
        later(dead, clock, 5)

    assert "started again as generation 3" == poll(dead)
    stop = dead.ledger.generations[1].stop
    assert stop is not None
    assert (True, None, "its start was cut short; never started") == (stop.graceful, stop.exit_code, stop.reason)


def test_stopped_on_purpose_is_not_started_again(dead: World) -> None:
    """A MirrorMaker that was stopped on request is not restarted, and fails the watch."""
    dead.host.stop(dead.run.identity.holder, 1, 90)

    with pytest.raises(MirrorFailed, match="Generation 1 of MirrorMaker was stopped on request") as error:
        poll(dead)
    assert ["MIRROR_DEAD"] == codes(error)
    assert [1] == [g.number for g in dead.ledger.generations]


def test_cleared_watch_starts_again_what_was_stopped_under_it(dead: World, clock: FakeClock) -> None:
    """Clearing a watch stops its MirrorMaker; the next attempt starts a generation of its own."""
    dead.host.stop(dead.run.identity.holder, 1, 90)
    dead.dag_run.clear_number = 1
    dead.do("reserve")
    poll(dead)

    assert "started again as generation 2" == later(dead, clock, 5)
    assert [dead.run.identity.holder] == [g.start.run for g in dead.ledger.generations[1:]]


def test_gap_forbids_a_restart(dead: World, clock: FakeClock) -> None:
    """If the source deletes uncopied records while MirrorMaker is dead, it is certified but not restarted."""
    poll(dead)
    dead.source.produce("orders", 0, (b"c", b"3"))
    dead.source.purge("orders", 0, 2)

    with pytest.raises(Refused, match=r"GAP · orders\[0\].*offsets 1–1"):
        later(dead, clock, 5)
    (only,) = dead.ledger.generations
    assert only.stop is not None
    assert {P0: (1, 2)} == only.stop.gaps


def test_end_that_cannot_be_certified_yet_waits(dead: World, clock: FakeClock) -> None:
    """While a cluster does not answer, nothing is certified or started, and no death is counted."""
    poll(dead)
    dead.target.is_down = True
    with pytest.raises(TransientError):
        later(dead, clock, 5)
    assert dead.ledger.generations[0].stop is None

    dead.target.is_down = False
    assert "started again as generation 2" == poll(dead)


def test_trigger_of_an_attempt_that_lost_the_reservation_starts_nothing(dead: World) -> None:
    """A trigger whose attempt does not hold the reservation any more does nothing."""
    dead.host.holder = "kafka_migration__shop/other#1"

    with pytest.raises(Refused) as error:
        poll(dead)
    assert ["NOT_RESERVED"] == codes(error)
    assert ["renew"] == dead.host.calls[-1:]


def test_start_cut_short_does_not_permit_another_run_to_act(dead: World, clock: FakeClock) -> None:
    """A generation that the host does not know is restarted only by the holder of the reservation."""
    poll(dead)
    with crash_at(FakeMirrorHost, "start", 1, done=False):
        later(dead, clock, 5)
    dead.host.holder = "kafka_migration__shop/other#1"

    with pytest.raises(Refused) as error:
        poll(dead)
    assert ["NOT_RESERVED"] == codes(error)


def test_start_refused_by_the_host_ends_the_watch(dead: World, clock: FakeClock) -> None:
    """A start that the host refuses fails the watch with the host's finding."""
    poll(dead)
    dead.host.refuse_start = Code.ALREADY_RUNNING

    with pytest.raises(Refused) as error:
        later(dead, clock, 5)
    assert ["ALREADY_RUNNING"] == codes(error)
