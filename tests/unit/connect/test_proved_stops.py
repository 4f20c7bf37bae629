"""What a Connect cluster calls stopped counts as stopped once no worker may still run a task."""

from __future__ import annotations

import json

import pytest

from kafka_migration.adapters.connect.connect_process import ConnectProcess
from kafka_migration.core.connect.connect_config import ConnectLaunch, copier_name
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import FindingsError, MirrorFailed, Refused
from kafka_migration.core.mirror.mirror_process import ProcessState
from tests.contract.fake_connect import GROUP, STATUS_TOPIC, FakeConnect, Wrong, connect_in_memory
from tests.contract.process_contract import ME, codes

pytestmark = pytest.mark.unit

COPIER = copier_name("shop")
LAUNCH = ConnectLaunch({"topics": "orders", "tasks.max": "2"})
W1, W2 = "w1.test:8083", "w2.test:8083"


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch) -> FakeConnect:
    """Two workers in memory; their time passes only by waiting."""
    return connect_in_memory(monkeypatch)


@pytest.fixture
def process(connect: FakeConnect) -> ConnectProcess:
    """A process whose first generation runs, with one task on each worker."""
    made = connect.process("shop")
    made.reserve(ME)
    made.start(ME, 1, LAUNCH)
    return made


def unproved(process: ConnectProcess, generation: int = 1) -> FindingsError:
    """Return the error of a stop that nothing proves."""
    with pytest.raises(MirrorFailed) as error:
        process.stop(ME, generation, 0)
    assert {Code.MIRROR_NOT_STOPPED} == codes(error)
    return error.value


@pytest.mark.parametrize("state", ["paused", "starting"])
def test_stop_that_a_worker_does_not_prove_leaves_the_generation_running(
    connect: FakeConnect, process: ConnectProcess, state: str
) -> None:
    """Connect calls it stopped, but nothing is freed, started or called stopped as long as a worker may copy.

    What answers 404 to everything is a worker that starts, or a proxy without the worker behind it.
    """
    connect.become(W2, state)

    assert W2 in str(unproved(process))
    with pytest.raises(Refused, match=f"may still run on worker {W2}") as release:
        process.release(ME)
    with pytest.raises(Refused) as start:
        process.start(ME, 1, LAUNCH)

    assert {Code.ALREADY_RUNNING} == codes(release) == codes(start)
    assert ProcessState.RUNNING is process.status().state


def test_worker_that_answers_again_proves_the_stop(connect: FakeConnect, process: ConnectProcess) -> None:
    """A stop that was unknown is certified once the worker has ended its task."""
    connect.become(W2, "paused")
    unproved(process)
    connect.become(W2, "up")

    reply = process.stop(ME, 1, 0)

    assert (ProcessState.STOPPED, True) == (reply.state, reply.is_orderly)
    assert not process.release(ME).holder


def test_proved_stop_needs_no_worker_later(connect: FakeConnect, process: ConnectProcess) -> None:
    """A worker that was gone at the stop may have lost its address since: the next generation starts all the same."""
    connect.become(W2, "gone")
    reply = process.stop(ME, 1, 0)
    connect.become(W2, "paused")

    again = process.stop(ME, 1, 0)

    assert [(ProcessState.STOPPED, False)] * 2 == [(each.state, each.is_orderly) for each in (reply, again)]
    assert process.start(ME, 2, LAUNCH).is_running


def test_worker_of_the_connector_itself_may_be_gone(connect: FakeConnect, process: ConnectProcess) -> None:
    """Connect shows its stop only minutes later; what copies are its tasks, and they have ended."""
    connect.workers = {W2: "up", W1: "up"}
    other = connect.process("shop")
    connect.become(W1, "gone")

    reply = other.stop(ME, 1, 0)

    assert (ProcessState.STOPPED, 1, False) == (reply.state, reply.generation, reply.is_orderly)
    assert other.start(ME, 2, LAUNCH).is_running


@pytest.mark.parametrize(
    ("group", "is_member", "was_reached"), [(None, False, False), (GROUP, True, True), (GROUP, False, False)]
)
def test_refused_connection_alone_is_no_end(
    connect: FakeConnect, group: str | None, is_member: bool, was_reached: bool
) -> None:
    """It is one only if Airflow reached the worker there before, and if the worker has left its group.

    A worker that ends closes its REST interface first, may then run its tasks for a while, and leaves its group last.
    """
    connect.become(W2, "up" if was_reached else "cut")
    process = connect.process("shop", group=group)
    process.reserve(ME)
    process.start(ME, 1, LAUNCH)
    connect.become(W2, "gone")
    if is_member:
        connect.cluster.workers[GROUP] += (f"http://{W2}",)

    assert W2 in str(unproved(process))


def test_answer_of_an_address_that_two_workers_advertise_proves_nothing(
    connect: FakeConnect, process: ConnectProcess
) -> None:
    """Behind a balancer another worker may answer than the one that was asked."""
    connect.restart_task(COPIER, 1, W1)
    connect.connectors[COPIER].lives.clear()
    connect.cluster.workers[GROUP] = (f"http://{W1}", f"http://{W1}")

    assert W1 in str(unproved(process))


def test_row_of_a_worker_that_will_never_answer_can_be_written_by_hand(
    connect: FakeConnect, process: ConnectProcess
) -> None:
    """A machine that is gone for ever answers nothing; who knows that its worker has ended writes the worker's row."""
    connect.become(W2, "paused")
    unproved(process)
    row = {"state": "UNASSIGNED", "trace": None, "worker_id": W2, "generation": 1}
    connect.cluster.produce(STATUS_TOPIC, 0, (f"status-task-{COPIER}-1".encode(), json.dumps(row).encode()))

    assert ProcessState.STOPPED is process.stop(ME, 1, 0).state


def test_state_of_the_connector_before_is_no_word_about_this_one(connect: FakeConnect, process: ConnectProcess) -> None:
    """Until a connector has started, REST may show the state of the one before; it is told to stop all the same."""
    process.stop(ME, 1, 0)
    connect.is_slow = True
    old = '{"connector": {"state": "STOPPED", "worker_id": "w1.test:8083"}, "tasks": []}'
    connect.wrongs.append(Wrong("GET", "/status", 200, 200, old))
    process.start(ME, 2, LAUNCH)
    assert ProcessState.RUNNING is process.renew(ME, 2).state
    connect.events = [lambda: None, lambda: setattr(connect, "is_slow", False)]

    reply = process.stop(ME, 2, 0)

    assert (ProcessState.STOPPED, 2) == (reply.state, reply.generation)
    assert "STOPPED" == connect.connectors[COPIER].target


def test_missing_rows_may_be_of_any_worker(connect: FakeConnect, process: ConnectProcess) -> None:
    """A compaction may have removed the row of a task that runs on: each worker has to answer, or has its row."""
    connect.restart_task(COPIER, 1, W1)
    for number, log in enumerate(connect.cluster.topics[STATUS_TOPIC].partitions):
        kept = [at for at, (_, value) in log.visible(0) if W2.encode() not in (value or b"")]
        connect.cluster.compact(STATUS_TOPIC, number, *(at for at in range(log.end) if at not in kept))
    connect.become(W2, "paused")
    other = connect.process("shop")

    assert W2 in str(unproved(other))
    row = {"state": "UNASSIGNED", "trace": None, "worker_id": W2, "generation": 1}
    connect.cluster.produce(STATUS_TOPIC, 0, (f"status-task-{COPIER}-1".encode(), json.dumps(row).encode()))
    stopped = other.stop(ME, 1, 0)
    assert (ProcessState.STOPPED, True) == (stopped.state, stopped.resent)
