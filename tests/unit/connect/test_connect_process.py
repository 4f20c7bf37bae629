"""Reservation, start, watch and stop on a Connect cluster where answers are lost, workers lag and others interfere."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import pytest

from kafka_migration.adapters.connect.connect_process import ConnectProcess
from kafka_migration.core.connect.connect_config import (
    CREATION,
    GENERATION,
    HOLDER,
    REACHED,
    STATUS_FROM,
    ConnectLaunch,
    copier_name,
    reservation_name,
)
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import MirrorFailed, OutcomeUnknown, Refused, TransientError
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.mirror.mirror_process import HowEnded, ProcessState
from kafka_migration.engines.kafka_connect import KafkaConnect
from tests.contract.fake_connect import STATUS_TOPIC, FakeConnect, FakeConnector, Wrong, connect_in_memory
from tests.contract.process_contract import ME, OTHER, codes

pytestmark = pytest.mark.unit

COPIER, RESERVATION = copier_name("shop"), reservation_name("shop")
LAUNCH = ConnectLaunch({"topics": "orders", "tasks.max": "2"})
W1, W2 = "w1.test:8083", "w2.test:8083"
SECRET = "s3cret-of-the-source"


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch) -> FakeConnect:
    """Two workers in memory; their time passes only by waiting."""
    return connect_in_memory(monkeypatch)


@pytest.fixture
def process(connect: FakeConnect) -> ConnectProcess:
    """A process of a migration that the workers do not know."""
    return connect.process("shop")


@pytest.fixture
def running(process: ConnectProcess) -> ConnectProcess:
    """A process whose first generation runs, with one task on each worker."""
    process.reserve(ME)
    process.start(ME, 1, LAUNCH)
    return process


def clean(reply: object) -> bool:
    """Whether the engine calls the end of a generation clean."""
    return KafkaConnect(None, None, None).ending(reply).is_clean  # type: ignore[arg-type]


LOST = [
    pytest.param(Wrong("POST", is_done=True), id="creation done"),
    pytest.param(Wrong("POST", is_done=False), id="creation not done"),
    pytest.param(Wrong("DELETE", is_done=True), id="deletion done"),
    pytest.param(Wrong("DELETE", is_done=False), id="deletion not done"),
    pytest.param(Wrong("PUT", is_done=True), id="stop done"),
    pytest.param(Wrong("PUT", is_done=False), id="stop not done"),
    pytest.param(Wrong("POST", count=5, status=409), id="creation in a rebalance"),
    pytest.param(Wrong("PUT", count=5, status=409), id="stop in a rebalance"),
    pytest.param(Wrong("DELETE", count=5, status=503), id="deletion by a balancer without workers"),
    pytest.param(Wrong("GET", count=5, status=404, body="<html>"), id="read from a worker that starts"),
    pytest.param(Wrong("PUT", count=5, status=404, body='{"message": "HTTP 404 Not Found"}'), id="stop while starting"),
    pytest.param(Wrong("POST", count=5, status=429), id="creation too soon"),
    pytest.param(Wrong("GET", end="/tasks", count=5, status=409), id="tasks in a rebalance"),
]


@pytest.mark.parametrize("wrong", LOST)
def test_lost_and_impatient_answers_change_nothing(connect: FakeConnect, process: ConnectProcess, wrong: Wrong) -> None:
    """From reservation to release each request has its effect once, whatever became of its answer."""
    connect.wrongs = [replace(wrong)]
    process.reserve(ME)
    started = process.start(ME, 1, LAUNCH)
    connect.wrongs = [replace(wrong)]
    stopped = process.stop(ME, 1, 0)
    process.release(ME)

    assert (1, True) == (started.generation, started.is_running)
    assert (1, ProcessState.STOPPED, True) == (stopped.generation, stopped.state, clean(stopped))
    assert [COPIER] == list(connect.connectors)


@pytest.mark.parametrize("method", ["POST", "DELETE", "PUT"])
def test_outcome_that_nothing_shows_is_unknown(connect: FakeConnect, running: ConnectProcess, method: str) -> None:
    """A request that may have been carried out, on a cluster that answers nothing any more, is no failure to repeat."""
    if method == "POST":
        running.stop(ME, 1, 0)
    connect.wrongs.append(Wrong(method, before=lambda: connect.workers.update({W1: "cut"})))

    with pytest.raises(OutcomeUnknown):
        running.start(ME, 2, LAUNCH) if method == "POST" else _ended(running, method)


def _ended(process: ConnectProcess, method: str) -> None:
    process.stop(ME, 1, 0)
    if method == "DELETE":
        process.release(ME)


def test_request_that_was_never_sent_is_not_unknown(connect: FakeConnect, running: ConnectProcess) -> None:
    """Without any connection nothing was done, and the same request may be tried again."""
    connect.become(W1, "gone")

    with pytest.raises(TransientError):
        running.stop(ME, 1, 0)


def test_second_request_may_have_been_carried_out_too(connect: FakeConnect, running: ConnectProcess) -> None:
    """The first one found no connection and the second one lost its answer: that is unknown."""

    def answer_again() -> None:
        connect.workers[W1] = "up"
        connect.wrongs.append(Wrong("PUT", before=lambda: connect.workers.update({W1: "cut"})))

    connect.wrongs.append(Wrong("PUT", is_refused=True, before=answer_again))

    with pytest.raises(OutcomeUnknown):
        running.stop(ME, 1, 0)


def take_over(connect: FakeConnect, generation: int = 0) -> Callable[[], None]:
    """Return how another run takes the reservation over, and starts a generation if there is a number."""

    def take() -> None:
        other = connect.process("shop")
        other.reserve(OTHER, take_over_from=ME)
        if generation:
            other.start(OTHER, generation, LAUNCH)

    return take


def test_second_of_two_accepted_creations_wins(connect: FakeConnect, process: ConnectProcess) -> None:
    """Connect accepts two creations of one tick and keeps the second; the run that created first finds that out."""

    def overwrite() -> None:
        connect.connectors[RESERVATION].config[HOLDER] = OTHER

    connect.events = [overwrite]

    with pytest.raises(Refused, match="kafka_nightly_sync__shop") as error:
        process.reserve(ME)
    assert {Code.RESERVED_BY} == codes(error)


def test_take_over_deletes_only_the_reservation_that_was_read(connect: FakeConnect, process: ConnectProcess) -> None:
    """A third run takes it over while the deletion waits for a rebalance: the deletion is not repeated."""
    process.reserve(ME)
    third = "kafka_migration__shop/manual__2026-01-05T00:00:00+00:00#1"

    def by_third() -> None:
        connect.connectors[RESERVATION].config[HOLDER] = third

    connect.wrongs.append(Wrong("DELETE", status=409, before=by_third))

    with pytest.raises(Refused) as error:
        process.reserve(OTHER, take_over_from=ME)
    assert {Code.RESERVED_BY} == codes(error)
    assert third == process.status().holder


def test_release_leaves_the_reservation_of_another_run(connect: FakeConnect, process: ConnectProcess) -> None:
    """Another run takes over between the reading and the deletion."""
    process.reserve(ME)
    connect.wrongs.append(Wrong("DELETE", status=409, before=take_over(connect)))

    with pytest.raises(Refused) as error:
        process.release(ME)
    assert {Code.RESERVED_BY} == codes(error)
    assert OTHER == process.status().holder


def test_reservation_that_somebody_emptied_can_be_taken(connect: FakeConnect, process: ConnectProcess) -> None:
    """Without a holder it is nobody's; the run that had it cannot act any more."""
    process.reserve(ME)
    del connect.connectors[RESERVATION].config[HOLDER]
    with pytest.raises(Refused) as error:
        process.start(ME, 1, LAUNCH)

    assert {Code.NOT_RESERVED} == codes(error)
    assert OTHER == process.reserve(OTHER).holder


def test_start_after_a_lost_reservation_replaces_nothing(connect: FakeConnect, process: ConnectProcess) -> None:
    """Another run takes over and starts while the first one asks the workers: the first one deletes nothing."""
    process.reserve(ME)
    connect.wrongs.append(Wrong("GET", "/connectors/-/tasks", before=take_over(connect, 1)))

    with pytest.raises(Refused) as error:
        process.start(ME, 1, LAUNCH)
    assert {Code.NOT_RESERVED} == codes(error)
    assert OTHER == connect.connectors[COPIER].config[HOLDER]
    assert process.status().is_running


def test_start_stops_its_own_generation_if_another_run_took_over(connect: FakeConnect, process: ConnectProcess) -> None:
    """The reservation was lost during the creation itself."""
    process.reserve(ME)
    connect.wrongs.append(Wrong("POST", status=409, before=take_over(connect)))

    with pytest.raises(Refused) as error:
        process.start(ME, 1, LAUNCH)
    assert {Code.NOT_RESERVED} == codes(error)
    assert ("STOPPED", ME) == (connect.connectors[COPIER].target, connect.connectors[COPIER].config[HOLDER])


def test_late_start_does_not_replace_the_mark_of_its_stop(connect: FakeConnect, running: ConnectProcess) -> None:
    """A thread of a trigger that was ended still starts a generation, which the run has stopped meanwhile."""
    running.stop(ME, 1, 0)

    def stop() -> None:
        connect.process("shop").stop(ME, 2, 0)

    connect.wrongs.append(Wrong("GET", "/connectors/-/tasks", before=stop))
    with pytest.raises(Refused) as error:
        running.start(ME, 2, LAUNCH)

    assert {Code.ALREADY_RUNNING} == codes(error)
    assert (1, ProcessState.STOPPED) == (running.status().generation, running.status().state)
    assert {Code.GENERATION_STOPPED} == codes(refused_start(running, 2))


def refused_start(process: ConnectProcess, generation: int) -> pytest.ExceptionInfo[Refused]:
    """Return the error of a start that is refused."""
    with pytest.raises(Refused) as error:
        process.start(ME, generation, LAUNCH)
    return error


def test_late_creation_is_not_taken_for_the_mark_of_a_stop(connect: FakeConnect, process: ConnectProcess) -> None:
    """The connector appears between the proof and the mark: the stop is tried again, and then stops it."""
    process.reserve(ME)
    late = FakeConnector({"topics": "orders", HOLDER: ME, GENERATION: "1", CREATION: "late"}, "RUNNING")
    connect.wrongs.append(Wrong("POST", status=409, before=lambda: connect.connectors.update({COPIER: late})))

    with pytest.raises(TransientError):
        process.stop(ME, 1, 0)
    assert ProcessState.STOPPED is process.stop(ME, 1, 0).state
    assert "STOPPED" == late.target


@pytest.mark.parametrize("state", ["UNASSIGNED", "RESTARTING"])
def test_state_in_which_workers_leave_a_connector_is_no_change(
    connect: FakeConnect, running: ConnectProcess, state: str
) -> None:
    """During a rolling restart the connector itself has no worker for a while; its tasks run on."""
    connect.write_state(COPIER, state)

    reply = running.renew(ME, 1)

    assert (True, "") == (reply.is_running, reply.change)
    assert 2 == len(reply.tasks or ())


def test_stopped_connector_without_a_worker_is_stopped(connect: FakeConnect, running: ConnectProcess) -> None:
    """The workers are restarted between two nights: until one of them has the connector again, it is still stopped."""
    running.stop(ME, 1, 0)
    connect.write_state(COPIER, "UNASSIGNED")

    assert ProcessState.STOPPED is running.status().state
    assert running.start(ME, 2, LAUNCH).is_running


@pytest.mark.parametrize("state", ["PAUSED", "STOPPED"])
def test_connector_that_a_person_stopped_is_told_as_such(
    connect: FakeConnect, running: ConnectProcess, state: str
) -> None:
    """It counts as stopped, with the words of who did it, and is not started again."""
    connect.write_state(COPIER, state)

    reply = running.renew(ME, 1)

    assert ProcessState.STOPPED is reply.state
    assert f"its connector was {state.lower()}" == reply.change


def test_worker_that_starts_again_is_no_deletion(connect: FakeConnect, running: ConnectProcess) -> None:
    """The worker of the connection is restarted: its answers of 404 are no word about connectors or holders."""
    connect.become(W1, "starting")

    with pytest.raises(TransientError):
        running.renew(ME, 1)
    connect.become(W1, "up")
    assert running.renew(ME, 1).is_running


def test_deleted_connector_is_told_and_its_end_is_kept(connect: FakeConnect, running: ConnectProcess) -> None:
    """A watch tells the deletion; each stop says the same, so that no retry calls the generation never started."""
    connect.answer(W1, "DELETE", f"/connectors/{COPIER}", None)

    watched = running.renew(ME, 1)
    stops = [running.stop(ME, 1, 0) for _ in range(2)]

    assert (ProcessState.STOPPED, "its connector was deleted") == (watched.state, watched.change)
    assert [(1, ProcessState.STOPPED, True, False)] * 2 == [
        (each.generation, each.state, each.resent, clean(each)) for each in stops
    ]
    assert running.start(ME, 2, LAUNCH).is_running


def test_changed_connector_is_told_and_its_end_is_kept(connect: FakeConnect, running: ConnectProcess) -> None:
    """Somebody replaced its configuration: it is stopped like one of which nothing is known, which is no clean end."""
    connect.connectors[COPIER].config = {"topics": "orders", "tasks.max": "2"}

    watched = running.renew(ME, 1)
    stops = [running.stop(ME, 1, 0) for _ in range(2)]

    assert "its connector has another configuration than this package gave it" == watched.change
    assert [(1, ProcessState.STOPPED, False)] * 2 == [(each.generation, each.state, clean(each)) for each in stops]
    assert running.start(ME, 2, LAUNCH).is_running


def test_changed_connector_of_a_silent_worker_is_not_called_stopped(
    connect: FakeConnect, running: ConnectProcess
) -> None:
    """A configuration without the marks of a generation does not hide that its tasks may run on."""
    connect.connectors[COPIER].config = {"topics": "orders", "tasks.max": "2"}
    connect.become(W2, "paused")

    with pytest.raises(MirrorFailed, match=W2) as error:
        running.stop(ME, 1, 0)
    assert {Code.MIRROR_NOT_STOPPED} == codes(error)


def test_connector_deleted_between_two_nights_stops_nobody(connect: FakeConnect, running: ConnectProcess) -> None:
    """Its generation was stopped and certified, so the next one simply starts."""
    running.stop(ME, 1, 0)
    running.release(ME)
    connect.connectors.clear()
    running.reserve(ME)

    assert (2, True) == ((reply := running.start(ME, 2, LAUNCH)).generation, reply.is_running)


def wrong_topic(connect: FakeConnect) -> str:
    """Create a topic that is not the workers'."""
    connect.cluster.create_topics([NewTopic("other-status", 1, 1, {"cleanup.policy": "compact"})])
    return "other-status"


def test_other_status_topic_than_that_of_the_workers_is_refused(connect: FakeConnect, process: ConnectProcess) -> None:
    """Rows that never come would look like tasks that never restart, and like a stop that needs no proof."""
    right, process._watch.status_topic = process._watch.status_topic, wrong_topic(connect)
    process.reserve(ME)
    with pytest.raises(Refused, match=r"mirror\.connect\.status_topic") as error:
        process.start(ME, 1, LAUNCH)
    with pytest.raises(MirrorFailed, match=r"mirror\.connect\.status_topic") as stop:
        process.stop(ME, 1, 0)
    process._watch.status_topic = right

    assert {Code.CONNECT_TOPIC_UNSAFE} == codes(error)
    assert {Code.MIRROR_NOT_STOPPED} == codes(stop)
    assert "STOPPED" == connect.connectors[COPIER].target
    assert (ProcessState.STOPPED, False) == ((reply := process.stop(ME, 1, 0)).state, clean(reply))


@pytest.mark.parametrize("way", ["created again", "emptied", "compacted", "gone"])
@pytest.mark.usefixtures("running")
def test_rows_that_are_gone_are_never_good(connect: FakeConnect, way: str) -> None:
    """The generation ends, and its end is not clean: a task may have started more than once."""
    topic, process = connect.cluster.topics[STATUS_TOPIC], connect.process("shop")
    if way == "emptied":
        for number, log in enumerate(topic.partitions):
            connect.cluster.purge(STATUS_TOPIC, number, log.end)
    elif way == "compacted":
        connect.restart_task(COPIER, 0)
        for number, log in enumerate(topic.partitions):
            connect.cluster.compact(STATUS_TOPIC, number, *range(log.log_start, log.end - 1))
    else:
        del connect.cluster.topics[STATUS_TOPIC]
        if way == "created again":
            connect.cluster.create_topics([NewTopic(STATUS_TOPIC, 2, 1, {"cleanup.policy": "compact"})])

    reply = process.renew(ME, 1)
    assert (ProcessState.DEAD, True) == (reply.state, "missing" in reply.exit_reason)
    with suppress(MirrorFailed):
        assert not clean(process.stop(ME, 1, 0))


@pytest.mark.parametrize(
    "odd", ["9" * 5000 + ":1", "0:" + "9" * 5000, "٣:1", "0", "", "0:1,", "a:b", "0:-1"], ids=lambda text: text[:8]
)
def test_odd_marks_of_a_changed_connector_break_nothing(
    connect: FakeConnect, running: ConnectProcess, odd: str
) -> None:
    """Who may use the REST interface may write anything into a configuration; a stop still works."""
    config = connect.connectors[COPIER].config
    config.update({STATUS_FROM: odd, REACHED: "http://[,:,http://x:y@z/," + odd, GENERATION: odd})

    assert "another configuration" in running.renew(ME, 1).change
    assert not clean(running.stop(ME, 1, 0))


ODD = ["[]", "1", '"text"', "null", "{", '{"a": ' * 3000, "x" * 100, '{"tasks": 3, "connector": [1]}']


@pytest.mark.parametrize("body", ODD, ids=lambda text: text[:8])
@pytest.mark.parametrize("part", ["config", "status", "tasks"])
def test_odd_answers_are_no_end(connect: FakeConnect, running: ConnectProcess, part: str, body: str) -> None:
    """No answer of another form is taken for a free reservation, a deleted connector or a proved stop."""
    connect.wrongs.append(Wrong("GET", f"{COPIER}/{part}", 10_000, 200, body))
    connect.become(W2, "paused")

    with suppress(Refused, TransientError):
        reply = running.renew(ME, 1)
        assert reply.is_running or reply.change
    with pytest.raises((Refused, TransientError, MirrorFailed)):
        running.stop(ME, 1, 0)


@pytest.mark.parametrize("worker", ["no address", "[", "a:b@evil.test:80", "evil.test/x?", "evil.test:0", "\x00"])
def test_worker_without_an_address_is_unproved(connect: FakeConnect, running: ConnectProcess, worker: str) -> None:
    """A row may name anything as its worker: it is an answer of nobody, and no error."""
    connect.restart_task(COPIER, 1, worker)
    connect.connectors[COPIER].lives.pop(1)

    assert ProcessState.DEAD is running.renew(ME, 1).state
    with pytest.raises(MirrorFailed):
        running.stop(ME, 1, 0)


def test_login_is_sent_to_the_address_of_the_connection_only(connect: FakeConnect) -> None:
    """Rows and the group name any address that somebody wrote; none of them is given the login."""
    process = connect.process("shop", user="ada")
    process.reserve(ME)
    process.start(ME, 1, LAUNCH)
    connect.restart_task(COPIER, 1, "evil.test:8083")
    connect.workers["evil.test:8083"] = "up"
    with suppress(MirrorFailed):
        process.stop(ME, 1, 0)

    assert {W1, W2, "evil.test:8083"} == {address for address, *_ in connect.requests}
    assert {W1} == {address for address, _, _, has_login in connect.requests if has_login}


def test_secret_of_a_configuration_is_in_no_reply_and_no_finding(connect: FakeConnect, process: ConnectProcess) -> None:
    """Connect's own words may repeat a value; the reservation has nothing but its holder."""
    process.reserve(ME)
    login = f'org.apache.Module required password="{SECRET}";'
    launch = ConnectLaunch({**LAUNCH.config, "source.cluster.sasl.jaas.config": login})
    said = '{"error_code": 400, "message": "Invalid value ' + login.replace('"', '\\"') + '"}'
    connect.wrongs.append(Wrong("POST", status=400, body=said))
    with pytest.raises(Refused) as refused:
        process.start(ME, 1, launch)
    connect.fails_with = f"java.lang.Exception: {login}\nCaused by: {login}"
    with pytest.raises(MirrorFailed) as failed:
        process.start(ME, 1, launch)
    replies = [process.status(), process.renew(ME, 1), process.stop(ME, 1, 0)]

    assert {Code.CONNECT_CONFIG_REFUSED} == codes(refused)
    assert SECRET in str(connect.connectors[COPIER].config)
    assert not [text for text in map(str, (refused.value, failed.value, *replies)) if SECRET in text]
    assert SECRET not in str(connect.connectors[RESERVATION].config)


def test_trace_of_a_failure_is_bounded(connect: FakeConnect, process: ConnectProcess) -> None:
    """A trace may be long; a finding repeats its begin."""
    connect.fails_with = "java.lang.Exception: " + "x" * 10_000_000
    process.reserve(ME)

    with pytest.raises(MirrorFailed) as error:
        process.start(ME, 1, LAUNCH)
    assert 100_000 > len(str(error.value))


def test_failure_without_a_trace_counts_as_a_failure(connect: FakeConnect, running: ConnectProcess) -> None:
    """Else a task that fails without a word would be continued without end."""
    connect.write_task(COPIER, 0, "FAILED")

    reply = running.renew(ME, 1)

    assert (ProcessState.DEAD, True) == (reply.state, reply.is_failure)
    assert HowEnded.UNKNOWN is KafkaConnect(None, None, None).ending(reply).how  # type: ignore[arg-type]


def test_poll_ends_in_time_on_a_cluster_that_rebalances(connect: FakeConnect, running: ConnectProcess) -> None:
    """Within the limit of a poll an answer is asked for again only as long as half of the time is left."""
    connect.wrongs.append(Wrong("GET", count=10_000, status=409))
    begun = connect.elapsed_s

    with pytest.raises(TransientError):
        running.renew(ME, 1)
    assert connect.elapsed_s - begun < 40
