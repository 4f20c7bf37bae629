"""Rules of waiting for a reservation that another run holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from airflow.sdk.exceptions import TaskDeferred

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.errors import Finding, Refused, TransientError
from kafka_migration.core.ledger.cutovers import CutOver
from kafka_migration.core.migration.settings import Phase
from kafka_migration.core.mirror.host import HostReply
from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.orchestration.task.failures import FailedForGood
from kafka_migration.orchestration.triggers import reservation
from tests.airflow.driving import deferred_by, event_of, let_time_pass, revived
from tests.airflow.world import World
from tests.steps.clock import FakeClock
from tests.steps.kept import DAG_ID
from tests.steps.nights import at_night, begin

HOLDER = f"{DAG_ID}/manual__1#1"


@pytest.fixture
def clock(world: World) -> FakeClock:
    """The clock of a nightly run at whose start an active manual run holds the reservation."""
    clock = at_night(world)
    reserved(world)
    begin(world, clock)
    return clock


def reserved(world: World) -> None:
    world.host.reserve(HOLDER)
    world.task_instance.run_states["manual__1"] = "running"


def wait(world: World) -> TaskDeferred:
    world.do("preflight")
    return wait_again(world)


def wait_again(world: World) -> TaskDeferred:
    return deferred_by(world.task("reserve"), world.context())


def woken(world: World) -> Any:
    return world.task("reserve").try_again(world.context(), {"holder": ""})


def test_scheduled_run_waits_and_then_reserves(world: World, clock: FakeClock) -> None:
    """A scheduled run waits while the holder is active, records the holder, and reserves when it is free."""
    deferral = wait(world)
    world.host.release(HOLDER)

    assert "try_again" == deferral.method_name
    assert timedelta(hours=4, minutes=10) == deferral.timeout
    assert {"holder": world.run.identity.holder, "taken_over_from": None} == woken(world)
    (document,) = world.run.evidence.of_attempt(Kind.WAIT)
    assert (HOLDER, "2030-01-01T05:00:00+00:00") == (document["holder"], document["until"])


def test_waiting_run_takes_over_once_the_holders_run_is_over(world: World, clock: FakeClock) -> None:
    """A reservation that an ended run did not free is taken over when the task looks again."""
    wait(world)
    world.task_instance.run_states["manual__1"] = "failed"

    assert HOLDER == woken(world)["taken_over_from"]


def test_waiting_has_an_end(world: World, clock: FakeClock) -> None:
    """After `wait_limit` the run fails with the holder and its waiting time, and a retry does not wait again."""
    wait(world)
    clock.elapsed_s += 2 * 3600
    again = wait_again(world)
    clock.elapsed_s += 2 * 3600

    assert timedelta(hours=2, minutes=10) == again.timeout
    with pytest.raises(
        FailedForGood,
        match=rf"RESERVED_BY · .*{HOLDER} still held the reservation of migration shop after this run had waited 4h00m",
    ):
        woken(world)
    assert ["RESERVED_BY"] == world.refusal_codes
    assert 1 == len(world.run.evidence.of_attempt(Kind.WAIT))


@pytest.mark.parametrize("run_type", ["scheduled", "backfill"])
def test_run_that_waited_for_a_cutover_is_refused(world: World, clock: FakeClock, run_type: str) -> None:
    """A run that waited while another one cut over is refused by its plan."""
    begin(world, clock, run_type=run_type)
    wait(world)
    world.run.ledger.append(CutOver(HOLDER, "then", ("billing",), ("orders", "audit"), partly=False).to_document())
    world.host.release(HOLDER)
    woken(world)

    world.refuses("plan", match="ALREADY_CUT_OVER")

    assert ["ALREADY_CUT_OVER"] == world.refusal_codes
    assert (None, "start" in world.host.calls) == (world.run.evidence.newest(Kind.PLAN), False)
    assert Phase.CUT_OVER is world.ledger.phase


@pytest.mark.parametrize("run_type", ["manual", "scheduled"])
def test_run_that_does_not_wait_is_refused_at_once(world: World, run_type: str) -> None:
    """A manual run, and a scheduled one with `when_reserved: leave`, fail at once."""
    clock = at_night(world, "  when_reserved: leave\n")
    reserved(world)
    if run_type == "manual":
        world.dag_run.run_id, world.params = "manual__2", {"mode": "sync"}
    else:
        begin(world, clock)
    world.do("preflight")

    world.refuses("reserve", match="RESERVED_BY")


def test_backfill_waits_whatever_the_file_says(world: World) -> None:
    """A backfill run waits whatever the file says, so that several run one after the other."""
    clock = at_night(world, "  when_reserved: leave\n")
    reserved(world)
    begin(world, clock, hour=12, run_type="backfill")

    assert timedelta(hours=4, minutes=10) == wait(world).timeout


def test_reservation_freed_while_looking_is_taken(
    world: World, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reservation that is freed between the refusal and the look at its holder is taken, not taken over."""
    status = world.host.status

    def freed_by_now() -> HostReply:
        world.host.holder = ""
        return status()

    world.do("preflight")
    monkeypatch.setattr(world.host, "status", freed_by_now)

    assert world.do("reserve")["taken_over_from"] is None


def test_faster_run_is_waited_for_in_its_turn(world: World, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """If another run takes over from an ended holder first, the run waits for it."""
    world.do("preflight")
    world.task_instance.run_states |= {"manual__1": "failed", "manual__2": "running"}
    take = world.host.reserve

    def overtaken(holder: str, take_over_from: str | None = None) -> HostReply:
        if take_over_from == HOLDER:
            take(f"{DAG_ID}/manual__2#1", take_over_from)
        return take(holder, take_over_from)

    monkeypatch.setattr(world.host, "reserve", overtaken)

    assert f"{DAG_ID}/manual__2#1" == wait_again(world).trigger.holder


def trigger_of(
    world: World,
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
    meanwhile: Any,
    wait: Callable[[World], TaskDeferred] = wait,
) -> Any:
    """Return the event of a waiting run's trigger, which another triggerer has revived; it polls every second."""
    deferral = wait(world)
    let_time_pass(monkeypatch, reservation, clock, meanwhile)
    return event_of(revived(deferral.trigger))


@pytest.mark.parametrize("holder", ["", f"{DAG_ID}/manual__2#1"])
def test_trigger_fires_when_the_holder_changes(
    world: World, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, holder: str
) -> None:
    """The trigger fires when the reservation is free or has another holder."""
    began_s = clock.elapsed_s

    def change() -> None:
        if clock.elapsed_s >= began_s + 5:
            world.host.holder = holder

    assert {"holder": holder} == trigger_of(world, clock, monkeypatch, change)
    assert began_s + 5 == clock.elapsed_s


def test_trigger_lets_the_task_look_every_minute(
    world: World, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The trigger wakes the task every minute, because only a task can ask Airflow for the holder's state."""
    began_s = clock.elapsed_s

    assert {"holder": HOLDER} == trigger_of(world, clock, monkeypatch, lambda: None)
    assert began_s + reservation.LOOK_AGAIN_S == clock.elapsed_s


def test_host_that_does_not_answer_is_not_free(world: World, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the host does not answer, the wait continues until the deadline."""
    began_s = clock.elapsed_s

    def away() -> None:
        if clock.elapsed_s < began_s + 600:
            world.host.errors = [TransientError("no route to host")]

    assert {"holder": HOLDER} == trigger_of(world, clock, monkeypatch, away)
    assert began_s + 600 == clock.elapsed_s

    def gone() -> None:
        world.host.errors = [TransientError("no route to host")]

    assert {"holder": None} == trigger_of(world, clock, monkeypatch, gone, wait_again)
    assert datetime(2030, 1, 1, 5, tzinfo=UTC) == clock.now()


def test_host_that_refuses_is_left_to_the_task(world: World, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal of the host ends the wait, so that the task reports it."""
    finding = Finding.from_document(
        {"code": "SSH_HOST_KEY_CHANGED", "subject": "s", "found": "f", "expected": "e", "remedy": "r"}
    )

    def refuse() -> None:
        world.host.errors = [Refused([finding])]

    assert "SSH_HOST_KEY_CHANGED" in trigger_of(world, clock, monkeypatch, refuse)["holder"]


STRANGERS = [
    "alice",
    "a/b",
    "a/b#",
    "a/b#x",
    "a/b#٣",
    "#/",
    "a/b#-1",
    "a/b#1\x1b[2J",
    '{"holder": 1}',
    "x" * 100_000,
    "a/" + "9" * 5000,
]


@pytest.mark.parametrize("holder", STRANGERS, ids=range(len(STRANGERS)))
def test_reservation_of_a_stranger_is_refused(world: World, holder: str) -> None:
    """A holder that is no run, as of a person who reserved by hand, is refused at once by name, also by a night."""
    clock = at_night(world)
    begin(world, clock)
    world.do("preflight")
    world.host.holder = holder

    world.refuses("reserve", match="RESERVED_BY .*which is no run of Airflow")

    (refusal,) = world.run.evidence.of_attempt(Stored.REFUSAL)
    found = refusal.findings[0].found
    assert (True, True) == (found.isprintable(), len(found) < 500)


def test_host_that_names_ever_other_ended_runs_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """After three take-overs that did not bring the reservation, the host's answer is refused by its code."""
    world.do("preflight")
    ended = (f"{DAG_ID}/manual__{number}#1" for number in range(2, 1000))
    reserve, asked = world.host.reserve, []

    def named(holder: str, take_over_from: str | None = None) -> HostReply:
        asked.append(take_over_from)
        world.host.holder = next(ended)
        world.task_instance.run_states[world.host.holder.partition("/")[2][:-2]] = "failed"
        return reserve(holder, take_over_from)

    monkeypatch.setattr(world.host, "reserve", named)

    world.refuses("reserve", match="RESERVED_BY .*tried to take the reservation over 3 times; each time")

    assert 4 == len(asked)


def test_host_that_refuses_a_free_reservation_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that says each time that the migration is reserved, and then that it is free, is refused by its code."""
    world.do("preflight")
    world.host.holder = f"{DAG_ID}/manual__2#1"
    status = world.host.status
    monkeypatch.setattr(world.host, "status", lambda: replace(status(), holder=""))

    world.refuses("reserve", match="RESERVED_BY .*tried to take the reservation over 3 times; each time")
