"""Rules of copies that are no plain ones: re-partitioned by MirrorMaker 1, under other names, or in transactions."""

from __future__ import annotations

import pytest
from airflow.sdk.exceptions import AirflowFailException

from kafka_migration.core.cluster import NewTopic
from kafka_migration.core.evidence import Kind
from kafka_migration.core.offsets import TopicPartition
from kafka_migration.core.validation import KEY_DIGEST
from kafka_migration.core.verdict import Verdict
from kafka_migration.orchestration import factory
from kafka_migration.orchestration import run as run_module
from kafka_migration.orchestration.operators.judge import JudgeOperator
from kafka_migration.orchestration.operators.preflight import PreflightOperator
from kafka_migration.orchestration.operators.start import StartMirrorOperator
from kafka_migration.orchestration.operators.stop import StopMirrorOperator
from kafka_migration.orchestration.operators.validate import _request
from tests.airflow.conftest import World
from tests.airflow.engines import LossyEngine, lossy, set_mirror
from tests.airflow.running import BEFORE_START, do, mirror, next_run, refusal_codes, store_position, validated

pytestmark = pytest.mark.airflow

P0 = TopicPartition("orders", 0)
RECORDS = [(b"k", b"%d" % n) for n in range(4)]
PREFIXED = "topic_names: {naming: prefixed}"
KINDS = ["engine: mirrormaker1", PREFIXED, "exactly_once: true"]


@pytest.mark.parametrize("mode", ["rehearse", "cutover"])
@pytest.mark.parametrize("setting", KINDS)
def test_groups_of_such_a_copy_cannot_be_moved(world: World, monkeypatch: pytest.MonkeyPatch, setting: str, mode: str):
    """Offsets are translated for a plain copy only: every other is refused before anything is started."""
    monkeypatch.setattr(run_module, "engine_of", lambda *of: LossyEngine())
    set_mirror(world, setting)
    world.params["mode"] = mode

    with pytest.raises(AirflowFailException, match=f"mode {mode}"):
        do(world, PreflightOperator)
    assert ["GROUPS_NOT_TRANSLATABLE"] == refusal_codes(world)


@pytest.mark.parametrize(
    ("setting", "modes"),
    [
        ("tasks: 1", ["rehearse", "sync", "follow", "validate", "cutover"]),
        *((setting, ["sync", "follow", "validate"]) for setting in KINDS),
    ],
)
def test_form_offers_only_modes_that_can_be(world: World, setting: str, modes: list[str]):
    """What preflight would refuse is not offered; the default is then to copy."""
    path = world.migrations / "shop.yaml"
    path.write_text(path.read_text().replace("  tasks: 2\n", ""))
    set_mirror(world, setting)
    mode = factory.migration_dags(world.migrations)["kafka_migration__shop"].params.get_param("mode")

    assert modes == mode.schema["enum"]
    assert modes[0] == mode.value


@pytest.mark.parametrize("mode", ["sync", "validate"])
def test_repartitioned_copy_is_compared_by_key(world: World, monkeypatch: pytest.MonkeyPatch, mode: str):
    """Every partition of either side belongs to one comparison; equal keys are a PASS of the whole topic."""
    engine = lossy(world, monkeypatch)
    world.target.create_topics([NewTopic("orders", 5, 1, {}), NewTopic("audit", 1, 1, {})])
    world.source.produce("orders", 0, *RECORDS)
    do(world, *BEFORE_START, StartMirrorOperator)
    world.target.produce("orders", 4, *RECORDS)
    engine.positions[P0] = 4
    do(world, StopMirrorOperator)
    if mode == "validate":
        next_run(world)
        world.params["mode"] = mode
        do(world, *BEFORE_START)
    request = _request(world.run)
    validated(world)
    ranges = {w.partition: (w.source_end, w.target_end) for w in request.windows if w.topic == "orders"}

    assert KEY_DIGEST == request.digest
    assert {0: (4, 0), 1: (0, 0), 2: (0, 0), 3: (0, 0), 4: (0, 4)} == ranges
    assert "PASS" == do(world, JudgeOperator)["verdict"]
    assert Verdict.PASS is world.run.ledger.read().topic_verdict("orders")


def test_repartitioned_copy_may_have_other_partition_counts(world: World, monkeypatch: pytest.MonkeyPatch):
    """MirrorMaker 1 chooses partitions by key; the target's count is then the target's own."""
    lossy(world, monkeypatch)
    world.target.create_topics([NewTopic("orders", 5, 1, {}), NewTopic("audit", 1, 1, {})])
    world.source.produce("orders", 0, *RECORDS)

    assert 1 == do(world, *BEFORE_START, StartMirrorOperator)["generation"]
    ends = world.run.ledger.read().generations[0].start.target_end_offsets
    assert 5 == len([p for p in ends if p.topic == "orders"])


def test_timestamps_that_the_target_makes_are_not_compared(world: World):
    """Of a target topic with LogAppendTime the request says so, and the verdict comes with a warning."""
    world.target.create_topics([NewTopic("orders", 2, 1, {"message.timestamp.type": "LogAppendTime"})])
    world.source.produce("orders", 0, *RECORDS)
    do(world, *BEFORE_START, StartMirrorOperator)
    mirror(world, {P0: 4})
    do(world, StopMirrorOperator)
    request = _request(world.run)
    validated(world)

    assert ("orders",) == request.untimed_topics
    assert "PASS" == do(world, JudgeOperator)["verdict"]
    (warning,) = world.run.evidence.require(Kind.JUDGE)["warnings"]
    assert ("TIMESTAMPS_NOT_COMPARED", "topic orders") == (warning["code"], warning["subject"])


def test_copy_under_other_names_is_spoken_of_by_the_sources(world: World):
    """Topics are made under their real names; ledger and plan know the source's, and Spark is told both."""
    set_mirror(world, PREFIXED)
    world.source.produce("orders", 0, *RECORDS)
    do(world, *BEFORE_START, StartMirrorOperator)
    assert {"shop-source.orders", "shop-source.audit"} <= set(world.target.topics)
    world.target.produce("shop-source.orders", 0, *RECORDS)
    store_position(world, 3)
    do(world, StopMirrorOperator)

    (window,) = [w for w in _request(world.run).windows if not w.is_empty]
    assert ("orders", "shop-source.orders", 4, 4) == (
        window.topic,
        window.target_topic,
        window.source_end,
        window.target_end,
    )
