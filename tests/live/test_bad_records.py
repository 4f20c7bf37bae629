"""One topic of each kind of bad record among ten ordinary topics: the ordinary ones get their verdicts.

What no client of today sends is written into the logs of the stopped brokers.
"""

from __future__ import annotations

import json
import signal
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.ledger.generations import Window
from kafka_migration.core.translation.translation_contract import (
    TopicToTranslate,
    TranslationRequest,
    TranslationResult,
)
from kafka_migration.core.validation.judging import TopicVerdict, judge_topics
from kafka_migration.core.validation.validation_contract import (
    DIGESTS,
    Digest,
    ValidationRequest,
    ValidationResult,
    unanswered_windows,
)
from kafka_migration.orchestration.operators.spark_submission import zip_package
from sandbox.sandbox import Sandbox
from sandbox.spark import JOB, run_spark
from tests.live.raw_log import RawRecord, append, batch
from tests.live.validation_scene import START_MS, Clusters, Sent, Side, plain, submit
from tests.present import present
from tests.waiting import wait_until

pytestmark = pytest.mark.live

ORDINARY = [f"ordinary-{number}" for number in range(10)]
RECORDS = [record for record in plain(35) if record.key is not None]
SIDES = ("source", "target")
LAST_MS = 9_223_372_036_854_775
NANOSECONDS = START_MS * 1_000_000
FAR = 9_000_000_000
# MirrorMaker reads a header name with Java, which puts U+FFFD in the place of each bad byte.
NAMES = {"source": b"caf\xe9", "target": b"caf\xef\xbf\xbd"}


def timed(*timestamps_ms: int) -> list[Sent]:
    """Return records with these timestamps."""
    return [Sent(b"k%d" % number, b"v", timestamp_ms=at) for number, at in enumerate(timestamps_ms)]


# The topics that a producer of today fills, the same on both sides, and the window that is compared.
SENT: Mapping[str, tuple[Sequence[Sent], tuple[int, int]]] = {
    **{topic: (RECORDS, (0, len(RECORDS))) for topic in ORDINARY},
    "last-time": (timed(START_MS, LAST_MS), (0, 2)),
    "nanoseconds": (timed(START_MS, START_MS, NANOSECONDS, START_MS), (0, 4)),
    "nanoseconds-before": (timed(NANOSECONDS, START_MS, START_MS), (1, 3)),
    "nanoseconds-again": (timed(NANOSECONDS, START_MS, NANOSECONDS, START_MS), (1, 4)),
    "before-time": (timed(START_MS, START_MS, -LAST_MS * 2, START_MS), (0, 4)),
}
RAW: Mapping[str, tuple[int, int]] = {"latin-name": (0, 3), "far": (0, FAR + 10), "corrupt": (0, 6), "huge": (0, 2)}
# More than the memory of Spark's driver, which reads both sides at once.
HUGE = 400 << 20


def raw(topic: str, side: str) -> dict[int, list[bytes]]:
    """Return the segments of a topic that no client of today can fill."""
    if topic == "latin-name":
        headers = [(NAMES[side], b"1"), (b"none", None)]
        return {0: [batch(RawRecord(n, b"%d" % n, headers=headers)) for n in range(3)]}
    if topic == "far":
        return {base: [batch(RawRecord(base + n, b"%d" % n)) for n in range(10)] for base in (0, FAR)}
    if topic == "huge":
        return {0: [batch(RawRecord(0)), batch(RawRecord(1, bytes(HUGE)))]}
    is_corrupt = side == "target"
    return {0: [batch(RawRecord(n, b"%d" % n), is_corrupt=is_corrupt and n == 4) for n in range(6)]}


@dataclass
class Scene(Clusters):
    """Both clusters, and the windows to compare."""

    windows: list[Window] = field(default_factory=list)

    def clusters(self) -> tuple[ConfluentCluster, ConfluentCluster]:
        """Return both sides as the package sees them, with a client that checks checksums."""
        source, target = (
            ConfluentCluster(name, {"bootstrap.servers": side.bootstrap, "check.crcs": True})
            for name, side in (("source", self.source), ("target", self.target))
        )
        return source, target


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """Two clusters of their own with every topic; their brokers are stopped while the logs are written."""
    folder = tmp_path_factory.mktemp("sandbox")
    with Sandbox(folder, airflow=False) as brokers:
        state = brokers.state
        made = Scene(Side(state.source_bootstrap), Side(state.target_bootstrap), state.spark_jars)
        for side in (made.source, made.target):
            side.create_all(dict.fromkeys([*SENT, *RAW], 1))
            side.fill({(topic, 0): records for topic, (records, _) in SENT.items()})
        for name in SIDES:
            write_raw(brokers, folder / name / "data", name)
        bounds = {**{topic: window for topic, (_, window) in SENT.items()}, **RAW}
        made.windows += [Window(1, topic, topic, 0, *bounds[topic], *bounds[topic]) for topic in sorted(bounds)]
        yield made


def write_raw(brokers: Sandbox, data: Path, side: str) -> None:
    """Stop a broker in an orderly way, write into its logs, and start it again."""
    brokers.kill(side, signal.SIGTERM)
    wait_until((data / ".kafka_cleanshutdown").exists, 60, "the broker's end")
    for topic in RAW:
        append(data / f"{topic}-0", raw(topic, side))
    brokers.restart(side)


Verdicts = Mapping[str, TopicVerdict]


@pytest.fixture(scope="module", params=DIGESTS)
def verdicts(request: pytest.FixtureRequest, scene: Scene, tmp_path_factory: pytest.TempPathFactory) -> Verdicts:
    """The verdicts of one submission over all topics, by position and by key."""
    digest: Digest = request.param
    asked = ValidationRequest("demo", "run", 65_536, "read_committed", tuple(scene.windows), digest=digest)
    ended, path = submit(scene, tmp_path_factory.mktemp("job"), asked.to_document(), scene.clients)
    assert ended.returncode == 0, ended.stderr[-4000:] + ended.stdout[-4000:]
    result = ValidationResult.from_document(json.loads(path.read_text()))
    assert unanswered_windows(asked, result) == ()
    return {topic.topic: topic for topic in judge_topics(result)}


def test_ordinary_topics_get_their_verdicts_and_counts(verdicts: Verdicts) -> None:
    """A bad record of another topic takes neither a verdict nor a count from them."""
    found = {(verdicts[t].verdict, verdicts[t].source_records, verdicts[t].target_records) for t in ORDINARY}

    assert {(Verdict.PASS, len(RECORDS), len(RECORDS))} == found


@pytest.mark.parametrize(
    ("topic", "place", "reason"),
    [
        ("nanoseconds", "source: the record at offset 2 cannot be read", "beyond Spark's range"),
        ("nanoseconds-again", "source: the record at offset 2 cannot be read", "beyond Spark's range"),
        ("before-time", "source: the record at offset 2 cannot be read", "beyond Spark's range"),
        ("corrupt", "target: the record at offset 4 cannot be read", "corrupt"),
        ("huge", "source: a record at or after offset", "does not fit into the memory of Spark's tasks"),
    ],
)
def test_topic_with_a_bad_record_names_it(verdicts: Verdicts, topic: str, place: str, reason: str) -> None:
    """The verdict is NOT_VERIFIABLE, and the finding has code, topic, partition, side and offset."""
    found = verdicts[topic]
    (finding,) = found.findings

    assert (Verdict.NOT_VERIFIABLE, Code.RECORD_UNREADABLE) == (found.verdict, finding.code)
    assert f"topic {topic}" in finding.subject
    assert place in finding.found
    assert reason in finding.found


@pytest.mark.parametrize(
    ("topic", "records"), [("last-time", 2), ("nanoseconds-before", 2), ("latin-name", 3), ("far", 20)]
)
def test_strange_topic_that_can_be_compared_passes(verdicts: Verdicts, topic: str, records: int) -> None:
    """The greatest timestamp, a bad record before the window, more than 2³³ offsets, and header names of any bytes."""
    found = verdicts[topic]

    assert (Verdict.PASS, records, records) == (found.verdict, found.source_records, found.target_records)


def test_record_with_a_header_name_of_any_bytes_equals_its_copy(scene: Scene) -> None:
    """Plan, stop certificate, restart check and preflight read such a record; what is compared is the rest of it."""
    place = TopicPartition("latin-name", 0)
    source, target = (
        [present(cluster.records_at({place: offset}, "read_committed")[place]) for offset in range(3)]
        for cluster in scene.clusters()
    )
    sampled = list(scene.clusters()[0].sampled_records({place: 0}, {place: 3}, 60))

    assert [(False, True)] * 3 == [(s.headers_known, t.headers_known) for s, t in zip(source, target, strict=True)]
    assert [True, True, True] == [s.same_as(t) for s, t in zip(source, target, strict=True)]
    assert [False, False] == [source[0].same_as(other) for other in target[1:]]
    assert [len(b"key") + len(b"0")] * 3 == [record.size for record in sampled]


def test_record_that_cannot_be_read_equals_no_other(scene: Scene) -> None:
    """The client's error of one partition is that partition's answer; the others have theirs."""
    bad, good = TopicPartition("corrupt", 0), TopicPartition("ordinary-0", 0)
    source, target = (cluster.records_at({bad: 4, good: 0}, "read_committed") for cluster in scene.clusters())
    sampled = list(scene.clusters()[1].sampled_records({bad: 0, good: 0}, {bad: 6, good: 5}, 60))

    assert (True, False) == tuple(present(source[place]).same_as(present(target[place])) for place in (good, bad))
    assert "CRC" in present(target[bad]).unreadable
    assert {good: 5, bad: 4} == Counter(record.partition for record in sampled)


def test_groups_on_other_topics_are_translated(scene: Scene, tmp_path: Path) -> None:
    """The translation job refuses the topics with bad records, each with its place, and answers all others."""
    bad = {
        "nanoseconds": "source partition 0: the record at offset 2",
        "corrupt": "target partition 0: the record at offset 4",
    }
    topics = [*ORDINARY[:3], "far", *bad]
    windows = {window.topic: window for window in scene.windows}
    asked = TranslationRequest(
        "id", "demo", "run", "read_committed", tuple(to_translate(windows[t]) for t in topics), {}, {}
    )
    clients, request, result = (tmp_path / f"{name}.json" for name in ("clients", "request", "result"))
    clients.write_text(json.dumps(scene.clients))
    request.write_text(json.dumps(asked.to_document()))
    package = zip_package(JOB.parent / "kafka_digest", tmp_path)
    arguments = ["--clients-once", str(clients), "--request", str(request), "--result", result.as_uri()]
    ended = run_spark(tmp_path, JOB.parent / "translate_offsets.py", arguments, package, scene.jars)
    assert ended.returncode == 0, ended.stderr[-4000:] + ended.stdout[-4000:]
    found = TranslationResult.from_document(json.loads(result.read_text()))
    refused = found.untranslated

    assert {t: 1 for t in topics if t not in bad} == {t: len(v) for t, v in found.translations.items() if v}
    assert dict.fromkeys(bad, True) == {t: why.has_bad_record for t, why in refused.items()}
    assert all(bad[t] in (why.unreadable or "") for t, why in refused.items())


def to_translate(window: Window) -> TopicToTranslate:
    """Return a topic with a group that has read one record."""
    ranges = {0: (1, window.source_end)}, {0: (0, window.target_end)}
    return TopicToTranslate(window.topic, window.topic, True, False, True, *ranges, vectors=({0: 1},))
