"""A run that is killed before or after any action ends, by the next run or try, as if it had not been killed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.ledger.cutovers import AnnouncedTopic, SettingsRestored, TopicsAnnounced
from tests.contract.fake_cluster import FakeCluster
from tests.contract.fake_mirror_host import FakeMirrorHost
from tests.steps.cutover import approved, target_offsets
from tests.steps.cuts import ACTIONS, Cuts
from tests.steps.tasks import BEFORE_START
from tests.steps.world import FOUR_RECORDS, P0, World

# More actions than the run or each task has: the last number kills nothing, which each test asserts.
SYNC, FREEZING, CUTOVER = 46, 28, 15


@pytest.fixture
def cuts(monkeypatch: pytest.MonkeyPatch) -> Cuts:
    """Kills where a test says."""
    return Cuts(monkeypatch)


def sync(world: World) -> None:
    """Copy what is missing, in a run until MirrorMaker is stopped."""
    world.do(*BEFORE_START, "start_mirror")
    if world.host.status().is_running:
        missing = len(FOUR_RECORDS) - len(world.target.topics["orders"].partitions[0].records)
        world.mirror({P0: missing} if missing else {})
    world.do("stop_mirror")


def state(world: World) -> dict[str, Any]:
    """What must not depend on a kill: the topics, what the ledger knows of them, the copy, and what runs."""
    ledger = world.ledger
    topics = {name: topic for name, topic in world.target.topics.items() if name in ("orders", "audit")}
    return {
        "topics": {name: (dict(topic.configs), len(topic.partitions)) for name, topic in topics.items()},
        "ids": {name: topic.topic_id for name, topic in topics.items()}
        == {n: t.topic_id for n, t in ledger.topics.items()},
        "frozen": {name: (dict(topic.frozen_configs), topic.is_frozen) for name, topic in ledger.topics.items()},
        "announced": dict(ledger.announced),
        "records": len(world.target.topics["orders"].partitions[0].records),
        "open": ledger.open_generation,
        "runs": world.host.status().is_running,
        "position": world.certified.mirror_positions[P0],
    }


TOPICS = {
    "orders": ({"retention.ms": "-1", "retention.bytes": "-1"}, 2),
    "audit": ({"retention.ms": "-1", "retention.bytes": "-1"}, 1),
}
EXPECTED = {
    "topics": TOPICS,
    "ids": True,
    "frozen": {
        "orders": ({"retention.ms": "1000", "retention.bytes": None}, True),
        "audit": ({"retention.ms": None, "retention.bytes": None}, True),
    },
    "announced": {},
    "records": 4,
    "open": None,
    "runs": False,
    "position": 4,
}


@pytest.mark.parametrize("number", range(SYNC))
def test_sync_killed_at_any_action(world: World, cuts: Cuts, number: int) -> None:
    """The next run ends in the state of a run that was not killed, and warns of no setting of the topics."""
    world.source.produce("orders", 0, *FOUR_RECORDS)
    with cuts.at_action(number):
        sync(world)
    assert number < SYNC - 1 or not cuts.last
    world.next_run()
    sync(world)

    warned = {finding["code"] for finding in world.run.evidence.require(Kind.PREFLIGHT)["warnings"]}
    assert Code.TOPIC_CONFIG_DIFFERS not in warned, cuts.last
    assert state(world) == EXPECTED, cuts.last


def _restored(world: World) -> Any:
    return (
        target_offsets(world),
        {
            name: (dict(world.target.topics[name].configs), topic.is_frozen)
            for name, topic in world.ledger.topics.items()
        },
        world.ledger.phase,
    )


@pytest.mark.parametrize("number", range(FREEZING))
def test_freezing_and_growing_killed_at_any_action(world: World, cuts: Cuts, number: int) -> None:
    """A killed run that freezes settings again after a rollback, and adds partitions, is completed by the next one."""
    world.source.produce("orders", 0, *FOUR_RECORDS)
    sync(world)
    world.target.alter_configs({"orders": {"retention.ms": "1000", "retention.bytes": None}})
    world.run.ledger.append(SettingsRestored(world.run.identity.holder, "t", ("orders",)).to_document())
    world.source.create_partitions({"orders": 3})
    world.next_run(2)
    with cuts.at_action(number):
        sync(world)
    assert number < FREEZING - 1 or not cuts.last
    world.next_run(3)
    sync(world)

    assert {**EXPECTED, "topics": {**TOPICS, "orders": (TOPICS["orders"][0], 3)}} == state(world), cuts.last


@pytest.mark.parametrize("number", range(CUTOVER))
def test_cutover_killed_at_any_action(scene: World, cuts: Cuts, number: int) -> None:
    """A killed cutover whose task is repeated ends with the same groups, settings and phase."""
    approved(scene)
    for task in ("sync_offsets", "confirm_cutover", "restore_settings"):
        with cuts.at_action(number):
            scene.do(task)
        assert number < CUTOVER - 1 or not cuts.last
        scene.do(task)

    offsets, topics, phase = _restored(scene)
    assert {"billing", "reporting"} <= offsets.keys()
    assert {"orders": ({"retention.ms": "1000"}, False), "audit": ({}, False)} == topics
    assert "cut_over" == phase


def announce(world: World) -> None:
    """Leave the ledger as a run that was killed before it created `orders`."""
    world.do("preflight", "reserve", "plan")
    topic = AnnouncedTopic(2, {"retention.ms": "-1", "retention.bytes": "-1"}, {"retention.ms": "1000"})
    world.run.ledger.append(TopicsAnnounced(world.run.identity.holder, "t", {"orders": topic}).to_document())


@pytest.mark.parametrize(
    "make",
    [
        lambda world: world.target.create_topics([NewTopic("orders", 2, 1, {"retention.ms": "5"})]),
        lambda world: world.target.create_topics(
            [NewTopic("orders", 3, 1, {"retention.ms": "-1", "retention.bytes": "-1"})]
        ),
    ],
    ids=["settings", "partitions"],
)
def test_announced_topic_that_another_client_made_is_named(world: World, make: Callable[[World], None]) -> None:
    """An announced topic that is not as announced is neither adopted nor treated as foreign: the run is refused."""
    announce(world)
    make(world)

    said = world.refuses("create_topics", match="TOPIC_CREATION_UNCLEAR · topic orders")
    assert "retention.ms=-1" in said
    assert {} == world.ledger.topics


def test_announced_topic_with_records_is_named(world: World) -> None:
    """Records in an announced topic are not from this migration, which had not started to copy."""
    announce(world)
    world.target.create_topics([NewTopic("orders", 2, 1, {"retention.ms": "-1", "retention.bytes": "-1"})])
    world.target.produce("orders", 0, FOUR_RECORDS[0])

    assert "1 records" in world.refuses("create_topics", match="TOPIC_CREATION_UNCLEAR")


def test_unclear_topic_that_is_no_longer_migrated_is_left_alone(world: World) -> None:
    """After the topic is taken out of the migration file, the next run copies the others."""
    announce(world)
    world.target.create_topics([NewTopic("orders", 2, 1, {"retention.ms": "5"})])
    world.next_run()
    world.params = {**world.params, "topics": ["audit"]}
    world.do(*BEFORE_START)

    assert {"audit"} == world.ledger.topics.keys()
    assert {"retention.ms": "5"} == world.target.topics["orders"].configs


def test_announced_topic_that_was_deleted_is_created(world: World) -> None:
    """After the unclear topic is deleted, the run creates it."""
    announce(world)
    world.do("create_topics")

    assert {"orders", "audit"} == world.ledger.topics.keys()
    assert {} == world.ledger.announced


def test_each_action_is_in_the_decision_on_kills() -> None:
    """The table of ADR 0042 has every call that changes a cluster or the host."""
    decision = Path("docs/adr/0042-actions-that-survive-a-kill.md").read_text()
    calls = {name for owner, names in ACTIONS for name in names if owner in (FakeCluster, FakeMirrorHost)}

    assert set() == {name for name in calls if f"| `{name}`" not in decision}
