"""Rules of the MirrorMaker 1 engine: what is rendered, and how its group is read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.kafka.cluster import GroupDescription, GroupState, NewTopic
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.mirror.engine import LaunchFacts
from kafka_migration.core.mirror.host import MirrorLaunch
from kafka_migration.core.mirror.mirror_process import HowEnded
from kafka_migration.engines.engines import engine_of
from kafka_migration.engines.mirrormaker1 import MirrorMaker1, exact_names
from tests.contract.fake_cluster import FakeCluster
from tests.contract.logging_mirror import ended

GOLDEN = Path(__file__).parent / "golden"
PLAIN = {"bootstrap.servers": "a:1,b:2"}
LOGIN = {"bootstrap.servers": "a:1", "sasl.mechanism": "PLAIN", "sasl.jaas.config": 'x password="canary";'}
ORDERS = TopicPartition("orders", 0)
GROUP = "kafka-migration-mirror-shop"


@pytest.fixture
def source() -> FakeCluster:
    """The source cluster, with a topic of one partition."""
    made = FakeCluster("old")
    made.create_topics([NewTopic("orders", 1, 1, {})])
    return made


@pytest.fixture
def engine(migration: Migration, source: FakeCluster) -> MirrorMaker1:
    """The engine between two clusters."""
    mirror = replace(migration.mirror, engine="mirrormaker1")
    made = engine_of(replace(migration, mirror=mirror), source, FakeCluster("new"))
    assert isinstance(made, MirrorMaker1)
    return made


def launch(
    engine: MirrorMaker1, source: Mapping[str, str] = PLAIN, properties: Mapping[str, str] | None = None
) -> MirrorLaunch:
    tuned = replace(engine.migration, mirror=replace(engine.migration.mirror, properties=properties or {}))
    return replace(engine, migration=tuned).launch(
        3, LaunchFacts(source, {"bootstrap.servers": "c:3"}, 2048, partitions=6)
    )


@pytest.mark.parametrize("file", ["consumer.properties", "producer.properties"])
def test_rendered_properties_are_the_safe_profile(engine: MirrorMaker1, file: str) -> None:
    """The rendered files are, line by line, those that were tried."""
    assert (GOLDEN / file).read_text() == launch(engine).files[file]


def test_command_line_is_private_and_names_every_flag_in_full(engine: MirrorMaker1) -> None:
    """The topics are an argument, so the host must not show arguments; nothing is left to defaults of the tool."""
    launched = launch(engine)

    assert launched.private_arguments
    assert ("splitting and retrying",) == launched.alarms
    assert (
        *("--consumer.config", "@GENERATION_DIR@/consumer.properties"),
        *("--producer.config", "@GENERATION_DIR@/producer.properties"),
        *("--whitelist", "^(orders|audit)$"),
        *("--num.streams", "2", "--offset.commit.interval.ms", "5000", "--abort.on.send.failure", "true"),
    ) == launched.arguments


@pytest.mark.parametrize("topic", ["a.b", "a-b", "a_b", "A9", "a.b.c"])
def test_expression_matches_the_topic_and_nothing_like_it(topic: str) -> None:
    """A dot is a dot, a name is whole, and what the tool does to the text before compiling it changes nothing."""
    expression = exact_names((topic, "other"))
    strange = {topic.replace(".", "x"), f"{topic}x", f"x{topic}", f"{topic}|other", f"{topic},other", ""} - {topic}

    assert expression == expression.replace(",", "|").replace(" ", "").strip("\"'")
    assert all(re.search(expression, name) for name in (topic, "other"))
    assert not [name for name in strange if re.search(expression, name)]


def test_secrets_travel_as_files_and_are_referred_to(engine: MirrorMaker1) -> None:
    """A login is a file of its own; the client resolves the reference by the one provider that is allowed."""
    launched = launch(engine, LOGIN)
    consumer = launched.files["consumer.properties"]

    assert LOGIN["sasl.jaas.config"] == launched.files["secrets/shop-source.sasl.jaas.config"]
    assert "sasl.jaas.config = ${dir:@GENERATION_DIR@/secrets:shop-source.sasl.jaas.config}\n" in consumer
    assert "config.providers.dir.param.allowed.paths = @GENERATION_DIR@/secrets\n" in consumer
    assert "config.providers" not in launched.files["producer.properties"]
    assert not any("canary" in text for text in (consumer, *launched.java_options, *launched.arguments))


def test_tuning_is_added_to_the_client_that_it_names(engine: MirrorMaker1) -> None:
    """`consumer.…` goes to the reader, `producer.…` to the writer, without the prefix."""
    files = launch(engine, properties={"consumer.fetch.min.bytes": "9", "producer.linger.ms": "7"}).files

    assert "fetch.min.bytes = 9\n" in files["consumer.properties"]
    assert "linger" not in files["consumer.properties"]
    assert "linger.ms = 7\n" in files["producer.properties"]


@pytest.mark.parametrize(
    ("properties", "largest"),
    [
        ({"producer.batch.size": "2049"}, "2048"),
        ({"producer.batch.size": "205", "producer.compression.type": "zstd"}, "204"),
        ({"producer.batch.size": "many"}, "2048"),
    ],
)
def test_batches_that_a_topic_refuses_are_refused(
    engine: MirrorMaker1, properties: dict[str, str], largest: str
) -> None:
    """A batch larger than a topic takes is split for ever; compressed, it may grow to ten times its size."""
    with pytest.raises(Refused) as raised:
        launch(engine, properties=properties)

    (finding,) = raised.value.findings
    assert Code.MIRROR_SETTING_UNSAFE is finding.code
    assert f"at most {largest} bytes" in finding.expected


def test_batches_within_the_limit_are_taken(engine: MirrorMaker1) -> None:
    """The largest batch that every topic accepts is accepted."""
    files = launch(engine, properties={"producer.batch.size": "2048"}).files

    assert "batch.size = 2048\n" in files["producer.properties"]


def test_positions_are_the_commits_of_its_group(engine: MirrorMaker1, source: FakeCluster) -> None:
    """A commit is the next record to copy; topics that the migration does not name, and other groups, do not count."""
    assert {} == engine.stored_positions(("orders", "audit"))
    source.commit(GROUP, {ORDERS: 42, TopicPartition("foreign", 0): 7})
    source.commit("other", {ORDERS: 1})

    assert {ORDERS: 42} == engine.stored_positions(("orders", "audit"))


def test_assignment_is_known_while_the_group_is_stable(
    engine: MirrorMaker1, source: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without members, or during a rebalance, the assignment is unknown; nothing ever counts as failed."""
    assert engine.health(1, ended("")).assigned is None
    source.join(GROUP, "a", "/h", ORDERS)
    source.join(GROUP, "b", "/h", TopicPartition("audit", 1))

    assert frozenset({ORDERS, TopicPartition("audit", 1)}) == engine.health(1, ended("")).assigned
    assert ((), ()) == (engine.health(1, ended("")).failed, engine.health(1, ended("")).differences)
    moving = GroupDescription(GROUP, GroupState.PREPARING_REBALANCING, tuple(source.groups[GROUP].members))
    monkeypatch.setattr(FakeCluster, "describe_groups", lambda cluster, groups: {GROUP: moving})
    assert engine.health(1, ended("")).assigned is None


def test_rewind_sets_its_group_back_once_it_is_empty(engine: MirrorMaker1, source: FakeCluster) -> None:
    """A killed process counts as alive until its session is over."""
    source.commit(GROUP, {ORDERS: 42})
    source.join(GROUP)
    with pytest.raises(Refused, match="GROUP_ACTIVE"):
        engine.rewind({ORDERS: 5})
    assert {ORDERS: 42} == engine.stored_positions(("orders",))

    source.leave(GROUP)
    engine.rewind({ORDERS: 5})

    assert {ORDERS: 5} == engine.stored_positions(("orders",))


def test_end_is_told_by_the_log(engine: MirrorMaker1) -> None:
    """It logs a successful shutdown after a failure too; then, and without that line, it was not graceful."""
    stopped = "[2026] INFO Kafka mirror maker shutdown successfully (kafka.tools.MirrorMaker$)\n"
    failed = "[2026] ERROR [mirrormaker-thread-0] Mirror maker thread exited abnormally, stopping the whole\n"
    unsent = "[2026] INFO Exiting on send failure, skip committing offsets. (kafka.tools.MirrorMaker$)\n"
    logs = (stopped, failed + stopped, unsent + stopped, "INFO Closing producer.\n")

    orderly, unknown = HowEnded.ORDERLY, HowEnded.UNKNOWN
    assert [orderly, unknown, unknown, unknown] == [engine.ending(ended(log)).how for log in logs]


def test_split_batches_make_its_position_worthless(engine: MirrorMaker1) -> None:
    """It commits records of a split batch that never arrived."""
    line = "WARN … topic-partition a-0, splitting and retrying (3 attempts left)"

    assert engine.ending(ended(line)).distrusts_positions
    assert engine.ending(replace(ended("INFO fine"), alarm=line)).distrusts_positions
    assert not engine.ending(ended("INFO fine")).distrusts_positions


def test_it_keeps_neither_partitions_nor_topics_of_its_own(engine: MirrorMaker1) -> None:
    """There is nothing of earlier generations to delete; forgetting its positions is deleting its group."""
    assert not engine.migration.keeps_partitions
    assert () == engine.stale_topics(3, ["mm2-configs.shop-source.g2.internal"])
    assert f"--delete --group {GROUP}" in engine.reset_command()
