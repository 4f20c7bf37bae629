"""Rules of copies that are no plain ones: re-partitioned by MirrorMaker 1, under other names, or in transactions."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.validation.contract import KEY_DIGEST, ValidationRequest
from kafka_migration.core.validation.coverage_rules import coverage_of, topic_verdict
from kafka_migration.orchestration.failing import FailedForGood
from kafka_migration.orchestration.operators.judge import JudgeOperator
from kafka_migration.orchestration.operators.start_mirror import StartMirrorOperator
from kafka_migration.orchestration.operators.stop_mirror import StopMirrorOperator
from kafka_migration.steps.validation.request import request_of
from tests.airflow.conftest import World
from tests.airflow.engines import lossy, set_mirror
from tests.airflow.running import BEFORE_START, do, mirror, next_run, store_position, validated

pytestmark = pytest.mark.airflow

Copied = Callable[..., ValidationRequest]

P0 = TopicPartition("orders", 0)
RECORDS = [(b"k", b"%d" % n) for n in range(4)]
PREFIXED = "topic_names: {naming: prefixed}"
KINDS = ["engine: mirrormaker1", PREFIXED, "exactly_once: true"]


@pytest.mark.parametrize("mode", ["sync", "validate"])
def test_repartitioned_copy_is_compared_by_key(world: World, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
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
    request = request_of(world.run)
    validated(world)
    ranges = {w.partition: (w.source_end, w.target_end) for w in request.windows if w.topic == "orders"}

    assert KEY_DIGEST == request.digest
    assert {0: (4, 0), 1: (0, 0), 2: (0, 0), 3: (0, 0), 4: (0, 4)} == ranges
    assert "PASS" == do(world, JudgeOperator)["verdict"]
    assert Verdict.PASS is topic_verdict(world.run.ledger.read(), "orders")


def test_repartitioned_copy_may_have_other_partition_counts(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """MirrorMaker 1 chooses partitions by key; the target's count is then the target's own."""
    lossy(world, monkeypatch)
    world.target.create_topics([NewTopic("orders", 5, 1, {}), NewTopic("audit", 1, 1, {})])
    world.source.produce("orders", 0, *RECORDS)

    assert 1 == do(world, *BEFORE_START, StartMirrorOperator)["generation"]
    ends = world.run.ledger.read().generations[0].start.target_end_offsets
    assert 5 == len([p for p in ends if p.topic == "orders"])


@pytest.mark.parametrize(
    ("setting", "verdict"),
    [("", "WARN"), ("timestamps: {orders: false}", "PASS")],
    ids=["unsaid", "said not to matter"],
)
def test_timestamps_that_the_target_makes_are_not_compared(world: World, setting: str, verdict: str) -> None:
    """Of a target topic with LogAppendTime the request says so; the verdict is a warning unless the file expects it."""
    if setting:
        set_mirror(world, setting, "validation")
    world.target.create_topics([NewTopic("orders", 2, 1, {"message.timestamp.type": "LogAppendTime"})])
    world.source.produce("orders", 0, *RECORDS)
    do(world, *BEFORE_START, StartMirrorOperator)
    mirror(world, {P0: 4})
    do(world, StopMirrorOperator)
    request = request_of(world.run)
    validated(world)

    assert ("orders",) == request.untimed_topics
    assert verdict == do(world, JudgeOperator)["verdict"]
    (warning,) = world.run.evidence.require(Kind.JUDGE)["warnings"]
    assert ("TIMESTAMPS_NOT_COMPARED", "topic orders") == (warning["code"], warning["subject"])
    covered = coverage_of(world.run.ledger.read())["orders"]
    assert (verdict, True) == (str(covered.verdict), covered.is_proved)


@pytest.fixture
def copied(world: World) -> Copied:
    """Copy four records of each partition with a setting of the file, and return what Spark is asked for."""

    def copy(setting: str = "", section: str = "validation", **configs: str) -> ValidationRequest:
        if setting:
            set_mirror(world, setting, section)
        world.target.create_topics([NewTopic("orders", 2, 1, configs)])
        for partition in (0, 1):
            world.source.produce("orders", partition, *RECORDS)
        do(world, *BEFORE_START, StartMirrorOperator)
        mirror(world, {P0: 4, TopicPartition("orders", 1): 4})
        do(world, StopMirrorOperator)
        return request_of(world.run)

    return copy


@pytest.mark.parametrize(
    ("setting", "configs", "compacted", "untimed"),
    [
        ("", {}, [], ()),
        ("", {"cleanup.policy": "compact,delete"}, ["target"], ()),
        ("compacted: {orders: false}", {"cleanup.policy": "compact"}, [], ()),
        ("compacted: {orders: true}", {}, ["source", "target"], ()),
        ("timestamps: {orders: false}", {}, [], ("orders",)),
        ("timestamps: {orders: true}", {"message.timestamp.type": "LogAppendTime"}, [], ()),
    ],
)
def test_topics_are_compared_as_the_clusters_or_the_file_say(
    copied: Copied, setting: str, configs: dict[str, str], compacted: list[str], untimed: tuple[str, ...]
) -> None:
    """Each topic is compared by its settings on either cluster; what the migration file says goes before them."""
    request = copied(setting, **configs)

    assert compacted == [side for side, topics in request.compacted_topics.items() if topics == ("orders",)]
    assert untimed == request.untimed_topics


def test_policy_of_the_source_counts_too(world: World, copied: Copied) -> None:
    """The source may compact what was copied, whatever the target does."""
    world.source.topics["orders"].configs["cleanup.policy"] = "compact"

    assert {"source": ("orders",), "target": ()} == copied().compacted_topics


def test_aborted_records_are_looked_for_where_they_can_be(copied: Copied) -> None:
    """Spark reads what is committed, and is told that the target may hold more."""
    request = copied("isolation_level: read_uncommitted", "mirror")

    assert ("read_committed", True) == (request.isolation_level, request.is_uncommitted_copy)


def test_copy_under_other_names_is_spoken_of_by_the_sources(world: World) -> None:
    """Topics are made under their real names; ledger and plan know the source's, and Spark is told both."""
    set_mirror(world, PREFIXED)
    world.source.produce("orders", 0, *RECORDS)
    do(world, *BEFORE_START, StartMirrorOperator)
    assert {"shop-source.orders", "shop-source.audit"} <= set(world.target.topics)
    world.target.produce("shop-source.orders", 0, *RECORDS)
    store_position(world, 3)
    do(world, StopMirrorOperator)

    (window,) = [w for w in request_of(world.run).windows if not w.is_empty]
    assert ("orders", "shop-source.orders", 4, 4) == (
        window.topic,
        window.target_topic,
        window.source_end,
        window.target_end,
    )


def test_result_of_another_version_is_one_line(copied: Copied, world: World) -> None:
    """A result with a digest that this version does not know is not judged; the finding says what to clear."""
    copied()
    validated(world)
    newest = world.run.evidence.require(Kind.VALIDATION_RESULT)
    world.run.evidence.write(Kind.VALIDATION_RESULT, {**newest, "digest": "partition-position-xxhash64/1"})

    with pytest.raises(FailedForGood, match=r"VALIDATION_RESULT_MISSING · .*Clear validate_topics"):
        do(world, JudgeOperator)
