"""Rules of copies that are re-partitioned by MirrorMaker 1, under other names, or in transactions."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.validation.coverage_rules import coverage_of
from kafka_migration.core.validation.validation_contract import KEY_DIGEST, ValidationRequest
from kafka_migration.steps.validation.spark_request import request_of
from tests.steps.engines import lossy, set_mirror, set_topic
from tests.steps.tasks import BEFORE_START
from tests.steps.world import FOUR_RECORDS, P0, World
from tests.topic_verdicts import topic_verdict

Copied = Callable[..., ValidationRequest]

PREFIXED = "topic_names: {naming: prefixed}"
KINDS = ["engine: mirrormaker1", PREFIXED, "exactly_once: true"]


@pytest.mark.parametrize("mode", ["sync", "validate"])
def test_repartitioned_copy_is_compared_by_key(world: World, mode: str) -> None:
    """All partitions of a re-partitioned topic are one comparison by key, which can pass."""
    engine = lossy(world)
    world.target.create_topics([NewTopic("orders", 5, 1, {}), NewTopic("audit", 1, 1, {})])
    world.source.produce("orders", 0, *FOUR_RECORDS)
    world.start()
    world.target.produce("orders", 4, *FOUR_RECORDS)
    engine.positions[P0] = 4
    world.do("stop_mirror")
    if mode == "validate":
        world.next_run()
        world.params["mode"] = mode
        world.do(*BEFORE_START)
    request = request_of(world.run)
    world.validated()
    ranges = {w.partition: (w.source_end, w.target_end) for w in request.windows if w.topic == "orders"}

    assert KEY_DIGEST == request.digest
    assert {0: (4, 0), 1: (0, 0), 2: (0, 0), 3: (0, 0), 4: (0, 4)} == ranges
    assert "PASS" == world.do("judge")["verdict"]
    assert Verdict.PASS is topic_verdict(world.ledger, "orders")


def test_repartitioned_copy_may_have_other_partition_counts(world: World) -> None:
    """The target of MirrorMaker 1, which chooses partitions by key, may have another number of partitions."""
    lossy(world)
    world.target.create_topics([NewTopic("orders", 5, 1, {}), NewTopic("audit", 1, 1, {})])
    world.source.produce("orders", 0, *FOUR_RECORDS)

    assert 1 == world.start()["generation"]
    ends = world.ledger.generations[0].start.target_end_offsets
    assert 5 == len([p for p in ends if p.topic == "orders"])


@pytest.mark.parametrize(
    ("setting", "verdict"),
    [("", "WARN"), ("timestamps: false", "PASS")],
    ids=["unsaid", "said not to matter"],
)
def test_timestamps_that_the_target_makes_are_not_compared(world: World, setting: str, verdict: str) -> None:
    """Timestamps of a target topic with LogAppendTime are not compared, which is a warning unless the file says so."""
    if setting:
        set_topic(world, setting)
    world.target.create_topics([NewTopic("orders", 2, 1, {"message.timestamp.type": "LogAppendTime"})])
    world.source.produce("orders", 0, *FOUR_RECORDS)
    world.copy({P0: 4})
    request = request_of(world.run)
    world.validated()

    assert ("orders",) == request.untimed_topics
    assert verdict == world.do("judge")["verdict"]
    (warning,) = world.run.evidence.require(Kind.JUDGE)["warnings"]
    assert ("TIMESTAMPS_NOT_COMPARED", "topic orders") == (warning["code"], warning["subject"])
    covered = coverage_of(world.ledger)["orders"]
    assert (verdict, True) == (str(covered.verdict), covered.is_proved)


@pytest.fixture
def copied(world: World) -> Copied:
    """Copy four records of each partition with a setting of the file, and return the validation request."""

    def copy(setting: str = "", **configs: str) -> ValidationRequest:
        if setting:
            set_topic(world, setting)
        world.target.create_topics([NewTopic("orders", 2, 1, configs)])
        for partition in (0, 1):
            world.source.produce("orders", partition, *FOUR_RECORDS)
        world.copy({P0: 4, TopicPartition("orders", 1): 4})
        return request_of(world.run)

    return copy


@pytest.mark.parametrize(
    ("setting", "configs", "compacted", "untimed"),
    [
        ("", {}, [], ()),
        ("", {"cleanup.policy": "compact,delete"}, ["target"], ()),
        ("compacted: false", {"cleanup.policy": "compact"}, [], ()),
        ("compacted: true", {}, ["source", "target"], ()),
        ("timestamps: false", {}, [], ("orders",)),
        ("timestamps: true", {"message.timestamp.type": "LogAppendTime"}, [], ()),
    ],
)
def test_topics_are_compared_as_the_clusters_or_the_file_say(
    copied: Copied, setting: str, configs: dict[str, str], compacted: list[str], untimed: tuple[str, ...]
) -> None:
    """A topic is compared by its settings on the clusters, unless the migration file says otherwise."""
    request = copied(setting, **configs)

    assert compacted == [side for side, topics in request.compacted_topics.items() if topics == ("orders",)]
    assert untimed == request.untimed_topics


def test_policy_of_the_source_counts_too(world: World, copied: Copied) -> None:
    """A source topic that is compacted is compared as such, whatever the target's policy."""
    world.source.topics["orders"].configs["cleanup.policy"] = "compact"

    assert {"source": ("orders",), "target": ()} == copied().compacted_topics


def test_aborted_records_are_looked_for_where_they_can_be(world: World, copied: Copied) -> None:
    """For an uncommitted copy Spark reads committed records, and knows that the target may have more."""
    set_mirror(world, "isolation_level: read_uncommitted")
    request = copied()

    assert ("read_committed", True) == (request.isolation_level, request.is_uncommitted_copy)


def test_copy_under_other_names_is_known_by_the_names_of_the_source(world: World) -> None:
    """Topics are created with the target's names; ledger and plan have the source's, and Spark gets both."""
    set_mirror(world, PREFIXED)
    world.source.produce("orders", 0, *FOUR_RECORDS)
    world.start()
    assert {"shop-source.orders", "shop-source.audit"} <= set(world.target.topics)
    world.target.produce("shop-source.orders", 0, *FOUR_RECORDS)
    world.store_position(3)
    world.do("stop_mirror")

    (window,) = [w for w in request_of(world.run).windows if not w.is_empty]
    assert ("orders", "shop-source.orders", 4, 4) == (
        window.topic,
        window.target_topic,
        window.source_end,
        window.target_end,
    )


def test_result_of_another_version_is_refused(copied: Copied, world: World) -> None:
    """A result with an unknown digest is refused, and the finding says which task to clear."""
    copied()
    world.validated()
    newest = world.run.evidence.require(Kind.VALIDATION_RESULT)
    world.run.evidence.write(Kind.VALIDATION_RESULT, {**newest, "digest": "partition-position-xxhash64/1"})

    world.refuses("judge", match=r"VALIDATION_RESULT_MISSING · .*Clear the task validate_topics")


@pytest.mark.parametrize(
    ("policy", "setting", "is_longer"),
    [("compact", "", True), ("compact", "exactly_once: true", False), ("delete", "", False)],
)
def test_longer_range_of_a_compacted_target_is_no_pass(
    world: World, policy: str, setting: str, is_longer: bool
) -> None:
    """A record that others wrote is found although the cleaner took it; markers of transactions are no records."""
    if setting:
        set_mirror(world, setting)
    world.target.create_topics([NewTopic("orders", 2, 1, {"cleanup.policy": policy})])
    world.source.produce("orders", 0, *FOUR_RECORDS)
    world.start()
    world.mirror({P0: 4})
    world.target.produce("orders", 0, FOUR_RECORDS[0])
    world.do("stop_mirror")
    world.validated()

    if is_longer:
        assert "RECORDS_NOT_VERIFIABLE" in world.refuses("judge", match="is 1 offsets longer than the source's")
    else:
        assert "PASS" == world.do("judge")["verdict"]
