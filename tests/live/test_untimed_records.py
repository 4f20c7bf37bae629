"""Records of message format v0 have no timestamp: a broker of Kafka 2.4 holds some, a real MirrorMaker copies them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.kafka.records import RecordPrint
from kafka_migration.core.ledger.generations import Window
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.translation.translation_contract import (
    TopicToTranslate,
    TranslationRequest,
    TranslationResult,
)
from kafka_migration.core.validation.untimed_records import with_untimed_records
from kafka_migration.core.validation.validation_contract import DIGESTS
from kafka_migration.orchestration.operators.spark_submission import zip_package
from sandbox.sandbox import Sandbox
from sandbox.spark import JOB, run_spark
from tests.contract.engine_contract import PARTITIONS, Scene
from tests.live.comparison import compared
from tests.live.engine_world import LiveWorld
from tests.live.validation_scene import Clusters, Side
from tests.present import present

pytestmark = [pytest.mark.live, pytest.mark.campaign]

OLD_FORMAT = {"message.format.version": "0.9.0"}
# So many records without a timestamp in each partition of each topic; then as many with one in one of the topics.
UNTIMED = 12


@pytest.fixture(scope="module")
def brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A source that keeps the old format; the target is of the newest version."""
    with Sandbox(tmp_path_factory.mktemp("brokers"), airflow=False, versions={"source": "2.4.1"}) as running:
        yield running


@pytest.fixture
def scene(brokers: Sandbox, migration: Migration, tmp_path: Path) -> Iterator[Scene]:
    """Two topics of the old format, one of which gets records with timestamps later."""
    world = LiveWorld(brokers, tmp_path)
    made = Scene(world, replace(migration, topics=("old", "mixed")))
    for topic in made.migration.topics:
        world.source.create_topics([NewTopic(topic, PARTITIONS, 1, OLD_FORMAT)])
        world.target.create_topics([NewTopic(topic, PARTITIONS, 1, {})])
        for number in range(PARTITIONS):
            made.produce(topic, number, UNTIMED)
    yield made
    world.close()


def prints(scene: Scene, at: Offsets) -> list[tuple[RecordPrint, RecordPrint]]:
    """Return the records at these offsets of both sides."""
    sides = (scene.world.source.records_at(at, "read_committed"), scene.world.target.records_at(at, "read_committed"))
    return [(present(sides[0][partition]), present(sides[1][partition])) for partition in sorted(at)]


def test_records_without_a_timestamp_are_copied_and_proved(scene: Scene, brokers: Sandbox, tmp_path: Path) -> None:
    """MirrorMaker gives them the time of the copy: the copy is a warning with their number, and groups are exact."""
    before = round(time.time() * 1000)
    first, second = two_generations(scene)
    last_copied = {partition: end - 1 for partition, end in first.items()}

    pairs = prints(scene, last_copied)
    assert [True] * len(pairs) == [source.is_untimed and before <= copy.timestamp_ms for source, copy in pairs], pairs
    assert all(source.same_as(copy) and not copy.same_as(source) for source, copy in pairs)
    timed = prints(scene, {partition: end - 1 for partition, end in second.items() if partition.topic == "mixed"})
    assert all(not source.is_untimed and source.same_as(copy) for source, copy in timed)
    require_warned(brokers, tmp_path, second)
    require_exact_groups(brokers, tmp_path, second)


def two_generations(scene: Scene) -> tuple[Offsets, Offsets]:
    """Copy all; then more records come, some with a timestamp. Return the ends of both generations.

    At the second start the last copied records of the source are those that the first one has copied.
    """
    ends: list[Offsets] = []
    known: list[str] = []
    for number in range(2):
        if number:
            scene.world.source.alter_configs({"mixed": {"message.format.version": "2.4-IV1"}})
            for topic in scene.migration.topics:
                for partition in range(PARTITIONS):
                    scene.produce(topic, partition, UNTIMED, first=UNTIMED)
            at = {partition: end - 1 for partition, end in ends[0].items()}
            assert known == [source.digest for source, _ in prints(scene, at)]
        mirror = scene.start()
        scene.wait_copied()
        mirror.stop()
        ends.append(scene.ends())
        known = [source.digest for source, _ in prints(scene, {p: end - 1 for p, end in ends[-1].items()})]
    return ends[0], ends[1]


def require_warned(brokers: Sandbox, folder: Path, ends: Offsets) -> None:
    """By position and by key, nothing differs, and the records without a timestamp are counted."""
    state = brokers.state
    clusters = Clusters(Side(state.source_bootstrap), Side(state.target_bootstrap), state.spark_jars)
    windows = [Window(1, p.topic, p.topic, p.partition, 0, end, 0, end) for p, end in sorted(ends.items())]
    for digest in DIGESTS:
        (folder / digest.partition("/")[0]).mkdir()
        outcome = compared(clusters, folder / digest.partition("/")[0], windows, digest)
        judged = with_untimed_records(outcome.verdicts.values(), outcome.result)
        warned = {topic.topic: [(f.code, f.found.split()[0]) for f in topic.warnings] for topic in judged}

        assert not [topic.differences.counts for topic in judged if topic.differences.counts]
        assert {Verdict.WARN} == {topic.verdict for topic in judged}
        assert {
            "old": [(Code.RECORDS_WITHOUT_TIMESTAMP, f"{2 * PARTITIONS * UNTIMED}")],
            "mixed": [(Code.RECORDS_WITHOUT_TIMESTAMP, f"{PARTITIONS * UNTIMED}")],
        } == warned


def require_exact_groups(brokers: Sandbox, folder: Path, ends: Offsets) -> None:
    """Groups that stand among the old records and among the new ones get their own offsets, by key and in order."""
    topics = []
    for topic in ("old", "mixed"):
        vectors = tuple(dict.fromkeys(range(PARTITIONS), at) for at in (UNTIMED // 2, UNTIMED + 5))
        whole = {number: (0, ends[TopicPartition(topic, number)]) for number in range(PARTITIONS)}
        source = {number: (UNTIMED // 2, end) for number, (_, end) in whole.items()}
        topics += [TopicToTranslate(topic, topic, topic == "old", False, True, source, whole, vectors)]
    asked = TranslationRequest("id", "demo", "run", "read_committed", tuple(topics), {}, {})
    state = brokers.state
    clients = {
        "source": {"kafka.bootstrap.servers": state.source_bootstrap},
        "target": {"kafka.bootstrap.servers": state.target_bootstrap},
    }
    files = {name: folder / f"{name}.json" for name in ("clients", "request", "result")}
    files["clients"].write_text(json.dumps(clients))
    files["request"].write_text(json.dumps(asked.to_document()))
    package = zip_package(JOB.parent / "kafka_digest", folder)
    arguments = ["--clients-once", str(files["clients"]), "--request", str(files["request"])]
    job = JOB.parent / "translate_offsets.py"
    ended = run_spark(folder, job, [*arguments, "--result", files["result"].as_uri()], package, state.spark_jars)
    assert ended.returncode == 0, ended.stderr[-4000:] + ended.stdout[-4000:]
    found = TranslationResult.from_document(json.loads(files["result"].read_text())).translations

    for each in topics:
        for vector in each.vectors:
            plan = found[each.topic][tuple(sorted(vector.items()))]
            assert (vector, {}, True, 0) == (plan.goes_on_at, plan.missing, plan.is_minimal, plan.delivered_again)
