"""The validation job comparing by key, on two real clusters: topics whose copy has other partitions.

It runs on a standalone Spark cluster, so that its executors are processes of their own.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import pytest
from confluent_kafka import Producer

from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.ledger.generations import Window
from kafka_migration.core.validation.difference_kinds import DifferenceKind
from kafka_migration.core.validation.judging import judge_topics
from kafka_migration.core.validation.validation_contract import (
    KEY_DIGEST,
    TopicResult,
    ValidationRequest,
    ValidationResult,
)
from sandbox.sandbox import Sandbox
from tests.live.spark_cluster import spark_cluster
from tests.live.validation_scene import Clusters, Sent, Side, plain, submit
from tests.present import present
from tests.waiting import wait_until

pytestmark = pytest.mark.live

SOURCE_PARTITIONS, TARGET_PARTITIONS = 3, 5
RECORDS = [record for record in plain(120) if record.key is not None]
KEYLESS = [replace(record, key=None) for record in plain(40)]
OTHER = Sent(b"key-1", b"foreign")
FIRST = RECORDS[50]
TWIN = next(n for n in range(51, 120) if RECORDS[n].key == FIRST.key)

# What the target holds of RECORDS, and the kinds and fields of what must be found, in any partition.
DAMAGES: dict[str, tuple[Sequence[Sent], list[tuple[DifferenceKind, tuple[str, ...]]]]] = {
    "missing": ([*RECORDS[:50], *RECORDS[51:]], [(DifferenceKind.MISSING, ())]),
    "extra": ([*RECORDS[:50], OTHER, *RECORDS[50:]], [(DifferenceKind.EXTRA, ())]),
    "duplicate": ([*RECORDS[:51], FIRST, *RECORDS[51:]], [(DifferenceKind.DUPLICATE, ())]),
    "stale": ([*RECORDS, FIRST], [(DifferenceKind.STALE, ())]),
    "reordered": (
        [*RECORDS[:50], RECORDS[TWIN], *RECORDS[51:TWIN], FIRST, *RECORDS[TWIN + 1 :]],
        [(DifferenceKind.REORDERED, ())],
    ),
    "value": ([*RECORDS[:50], replace(FIRST, value=b"?"), *RECORDS[51:]], [(DifferenceKind.ALTERED, ("value",))]),
    "headers": (
        [*RECORDS[:50], replace(FIRST, headers=[("?", b"?")]), *RECORDS[51:]],
        [(DifferenceKind.ALTERED, ("headers",))],
    ),
    "timestamp": (
        [*RECORDS[:50], replace(FIRST, timestamp_ms=1), *RECORDS[51:]],
        [(DifferenceKind.ALTERED, ("timestamp",))],
    ),
    "key": ([*RECORDS[:50], replace(FIRST, key=b"key-?"), *RECORDS[51:]], [(DifferenceKind.ALTERED, ("key",))]),
}


@dataclass
class Scene(Clusters):
    """Both clusters, and what is to be compared."""

    windows: list[Window] = field(default_factory=list)

    def copied(self, topic: str, ours: Sequence[Sent], theirs: Sequence[Sent]) -> None:
        """Send records to both sides, each key to one partition of either, and ask for all of them."""
        self.create(topic, SOURCE_PARTITIONS, TARGET_PARTITIONS)
        ends = _send(self.source, topic, ours, SOURCE_PARTITIONS), _send(self.target, topic, theirs, TARGET_PARTITIONS)
        for partition in range(max(SOURCE_PARTITIONS, TARGET_PARTITIONS)):
            source, target = (end.get(partition, 0) for end in ends)
            self.windows.append(Window(1, topic, topic, partition, 0, source, 0, target))

    def leave_holes(self, topic: str, count: int) -> None:
        """Leave so many offsets of the source without a record, and one for a marker, as a cleaner would leave them."""
        self.source.transaction(topic, [RECORDS[0]] * count, "abort")
        number = next(n for n, window in enumerate(self.windows) if (window.topic, window.partition) == (topic, 0))
        first = self.windows[number]
        self.windows[number] = replace(first, source_end=first.source_end + count + 1)


def _send(side: Side, topic: str, records: Sequence[Sent], partitions: int) -> dict[int, int]:
    """Send records; those without a key go round. Returns how many each partition got."""
    placed: defaultdict[int, list[Sent]] = defaultdict(list)
    for number, record in enumerate(records):
        placed[number % partitions if record.key is None else sum(record.key) % partitions].append(record)
    side.send_all(topic, placed)
    return {partition: len(mine) for partition, mine in placed.items()}


# Compiling the plans of this job costs more than running it. Whole runs compare by key with compiled plans.
INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}


@pytest.fixture(scope="module")
def scene(brokers: Sandbox) -> Iterator[Scene]:
    """Two clusters filled with every case."""
    with Scene.of(brokers) as scene:
        scene.copied("equal", [*RECORDS, *KEYLESS], [*RECORDS, *KEYLESS])
        scene.copied("empty", [], [])
        for name, (theirs, _) in DAMAGES.items():
            scene.copied(f"damaged-{name}", RECORDS, theirs)
        scene.copied("appended", RECORDS, [replace(record, timestamp_ms=1) for record in RECORDS])
        scene.copied("purged", RECORDS, RECORDS)
        scene.source.purge("purged", 5)
        scene.copied("compacted", RECORDS[20:], RECORDS)
        scene.leave_holes("compacted", 20)
        _producer = fill_transactions(scene)
        yield scene


def fill_transactions(scene: Scene) -> Producer:
    """The source holds committed and aborted transactions in one partition; the target what was committed."""
    scene.create("transactions", 1, 1)
    for start, how in ((0, "commit"), (5, "abort"), (10, "commit")):
        producer = scene.source.transaction("transactions", RECORDS[start : start + 5], how)
    scene.target.send("transactions", 0, [*RECORDS[:5], *RECORDS[10:15]])
    scene.windows.append(Window(1, "transactions", "transactions", 0, 0, 18, 0, 10))
    return producer


@pytest.fixture(scope="module")
def result(scene: Scene, tmp_path_factory: pytest.TempPathFactory) -> ValidationResult:
    """The result of one submission over all topics, after which the cluster has no application."""
    folder = tmp_path_factory.mktemp("job")
    request = ValidationRequest(
        "demo",
        "run",
        10,
        "read_committed",
        tuple(scene.windows),
        digest=KEY_DIGEST,
        untimed_topics=("appended",),
        compacted_topics={"source": ("compacted",)},
    )
    with spark_cluster(tmp_path_factory.mktemp("spark")) as spark:
        conf = {**spark.conf, **INTERPRETED}
        ended, path = submit(scene, folder, request.to_document(), scene.clients, spark.master, conf)
        wait_until(lambda: not spark.active, what="the end of the application")
    assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr[-4000:]
    assert (folder / "result.differences.parquet").is_dir()
    return ValidationResult.from_document(json.loads(path.read_text()))


def of_topic(result: ValidationResult, topic: str) -> TopicResult:
    """Return the result of a topic."""
    (found,) = [t for t in result.topics if t.topic == topic]
    return found


@pytest.mark.parametrize("topic", ["equal", "empty", "transactions", "appended"])
def test_clean_copy_over_other_partitions_is_equal(result: ValidationResult, topic: str) -> None:
    """Null keys in any order, tombstones, headers, aborted records, timestamps left out: the same digest."""
    found = of_topic(result, topic)

    assert (found.equal, found.differences) == (True, None)
    assert (found.source_records, found.source_digest) == (found.target_records, found.target_digest)


def test_every_partition_says_what_was_read_of_it(scene: Scene, result: ValidationResult) -> None:
    """Counts and offsets per partition and side add up to the topic's."""
    windows = [p for p in result.partitions if p.window.topic == "equal"]

    assert list(scene.windows) == [p.window for p in result.partitions]
    assert [p.window.source_end for p in windows] == [p.source.records for p in windows]
    assert [p.window.target_end for p in windows] == [p.target.records for p in windows]
    assert {0} == {p.target.first_offset for p in windows}
    expected = sum(len(r.key or b"") + len(r.value or b"") for r in [*RECORDS, *KEYLESS])
    assert expected == sum(p.target.key_value_bytes for p in windows)


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_labelled_and_located(scene: Scene, result: ValidationResult, name: str) -> None:
    """Every damage is found as what it is, and its offsets hold the records that it names."""
    found = of_topic(result, f"damaged-{name}")
    assert found.differences is not None
    expected = DAMAGES[name][1]

    assert expected == [(d.kind, d.fields) for d in found.differences.first]
    assert {kind: 1 for kind, _ in expected} == found.differences.counts
    (difference,) = found.differences.first
    if difference.source_offset is not None and name != "reordered":
        assert FIRST.value == scene.source.read(
            f"damaged-{name}", present(difference.source_partition), difference.source_offset
        )


def test_purged_topic_is_not_verifiable(result: ValidationResult) -> None:
    """Where a part of the source is gone the rest is compared, and nothing is said to be equal."""
    found = of_topic(result, "purged")

    assert (found.equal, found.target_records - found.source_records) == (False, 5)
    assert {DifferenceKind.EXPIRED: 5} == present(found.differences).counts


def test_compacted_topic_is_equal_in_what_remains(result: ValidationResult) -> None:
    """What the source compacted since is named, and no damage."""
    found = of_topic(result, "compacted")

    assert (False, {DifferenceKind.COMPACTED: 20}) == (found.equal, present(found.differences).counts)


def test_topics_are_judged(result: ValidationResult) -> None:
    """The roll-up names a verdict per topic."""
    verdicts = {topic.topic: topic.verdict for topic in judge_topics(result)}
    good = dict.fromkeys(("equal", "empty", "transactions", "appended", "compacted"), Verdict.PASS)

    assert {**good, "purged": Verdict.NOT_VERIFIABLE} | {f"damaged-{n}": Verdict.FAIL for n in DAMAGES} == verdicts
