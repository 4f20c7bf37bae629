"""Faults of a real Kafka Connect cluster in the middle of whole runs with a live Airflow, one by one."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from kafka_migration.core.findings.verdict import Verdict
from tests.live.conftest import LiveWorld
from tests.live.connect_scenarios import ConnectScenario, Way, connect_scenario
from tests.live.connect_world import ConnectWorld, connect_world
from tests.live.listening import Mailbox
from tests.topic_verdicts import topic_verdict
from tests.waiting import wait_until

pytestmark = [pytest.mark.live, pytest.mark.campaign]


CUT_S = 60.0
# More than a sample of the newest records shows to preflight.
AFTER_IT = 40


@pytest.fixture(scope="module")
def world(live: LiveWorld, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectWorld]:
    """Two workers for all tests of this file."""
    with connect_world(live, tmp_path_factory.mktemp("connect")) as running:
        yield running


@pytest.fixture
def scenario(world: ConnectWorld, request: pytest.FixtureRequest) -> Iterator[ConnectScenario]:
    """A scenario of a migration of its own, which bears the test's name."""
    with connect_scenario(request.node.name.replace("[", "_").rstrip("]"), world) as made:
        yield made


def test_worker_killed(scenario: ConnectScenario) -> None:
    """A worker that was killed ends the generation; the next one continues, and the run ends as if nothing had been."""
    scenario.follow()
    scenario.kill(scenario.victim())
    scenario.wait_for_generation(2)

    run = scenario.end_following()

    scenario.concluded(run, "SURVIVE", row="test_mirror_killed_once")
    assert 2 == len(scenario.generations)
    scenario.require_quiet()


def test_worker_paused_in_the_stop(scenario: ConnectScenario, mailbox: Mailbox) -> None:
    """A paused worker may still copy: the stop is unknown and names it. Once it goes on, the next run does the rest."""
    scenario.follow()
    worker = scenario.victim()
    scenario.ask_to_stop()
    scenario.migration.wait_for_task(scenario.run_id, "stop_mirror", ["scheduled", "queued", "running"])
    scenario.freeze(worker)
    run = scenario.ended()
    (finding,) = scenario.migration.document(run.run_id)["findings"]
    assert ("failed", "MIRROR_NOT_STOPPED") == (run.state, finding["code"])
    assert worker in finding["found"]
    assert scenario.generations[-1].stop is None
    assert "MIRRORMAKER MAY STILL RUN" in mailbox.wait_for(scenario.migration.name, "not_stopped")
    scenario.thaw(worker)
    scenario.require_goes_on()
    scenario.require_quiet()


@pytest.mark.parametrize(
    ("method", "path", "says"),
    [
        ("DELETE", "", "was deleted"),
        ("PUT", "/config", "has another configuration"),
        ("PUT", "/pause", "is in state PAUSED"),
        ("PUT", "/stop", "was stopped"),
    ],
    ids=["deleted", "configured", "paused", "stopped"],
)
def test_connector_changed(scenario: ConnectScenario, method: str, path: str, says: str) -> None:
    """What somebody does to the connector ends the run; nothing is started over it, and the next run does the rest."""
    scenario.follow()
    config = scenario.config() or {}
    scenario.ask(method, path, {**config, "tasks.max": "1"} if path == "/config" else None)
    run = scenario.ended()

    scenario.concluded(run, "STOP-SAFE", "CONNECTOR_CHANGED")
    (finding,) = scenario.migration.document(run.run_id)["findings"]
    assert says in finding["found"]
    assert 1 == len(scenario.generations)
    assert "" == scenario.holder
    scenario.require_goes_on()
    scenario.require_quiet()


@pytest.fixture
def way(world: ConnectWorld) -> Iterator[Way]:
    """The way of an Airflow connection of its own to the first worker, open."""
    made, before = Way(world), world.connection
    world.connection = f"{before}_{made.port}"
    world.live.api.add_connection(world.connection, "http", {}, host=f"http://127.0.0.1:{made.port}")
    made.open()
    yield made
    made.cut()
    world.connection = before


def test_rest_unreachable_in_the_watch(way: Way, scenario: ConnectScenario) -> None:
    """While the REST interface does not answer for a minute the connector copies, and the run goes on afterwards."""
    scenario.follow()
    way.cut()
    until = time.monotonic() + CUT_S
    wait_until(lambda: time.monotonic() > until, 2 * CUT_S, "a minute without an answer")
    scenario.wait_for_more_copied()
    way.open()

    scenario.concluded(scenario.end_following(), "SURVIVE")
    assert 1 == len(scenario.generations)
    scenario.require_quiet()


def test_rest_unreachable_at_the_stop(way: Way, scenario: ConnectScenario, mailbox: Mailbox) -> None:
    """A stop that nobody answers has an unknown outcome: the run is red and alerts; the next run stops and repairs."""
    scenario.follow()
    way.cut()
    run = scenario.end_following()

    assert "failed" == run.state
    assert scenario.generations[-1].stop is None
    assert "RUNNING" == scenario.state()
    assert "MIRRORMAKER MAY STILL RUN" in mailbox.wait_for(scenario.migration.name, "not_stopped")
    way.open()
    scenario.require_goes_on()
    scenario.require_quiet()


def test_record_that_is_too_large(world: ConnectWorld) -> None:
    """A task that fails by a record ends the run with its topic and offset; the verdict of the other topic is kept."""
    name = "connect-record-too-large"
    large = f"{name}-2"
    more = f", {{name: {large}, configs: {{max.message.bytes: '20000'}}}}"
    with connect_scenario("record-too-large", world, more_topics=more) as scenario:
        migration = scenario.migration
        migration.create_topic(large, 1)
        migration.produce(100)
        migration.produce(5, topic=large)
        first = migration.run()
        assert ("success", "PASS") == (first["state"], first["verdict"]), first["findings"]
        migration.produce(1, first=5, size=30_000, topic=large)
        migration.produce(AFTER_IT, first=6, topic=large)
        migration.produce(20, first=100)
        second = migration.run()

        (finding,) = second["findings"]
        assert ("failed", "RECORD_TOO_LARGE", f"{large}[0]") == (second["state"], finding["code"], finding["subject"])
        assert "the record at offset 5, " in finding["found"]
        assert Verdict.PASS is topic_verdict(migration.ledger, name)
        scenario.require_quiet()
