"""One topic of each odd kind among ten ordinary topics: the ordinary ones get their verdicts and their groups.

Real MirrorMaker 2, real Spark. The oracle is a plain consumer of both sides. What no client of today sends is written
into the log of the stopped broker.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Producer
from confluent_kafka import TopicPartition as ClientPartition

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.groups.offsets_plan import GroupPlan, OffsetsPlan, Proof
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.ledger.generations import GenerationStart, StopCertificate
from kafka_migration.orchestration.cutover.moving import PlanOffsetsOperator
from kafka_migration.orchestration.operators.copying import (
    JudgeOperator,
    PreflightOperator,
    ReserveOperator,
    ValidateTopicsOperator,
)
from kafka_migration.orchestration.task.failures import FailedForGood
from sandbox.environment import search_path
from sandbox.sandbox import Sandbox
from tests.live.groups import commit
from tests.live.raw_commit import NO_ERROR, commit_raw
from tests.live.raw_log import RawRecord, append, batch, damage_last_batch, old_message
from tests.live.stage import Stage, set_the_stage
from tests.live.validation_scene import START_MS, Sent, Side, plain
from tests.waiting import wait_until

pytestmark = [pytest.mark.live, pytest.mark.campaign]

ORDINARY = [f"ordinary-{number}" for number in range(10)]
RECORDS = plain(35)
FAR = 9_000_000_000
LONG_OPEN_MS = 900_000
# How a reader of the file names a topic that gets the target's time.
APPENDED = "{name: log-append, configs: {message.timestamp.type: LogAppendTime}}"
RAW: Mapping[str, Mapping[int, Sequence[bytes]]] = {
    "latin-name": {0: [batch(RawRecord(n, b"%d" % n, headers=[(b"caf\xe9", b"1")])) for n in range(6)]},
    "untimed": {0: [old_message(n, b"%d" % n) for n in range(6)]},
    "far": {base: [batch(RawRecord(base + n, b"%d" % (base + n))) for n in range(10)] for base in (0, FAR)},
}
ODD = ["nanoseconds", "damaged", *RAW, "log-append", "open", "half", "purged"]
# The groups on ordinary-0 that look like those of an application.
APPLICATIONS = ["connect-sink", "shop-streams", "shop-flink", "spark-kafka-source-1"]
Clusters = tuple[Sandbox, Mapping[str, Path]]
Read = dict[int, list[tuple[int, bytes | None, bytes | None]]]


def timed(*timestamps_ms: int) -> list[Sent]:
    """Return records with these timestamps."""
    return [Sent(b"k%d" % number, b"v%d" % number, timestamp_ms=at) for number, at in enumerate(timestamps_ms)]


@pytest.fixture(scope="module")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clusters]:
    """Two clusters of their own, because their brokers are stopped; and where their data is."""
    folder = tmp_path_factory.mktemp("sandbox")
    with Sandbox(folder, airflow=False) as running:
        yield running, {side: folder / side / "data" for side in ("source", "target")}


class Rehearsal:
    """A rehearsal on these clusters, and a plain consumer of both sides."""

    def __init__(self, clusters: Clusters, folder: Path, name: str, topics: Sequence[str]) -> None:
        self.sandbox, self.data = clusters
        self.stage = Stage(self.sandbox, name, folder, topics)
        self.stage.params = {"mode": "rehearse"}
        self.source = Side(self.sandbox.state.source_bootstrap)

    def change_logs(self, side: str, change: Any) -> Any:
        """Stop a broker in an orderly way, change its files, and start it again; return what the change returns."""
        self.sandbox.kill(side, signal.SIGTERM)
        wait_until((self.data[side] / ".kafka_cleanshutdown").exists, 60, "the broker's end")
        changed = change(self.data[side])
        self.sandbox.restart(side)
        return changed

    def commit(self, group: str, topic: str, offsets: dict[int, int]) -> None:
        """Commit offsets on the source."""
        commit(self.stage.source, group, topic, offsets)

    def judged(self) -> dict[str, dict[str, Any]]:
        """Validate and judge; return the rows of the topics."""
        self.stage.do(ValidateTopicsOperator, JudgeOperator)
        return {row["topic"]: row for row in self.stage.run.evidence.require(Kind.JUDGE)["topics"]}

    def planned(self) -> OffsetsPlan:
        """Plan every group."""
        self.stage.do(PlanOffsetsOperator)
        return OffsetsPlan.from_document(self.stage.run.evidence.require(Kind.OFFSETS_PLAN)["plan"])

    def warnings(self) -> list[tuple[str, str]]:
        """Return code and subject of every warning of the run."""
        documents = [self.stage.run.evidence.newest(kind) for kind in Kind]
        return [(w["code"], w["subject"]) for each in documents if each for w in each.get("warnings", ())]

    def require_exact(self, plan: GroupPlan, topic: str, offsets: Mapping[int, int]) -> None:
        """The group reads on the target exactly what it has not read on the source, and the plan is proved."""
        source, target = read_plainly(self.stage.source, topic), read_plainly(self.stage.target, topic)
        assert () == plan.refusals, (plan.group, plan.refusals)
        assert Proof.NONE not in plan.proofs
        assert all(move.is_minimal for move in plan.moves)
        for partition, offset in offsets.items():
            place = plan.proposed[TopicPartition(topic, partition)].offset
            unread = [record[1:] for record in source[partition] if record[0] >= offset]
            assert unread == [record[1:] for record in target[partition] if record[0] >= place], (plan.group, partition)


def read_plainly(side: Mapping[str, str], topic: str) -> Read:
    """Return offset, key and value of every committed record, by partition."""
    settings = {"enable.auto.commit": False, "enable.partition.eof": True, "isolation.level": "read_committed"}
    with closing(Consumer({**side, **settings, "group.id": f"oracle-{uuid4().hex}"})) as reader:
        numbers = list(reader.list_topics(topic, timeout=60).topics[topic].partitions)
        reader.assign([ClientPartition(topic, number, OFFSET_BEGINNING) for number in numbers])
        found: Read = {number: [] for number in numbers}
        left = set(numbers)

        def has_read_all() -> bool:
            for message in reader.consume(1_000, timeout=1):
                if message.error() is None:
                    found[message.partition()].append((message.offset(), message.key(), message.value()))
                else:
                    assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
                    left.discard(message.partition())
            return not left

        wait_until(has_read_all, 120, f"the end of {topic}")
    return found


def transaction(side: Mapping[str, str], topic: str, partition: int, *values: bytes) -> Producer:
    """Begin a transaction and write into it."""
    settings = {"transactional.id": uuid4().hex, "transaction.timeout.ms": LONG_OPEN_MS}
    producer = Producer({**side, **settings})
    producer.init_transactions(60)
    producer.begin_transaction()
    for value in values:
        producer.produce(topic, value=value, partition=partition)
    assert producer.flush(60) == 0
    return producer


@pytest.fixture
def staged(clusters: Clusters, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of migration files and evidence; tasks of this process find connections and Spark."""
    sandbox, _ = clusters
    set_the_stage(sandbox, tmp_path, monkeypatch)
    monkeypatch.setenv("PATH", search_path())
    for setting, value in sandbox.state.environment.items():
        if "SPARK" in setting:
            monkeypatch.setenv(setting, value)
    return tmp_path


def append_all(data: Path, raw: Mapping[str, Mapping[int, Sequence[bytes]]]) -> None:
    """Append to the first partition of topics in a stopped broker's data."""
    for topic, segments in raw.items():
        append(data / f"{topic}-0", segments)


def fill(rehearsal: Rehearsal) -> Producer:
    """Fill the source, and commit; return the producer of the transaction that stays open."""
    source, side = rehearsal.source, rehearsal.stage.source
    source.create_all({**dict.fromkeys(ORDINARY, 2), **dict.fromkeys(ODD, 1), "half": 3})
    source.create("shop-streams-totals-changelog")
    source.fill({(topic, number): RECORDS for topic in ORDINARY for number in (0, 1)})
    source.fill({(topic, 0): RECORDS for topic in ("damaged", "log-append", "half")} | {("half", 1): RECORDS[:6]})
    source.fill({("nanoseconds", 0): timed(START_MS, START_MS, START_MS * 1_000_000, START_MS)})
    source.fill({("purged", 0): timed(*range(START_MS, START_MS + 60))})
    source.purge("purged", 50)
    transaction(side, "half", 2, b"never").abort_transaction(60)
    transaction(side, "open", 0, b"a", b"b").commit_transaction(60)
    transaction(side, "open", 0, b"aborted").abort_transaction(60)
    transaction(side, "open", 0, b"c", b"d").commit_transaction(60)
    rehearsal.change_logs("source", lambda data: append_all(data, RAW))
    return transaction(side, "open", 0, b"not yet")


STANDS: Mapping[str, dict[int, int]] = {
    **{topic: {0: 10 + number, 1: 35 - number} for number, topic in enumerate(ORDINARY)},
    "nanoseconds": {0: 1},
    "damaged": {0: 1},
    "latin-name": {0: 2},
    "untimed": {0: 2},
    "far": {0: FAR + 3},
    "log-append": {0: 7},
    "open": {0: 1},
    "half": {0: 7},
    "purged": {0: 10},
}
UNPROVED = ("damaged", "nanoseconds")


def commit_all(rehearsal: Rehearsal) -> None:
    """Commit for a group on each topic, for those of applications, and for one without an id."""
    for topic, offsets in STANDS.items():
        rehearsal.commit(f"group-{topic}", topic, offsets)
    for group in APPLICATIONS:
        rehearsal.commit(group, "ordinary-0", STANDS["ordinary-0"])
    for topic in ("ordinary-1", "nanoseconds"):
        rehearsal.commit("group-across", topic, STANDS[topic])
    address = rehearsal.stage.source["bootstrap.servers"]
    wait_until(lambda: commit_raw(address, b"", "ordinary-0", {0: 3}) == {0: NO_ERROR}, 60, "the commit without an id")


def test_ordinary_topics_among_odd_ones(clusters: Clusters, staged: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """In one run of MirrorMaker 2, the ordinary topics are proved and their groups get exact offsets; each odd topic
    and group has its own finding, with code, topic, partition and offset, and takes nothing from the others."""
    topics = [*ORDINARY, *(APPENDED if topic == "log-append" else topic for topic in ODD)]
    rehearsal = Rehearsal(clusters, staged, "odd", topics)
    opened = fill(rehearsal)
    commit_all(rehearsal)
    try:
        rehearsal.stage.start()
        event = rehearsal.stage.watch()
        rehearsal.stage.complete(event)
        rehearsal.stage.stop()
        damaged = rehearsal.change_logs("target", lambda data: damage_last_batch(data / "damaged-0"))
        rows, plan = rehearsal.judged(), rehearsal.planned()
    finally:
        rehearsal.stage.end()

    require_verdicts(rows, damaged)
    require_groups(rehearsal, plan)
    require_hints(rehearsal, plan)
    assert "Traceback" not in "".join(capfd.readouterr())
    opened.abort_transaction(60)


def require_verdicts(rows: Mapping[str, Mapping[str, Any]], damaged: int) -> None:
    """Each topic has its own verdict, count and finding."""
    ordinary = {
        (rows[topic]["verdict"], rows[topic]["source_records"], rows[topic]["target_records"]) for topic in ORDINARY
    }
    assert {("PASS", 2 * len(RECORDS), 2 * len(RECORDS))} == ordinary
    assert {
        "nanoseconds": "NOT_VERIFIABLE",
        "damaged": "NOT_VERIFIABLE",
        "latin-name": "PASS",
        "untimed": "WARN",
        "far": "PASS",
        "log-append": "WARN",
        "open": "PASS",
        "half": "PASS",
        "purged": "PASS",
    } == {topic: rows[topic]["verdict"] for topic in ODD}
    places = {"nanoseconds": "source: the record at offset 2 ", "damaged": f"target: the record at offset {damaged} "}
    for topic, row in rows.items():
        assert [Code.RECORD_UNREADABLE] * (topic in places) == [finding["code"] for finding in row["findings"]], topic
    for topic, place in places.items():
        (finding,) = rows[topic]["findings"]
        assert f"topic {topic}" in finding["subject"]
        assert place in finding["found"]


def require_groups(rehearsal: Rehearsal, plan: OffsetsPlan) -> None:
    """Only the groups on topics without a proof are left out; all others have exact offsets."""
    groups = {group.group: group for group in plan.groups}
    assert {*UNPROVED} == {*plan.unproved}
    assert {"group-across", *(f"group-{topic}" for topic in UNPROVED)} == {group.group for group in plan.left_out}
    for group, topic in [*((f"group-{topic}", topic) for topic in UNPROVED), ("group-across", "nanoseconds")]:
        (finding,) = groups[group].refusals
        assert (Code.RECORDS_NOT_VERIFIABLE, f"group {group}, topic {topic}") == (finding.code, finding.subject)
    for topic, offsets in STANDS.items():
        if topic not in UNPROVED:
            rehearsal.require_exact(groups[f"group-{topic}"], topic, offsets)
    for group in APPLICATIONS:
        rehearsal.require_exact(groups[group], "ordinary-0", STANDS["ordinary-0"])


def require_hints(rehearsal: Rehearsal, plan: OffsetsPlan) -> None:
    """What an operator must know of a group or a topic is reported once, and for no ordinary one."""
    groups = {group.group: group for group in plan.planned}
    told = {name: {finding.code for finding in group.warnings} for name, group in groups.items() if group.warnings}
    assert {
        **{group: {Code.OFFSETS_KEPT_ELSEWHERE} for group in APPLICATIONS},
        "group-half": {Code.OFFSET_NEVER_COMMITTED},
        "group-purged": {Code.UNREAD_RECORDS_DELETED},
    } == told
    half = {p.partition: commit.offset for p, commit in groups["group-half"].proposed.items()}
    assert ({0: 7, 2: 0}, (TopicPartition("half", 1),)) == (half, groups["group-half"].unset)
    assert {TopicPartition("purged", 0): 40} == groups["group-purged"].purged
    assert "cannot be moved: its id is the empty text" in str(rehearsal.stage.run.evidence.require(Kind.OFFSETS_PLAN))
    (held,) = rehearsal.stage.run.evidence.require(Kind.STOP)["open_transactions"]
    assert (Code.SOURCE_TRANSACTION_OPEN, "topic open") == (held["code"], held["subject"])
    # Two records, a marker, one aborted record, a marker, two records, a marker.
    assert "1 offsets after an open transaction: open[0] offsets 8–8" in held["found"]
    warned = rehearsal.warnings()
    for code, topic in [
        (Code.RECORDS_WITHOUT_TIMESTAMP, "untimed"),
        (Code.TIMESTAMPS_NOT_COMPARED, "log-append"),
    ]:
        assert (code, f"topic {topic}") in warned
    assert not [subject for _, subject in warned if "ordinary" in subject]


WRITTEN = [f"written-{number}" for number in range(10)]
BEFORE_TIME_MS = -START_MS * 10_000
# More than the memory of Spark's driver, which reads both sides at once.
HUGE = 400 << 20
# What MirrorMaker cannot read or send: a record, by topic, and why it cannot be compared.
UNCOPYABLE = {
    "huge": ("source: a record at or after offset", "does not fit into the memory of Spark's tasks"),
    "bad-batch": ("source: the record at offset 4 cannot be read", "corrupt"),
    "before-time": ("source: the record at offset 2 cannot be read", "beyond Spark's range"),
}


def raw_segments(topic: str, side: str) -> Mapping[int, Sequence[bytes]]:
    """Return the log of a topic that no client of today can write."""
    if topic == "huge":
        return {0: [batch(RawRecord(0)), batch(RawRecord(1, bytes(HUGE)))]}
    return {0: [batch(RawRecord(n, b"%d" % n), is_corrupt=side == "source" and n == 4) for n in range(6)]}


def fill_side(rehearsal: Rehearsal, side: str) -> None:
    """Write all topics of the written copy on one side."""
    cluster = Side(rehearsal.sandbox.bootstraps[side])
    cluster.create_all(dict.fromkeys([*WRITTEN, *UNCOPYABLE], 1))
    cluster.fill({(topic, 0): RECORDS for topic in WRITTEN})
    cluster.fill({("before-time", 0): timed(START_MS, START_MS, BEFORE_TIME_MS, START_MS)})
    raw = {topic: raw_segments(topic, side) for topic in ("huge", "bad-batch")}
    rehearsal.change_logs(side, lambda data: append_all(data, raw))


def record_generation(rehearsal: Rehearsal) -> None:
    """Write the ledger's entries of a MirrorMaker that has copied everything."""
    run, topics = rehearsal.stage.run, [*WRITTEN, *UNCOPYABLE]
    places = [TopicPartition(topic, 0) for topic in topics]
    source, target = (side.log_end_offsets(places, "read_committed") for side in (run.source, run.target))
    start = dict.fromkeys(places, 0)
    run.ledger.append(GenerationStart(1, run.identity.holder, run.now(), start, start).to_document())
    stop = StopCertificate(1, run.identity.holder, run.now(), True, 143, "stopped", source, target)
    run.ledger.append(stop.to_document())


def test_ordinary_topics_among_those_of_which_no_copy_can_be_read(clusters: Clusters, staged: Path) -> None:
    """A copy that the test writes, of records that MirrorMaker cannot read or send: each is named, and the ordinary
    topics get their verdicts and their groups."""
    rehearsal = Rehearsal(clusters, staged, "written", [*WRITTEN, *UNCOPYABLE])
    fill_side(rehearsal, "source")
    for topic in [*WRITTEN, *UNCOPYABLE]:
        rehearsal.commit(f"group-{topic}", topic, {0: 1})
    try:
        rehearsal.stage.do(PreflightOperator, ReserveOperator)
        fill_side(rehearsal, "target")
        record_generation(rehearsal)
        rows, plan = rehearsal.judged(), rehearsal.planned()
    finally:
        rehearsal.stage.end()

    assert {("PASS", len(RECORDS))} == {(rows[topic]["verdict"], rows[topic]["target_records"]) for topic in WRITTEN}
    for topic, (place, reason) in UNCOPYABLE.items():
        (finding,) = rows[topic]["findings"]
        assert ("NOT_VERIFIABLE", Code.RECORD_UNREADABLE) == (rows[topic]["verdict"], finding["code"])
        assert f"topic {topic}" in finding["subject"]
        assert place in finding["found"]
        assert reason in finding["found"]
    groups = {group.group: group for group in plan.groups}
    for topic in WRITTEN:
        rehearsal.require_exact(groups[f"group-{topic}"], topic, {0: 1})
    assert {f"group-{topic}" for topic in UNCOPYABLE} == {group.group for group in plan.left_out}


COPIED = [f"copied-{number}" for number in range(10)]
REFUSED = {
    "no-key": ("{name: no-key, configs: {cleanup.policy: compact}}", Code.RECORD_WITHOUT_KEY),
    "too-large": ("{name: too-large, configs: {max.message.bytes: '20000'}}", Code.RECORD_TOO_LARGE),
}
# More than a sample of the newest records shows to preflight.
AFTER_IT = 40


def named_end(rehearsal: Rehearsal) -> dict[str, Any]:
    """Run until MirrorMaker ends at a record; return the finding that names it."""
    rehearsal.stage.start()
    event = rehearsal.stage.watch()
    with pytest.raises(FailedForGood):
        rehearsal.stage.complete(event)
    rehearsal.stage.stop()
    rehearsal.stage.next_run()
    (finding,) = event["findings"]
    return dict(finding)


def test_topic_that_cannot_be_copied_is_excluded(clusters: Clusters, staged: Path) -> None:
    """MirrorMaker ends at a record without a key for a compacted topic, and at one that is too large. Each time the run
    names topic, partition and offset, and the topic to remove; without it the next run proves the rest."""
    rehearsal = Rehearsal(clusters, staged, "refused", [*COPIED, *(item for item, _ in REFUSED.values())])
    rehearsal.source.create_all({**dict.fromkeys(COPIED, 2), **dict.fromkeys(REFUSED, 1)})
    rehearsal.source.fill({(topic, number): RECORDS for topic in COPIED for number in (0, 1)})
    after = [Sent(b"k%d" % number, b"v") for number in range(AFTER_IT)]
    rehearsal.source.fill({("no-key", 0): [*after[:3], Sent(None, b"v"), *after]})
    rehearsal.source.fill({("too-large", 0): [*after[:5], Sent(b"k", bytes(30_000)), *after]})
    stands = {topic: {0: 10 + number, 1: 35 - number} for number, topic in enumerate(COPIED)}
    for topic, offsets in stands.items():
        rehearsal.commit(f"group-{topic}", topic, offsets)
    left = dict(REFUSED)
    try:
        while left:
            finding = named_end(rehearsal)
            topic = finding["subject"].partition("[")[0]
            assert (f"{topic}[0]", left.pop(topic)[1]) == (finding["subject"], finding["code"])
            assert f"the record at offset {3 if topic == 'no-key' else 5}, " in finding["found"]
            assert "remove this one from topics in the migration file" in finding["remedy"]
            rehearsal.stage.write_file([*COPIED, *(item for item, _ in left.values())])
        rehearsal.stage.start()
        rehearsal.stage.complete(rehearsal.stage.watch())
        rehearsal.stage.stop()
        rows, plan = rehearsal.judged(), rehearsal.planned()
    finally:
        rehearsal.stage.end()

    assert dict.fromkeys(COPIED, True) == {topic: row["verdict"] in {"PASS", "WARN"} for topic, row in rows.items()}
    groups = {group.group: group for group in plan.groups if group.group not in APPLICATIONS}
    for topic, offsets in stands.items():
        rehearsal.require_exact(groups[f"group-{topic}"], topic, offsets)
