"""The validation job as it is run in production: `spark-submit` against two real clusters.

All topics are read by one submission (a Spark application takes about ten seconds to start); each test then
looks at its own topic in the result.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.migration.settings import Tolerance
from kafka_migration.core.validation.difference_kinds import DifferenceKind
from kafka_migration.core.validation.judging import judge_partition, judge_topics
from kafka_migration.core.validation.validation_contract import (
    KEY_DIGEST,
    POSITION_DIGEST,
    Digest,
    PartitionResult,
    ValidationRequest,
    ValidationResult,
    unanswered_windows,
)
from sandbox.sandbox import Sandbox
from tests.live.event_log import logged_to, scanned
from tests.live.validation_cases import DAMAGES, RECORDS, Scene, filled_scene, request_of_all
from tests.live.validation_scene import submit
from tests.present import present

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def scene(brokers: Sandbox) -> Iterator[Scene]:
    """Two clusters filled with every case."""
    with filled_scene(brokers) as scene:
        yield scene


@pytest.fixture(scope="module")
def request_of(scene: Scene) -> ValidationRequest:
    """The request over all windows."""
    return request_of_all(scene)


@pytest.fixture(scope="module")
def result(scene: Scene, request_of: ValidationRequest, tmp_path_factory: pytest.TempPathFactory) -> ValidationResult:
    """The result of one submission over all windows."""
    folder = tmp_path_factory.mktemp("job")
    ended, path = submit(scene, folder, request_of.to_document(), scene.clients)
    assert ended.returncode == 0, ended.stderr[-4000:]
    assert "clients.json" not in {p.name for p in folder.iterdir()}
    assert not [p.name for p in folder.iterdir() if p.name.startswith(".")]
    return ValidationResult.from_document(json.loads(path.read_text()))


def of_topic(result: ValidationResult, topic: str) -> list[PartitionResult]:
    """Return the results of a topic in the order of the request."""
    return [p for p in result.partitions if p.window.topic == topic]


def test_every_window_is_answered(request_of: ValidationRequest, result: ValidationResult) -> None:
    """The result has one entry per window, in the order of the request, and its sums add up."""
    assert unanswered_windows(request_of, result) == ()
    assert [p.window for p in result.partitions] == list(request_of.windows)
    assert result.source_records == sum(p.source.records for p in result.partitions)


def test_equal_partitions_pass(result: ValidationResult) -> None:
    """Headers, tombstones, null keys, two windows of a partition and empty windows compare equal."""
    whole, first, second, empty, _ = of_topic(result, "equal")

    assert all(p.equal for p in of_topic(result, "equal"))
    assert all(p.source_digest == p.target_digest for p in of_topic(result, "equal"))
    assert (empty.source_digest, len({p.source_digest for p in (whole, first, second)})) == ("0" * 16, 3)
    assert (whole.source.records, whole.blocks, whole.source.first_offset, whole.source.last_offset) == (35, 4, 0, 34)
    assert (first.target.records, first.target.first_offset, first.target.last_offset) == (12, 2, 13)
    assert (second.source.records, second.source.first_offset, second.target.first_offset) == (23, 12, 14)
    assert (empty.source.records, empty.blocks, empty.source.first_offset) == (0, 0, None)
    expected_bytes = sum(len(r.key or b"") + len(r.value or b"") for r in RECORDS)
    assert expected_bytes == whole.source.key_value_bytes == whole.target.key_value_bytes


def test_schema_ids_are_collected(result: ValidationResult) -> None:
    """The ids at the beginning of the target's records are in the result, by topic and part of the request."""
    assert {(each.topic, each.part): each.ids for each in result.schema_ids if each.complete} == {
        ("equal", "key"): (),
        ("equal", "value"): (),
        ("schemas", "key"): (),
        ("schemas", "value"): (7, 8),
    }


def test_aborted_transactions_are_not_records(result: ValidationResult) -> None:
    """Aborted records, markers and an aborted end of the source do not count."""
    (partition,) = of_topic(result, "transactions")

    assert partition.equal
    assert (partition.source.records, partition.target.records) == (15, 15)


@pytest.mark.parametrize("number", range(len(DAMAGES)))
def test_damage_is_named_at_its_place(result: ValidationResult, number: int) -> None:
    """Every damage is FAIL and named with its kind, its fields and the offsets on both sides."""
    _, kind, source_offset, target_offset, fields = DAMAGES[number]
    partition = of_topic(result, "damaged")[number]
    difference = present(partition.first_difference)

    assert (kind, source_offset, target_offset) == (
        difference.kind,
        difference.source_offset,
        difference.target_offset,
    )
    assert fields == difference.fields
    assert partition.source_digest != partition.target_digest
    assert kind in (partition.differences.damage if partition.differences else {DifferenceKind.REORDERED})
    assert judge_partition(partition)[0] is Verdict.FAIL


def test_purged_records_are_not_verifiable(result: ValidationResult) -> None:
    """A window that begins below the log start is said to be unreadable; what is left of it is compared by key."""
    (partition,) = of_topic(result, "purged")

    assert "log starts at offset 5; offsets [0, 5) are deleted" in present(partition.source_unreadable)
    assert (partition.source.records, partition.target.records) == (30, 35)
    assert {DifferenceKind.EXPIRED: 5} == present(partition.differences).counts
    assert judge_partition(partition)[0] is Verdict.NOT_VERIFIABLE


def test_damage_beside_purged_records_is_found(result: ValidationResult) -> None:
    """Retention hides the records that it deleted, and nothing else."""
    (partition,) = of_topic(result, "purged-damaged")

    assert {DifferenceKind.EXPIRED: 5, DifferenceKind.ALTERED: 1} == present(partition.differences).counts
    assert judge_partition(partition)[0] is Verdict.FAIL


def test_compaction_is_no_damage(result: ValidationResult) -> None:
    """A source that compacted after it was copied lacks records that have a newer one, and passes."""
    (partition,) = of_topic(result, "compacted")

    assert {DifferenceKind.COMPACTED: 10} == present(partition.differences).counts
    assert judge_partition(partition)[0] is Verdict.PASS


def test_aborted_records_that_were_copied_are_named(result: ValidationResult) -> None:
    """What an uncommitted MirrorMaker copied of an aborted transaction is damage unless the file allows so much."""
    (partition,) = of_topic(result, "uncommitted")

    assert {DifferenceKind.ABORTED: 5} == present(partition.differences).counts
    assert [5, 6, 7, 8, 9] == sorted(present(d.target_offset) for d in present(partition.differences).first)
    assert judge_partition(partition)[0] is Verdict.FAIL
    assert judge_partition(partition, tolerance=Tolerance(aborted=5))[0] is Verdict.WARN


def test_a_target_that_ends_early_lacks_records(result: ValidationResult) -> None:
    """Offsets beyond the target's end are missing records."""
    (partition,) = of_topic(result, "short")

    assert partition.target_unreadable is None
    difference = present(partition.first_difference)
    assert (difference.kind, difference.source_offset) == (DifferenceKind.MISSING, 30)
    assert judge_partition(partition)[0] is Verdict.FAIL


def test_a_topic_that_is_gone_is_not_verifiable(result: ValidationResult) -> None:
    """A target topic that does not exist stops nothing but its own verdict."""
    (partition,) = of_topic(result, "gone")

    assert "does not exist" in present(partition.target_unreadable)


def test_an_open_transaction_is_not_verifiable(result: ValidationResult) -> None:
    """Source records at or after the last stable offset are not waited for; what they hide is not a difference."""
    (partition,) = of_topic(result, "open")

    assert "transaction is open since offset 30" in present(partition.source_unreadable)
    assert (partition.source.records, partition.target.records) == (30, 35)
    assert judge_partition(partition)[0] is Verdict.NOT_VERIFIABLE


def test_topics_are_judged(result: ValidationResult) -> None:
    """The roll-up names a verdict per topic."""
    verdicts = {topic.topic: topic.verdict for topic in judge_topics(result)}

    assert verdicts == {
        "damaged": Verdict.FAIL,
        "equal": Verdict.PASS,
        "gone": Verdict.NOT_VERIFIABLE,
        "open": Verdict.NOT_VERIFIABLE,
        "compacted": Verdict.PASS,
        "purged": Verdict.NOT_VERIFIABLE,
        "purged-damaged": Verdict.FAIL,
        "schemas": Verdict.PASS,
        "uncommitted": Verdict.FAIL,
        "short": Verdict.FAIL,
        "transactions": Verdict.PASS,
    }


@pytest.mark.campaign
@pytest.mark.parametrize("digest", [POSITION_DIGEST, KEY_DIGEST])
def test_a_clean_comparison_reads_each_record_once(
    scene: Scene, request_of: ValidationRequest, tmp_path: Path, digest: Digest
) -> None:
    """One query compares all clean topics; each of its two scans of Kafka reads every committed record once."""
    clean = tuple(w for w in scene.windows if (w.topic, w.partition) in {("equal", 0), ("transactions", 0)})
    wanted = replace(request_of, windows=clean, digest=digest)

    ended, path = submit(scene, tmp_path, wanted.to_document(), scene.clients, conf=logged_to(tmp_path / "log"))

    assert ended.returncode == 0, ended.stderr[-4000:]
    found = ValidationResult.from_document(json.loads(path.read_text()))
    assert {Verdict.PASS} == {topic.verdict for topic in judge_topics(found)}
    records = len(RECORDS) + 15
    assert [[records, records]] == scanned(tmp_path / "log")


def test_an_unreachable_cluster_is_one_line(scene: Scene, request_of: ValidationRequest, tmp_path: Path) -> None:
    """A cluster that does not answer ends the job with exit code 1 and one coded line, without secrets or a result."""
    clients = scene.clients
    clients["target"] |= {
        "kafka.bootstrap.servers": "127.0.0.1:1",
        "kafka.default.api.timeout.ms": "3000",
        "kafka.request.timeout.ms": "2000",
        "kafka.ssl.key.password": "s3cr3t-s3cr3t",
    }

    ended, path = submit(scene, tmp_path, request_of.to_document(), clients)

    assert ended.returncode == 1
    assert not path.exists()
    lines = [line for line in ended.stdout.splitlines() if line.startswith("validate_topics: ")]
    assert len(lines) == 1
    assert lines[0].startswith(
        "validate_topics: CLUSTER_UNREACHABLE: asking the target cluster (127.0.0.1:1) for the log bounds"
    )
    assert "Traceback" not in ended.stdout + ended.stderr
    assert "s3cr3t-s3cr3t" not in ended.stdout + ended.stderr


@pytest.mark.campaign
def test_an_option_that_splits_partitions_is_refused(
    scene: Scene, request_of: ValidationRequest, tmp_path: Path
) -> None:
    """Reader options that would break ranks are refused before anything is read."""
    clients = scene.clients
    clients["source"]["minPartitions"] = "100"

    ended, path = submit(scene, tmp_path, request_of.to_document(), clients)

    assert (ended.returncode, path.exists()) == (1, False)
    assert "validate_topics: SPARK_FAILED: the clients file sets minPartitions" in ended.stdout
