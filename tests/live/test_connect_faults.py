"""Faults of a real Kafka Connect cluster in the middle of whole runs with a live Airflow, one by one."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_migration.cli.shell.output import ExitCode
from kafka_migration.core.connect.connect_config import copier_name, reservation_name
from kafka_migration.core.connect.connect_tools import SOURCE_CONNECTOR
from kafka_migration.core.findings.verdict import Verdict
from sandbox.data.reading import read_records
from tests.live.conftest import LiveWorld
from tests.live.connect_neighbours import REQUEST, Compacted, Foreign
from tests.live.connect_scenarios import NEXT_S, ConnectScenario, Way, connect_scenario
from tests.live.connect_world import ConnectWorld, connect_world
from tests.live.groups import approve, awaiting, commit, committed, ends
from tests.live.invariants import identities
from tests.live.listening import Mailbox, alerts_section
from tests.topic_verdicts import topic_verdict
from tests.waiting import wait_until

pytestmark = [pytest.mark.live, pytest.mark.campaign]

log = logging.getLogger(__name__)

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
    name = request.node.name.replace("[", "_").rstrip("]")
    with connect_scenario(name, world, nightly=alerts_section()) as made:
        yield made


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
        ("PUT", "/pause", "was paused"),
        ("PUT", "/stop", "was stopped"),
    ],
    ids=["deleted", "configured", "paused", "stopped"],
)
def test_connector_changed(scenario: ConnectScenario, method: str, path: str, says: str) -> None:
    """An operator's change to the connector ends the run; nothing starts over it, and the next run does the rest."""
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


def test_rolling_restart(scenario: ConnectScenario) -> None:
    """All workers restart one after the other; the run goes on and ends green."""
    scenario.follow()
    for each in scenario.world.cluster.workers:
        next_one = len(scenario.generations) + 1
        scenario.world.cluster.revive(each.worker_id)
        scenario.wait_for_generation(next_one)

    scenario.concluded(scenario.end_following(), "SURVIVE")
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
    """A stop without an answer has an unknown outcome: the run is red and alerts; the next run stops and repairs."""
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


def test_stop_while_airflow_is_dead(scenario: ConnectScenario) -> None:
    """When no part of Airflow is left that would stop it, `stop --now` stops the connector; the next run goes on."""
    scenario.follow()
    for part in ("scheduler", "triggerer"):
        scenario.faults.kill_part(part)
    assert "RUNNING" == scenario.state()

    done = scenario.migration.cli("stop", "--now")

    assert ExitCode.PARTLY_DONE == done.returncode, done.stdout + done.stderr
    assert ("STOPPED", set()) == (scenario.state(), scenario.world.workers_of(scenario.migration))
    scenario.faults.mend()
    assert "success" == scenario.ended().state
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


def test_exactly_once(live: LiveWorld, tmp_path: Path) -> None:
    """With transactions of the workers a killed worker leaves no duplicate."""
    with (
        connect_world(live, tmp_path / "connect", settings={"exactly.once.source.support": "enabled"}) as workers,
        connect_scenario("exactly_once", workers, mirror="  exactly_once: true") as scenario,
    ):
        scenario.follow()
        scenario.kill(scenario.victim())
        scenario.wait_for_generation(2)
        copy = scenario.concluded(scenario.end_following(), "SURVIVE")
        assert 0 == copy.duplicates
        scenario.require_quiet()


def test_worker_killed_and_another_added(live: LiveWorld, tmp_path: Path) -> None:
    """Of three workers that copy one is killed and a new one joins: it gets a task, and the run ends green."""
    with (
        connect_world(live, tmp_path / "connect", 4, tasks=3) as workers,
        connect_scenario("another_worker", workers) as scenario,
    ):
        added = workers.cluster.workers[-1].worker_id
        workers.cluster.part(added).stop()
        scenario.migration.grow(3)
        scenario.follow()
        assert 3 == len(workers.workers_of(scenario.migration))
        scenario.kill(scenario.victim())
        workers.cluster.revive(added)
        scenario.wait_for_generation(2)
        wait_until(lambda: added in workers.workers_of(scenario.migration), NEXT_S, f"a task on {added}")
        scenario.wait_for_more_copied()

        scenario.concluded(scenario.end_following(), "SURVIVE")
        scenario.require_quiet()


def test_groups_after_a_killed_worker(scenario: ConnectScenario) -> None:
    """Groups that are moved after a worker was killed skip no record, whatever was copied twice."""
    migration, name = scenario.migration, scenario.migration.name
    scenario.follow()
    scenario.kill(scenario.victim())
    scenario.wait_for_generation(2)
    copy = scenario.concluded(scenario.end_following(), "SURVIVE")
    scenario.mend()
    at_end = ends(migration.source, name)
    stands = {f"{name}-{part}": {p: end * part // 8 for p, end in at_end.items()} for part in range(1, 8)}
    for group, offsets in stands.items():
        commit(migration.source, group, name, offsets)

    approve(scenario.api, migration, awaiting(migration))

    source, target = (read_records(side["bootstrap.servers"], name) for side in (migration.source, migration.target))
    again = 0
    for group, offsets in stands.items():
        moved = committed(migration.target, group, name)
        for partition, offset in offsets.items():
            left = identities(each for each in source[partition] if each.offset >= offset)
            found = identities(each for each in target[partition] if each.offset >= moved[partition])
            assert set(left) <= set(found), f"{group} skips records of partition {partition}"
            again += len(found) - len(left)
    log.info("%d duplicates; 7 groups read %d records again", copy.duplicates, again)


def test_shared_cluster_is_left_alone(world: ConnectWorld) -> None:
    """A whole migration lists no connectors, and touches none of another team."""
    foreign = [Foreign(world, "MirrorHeartbeatConnector"), Foreign(world, "MirrorSourceConnector")]
    for each in foreign:
        each.create()
    before = [each.config() for each in foreign]
    logged = [len(part.log_since_start()) for part in world.cluster.parts.values()]
    with connect_scenario("shared_cluster", world) as scenario:
        migration = scenario.migration
        migration.produce(100)
        commit(migration.source, f"{migration.name}-end", migration.name, ends(migration.source, migration.name))
        assert "PASS" == migration.run()["verdict"]
        approve(scenario.api, migration, awaiting(migration))
        mine = {copier_name(migration.name), reservation_name(migration.name)}

    parts = zip(world.cluster.parts.values(), logged, strict=True)
    asked = {found for part, start in parts for found in REQUEST.findall(part.log_since_start()[start:])}
    # A new connector makes the workers rebalance, which may move tasks of others.
    wait_until(lambda: all(each.runs() for each in foreign), 240, "the connectors of others run")
    assert before == [each.config() for each in foreign]
    for each in foreign:
        each.delete()
    changing = {path.split("?")[0].split("/")[2] for method, path in asked if method != "GET" and path != "/connectors"}
    assert ("POST", "/connectors") in asked
    assert not {path for method, path in asked if method == "GET" and path.split("?")[0] == "/connectors"}
    assert changing <= mine | {SOURCE_CONNECTOR}
    assert not {path for _, path in asked if any(each.name in path for each in foreign)}


def test_internal_topics_compacted(scenario: ConnectScenario) -> None:
    """A compaction of the workers' topics in the middle of a generation gives no false verdict and no loss."""
    cluster = scenario.world.cluster
    topics = Compacted(scenario.migration.target, [cluster.status_topic, f"{cluster.workers[0].group}-config"])
    scenario.follow()
    topics.compact()
    scenario.wait_for_more_copied()

    scenario.concluded(scenario.end_following(), "SURVIVE")
    assert not all(each.stop and each.stop.graceful for each in scenario.generations)
    scenario.require_goes_on()
    scenario.require_quiet()
