"""A whole migration on real parts, killed in each of many places: what it says is what a plain consumer finds."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka import TopicPartition as ClientPartition

from kafka_migration.adapters.host.mirrorctl_host import ScriptMirrorHost
from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.groups.offsets_plan import OffsetsPlan
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.ledger.generations import ReadOffsets
from kafka_migration.core.migration.settings import Phase
from kafka_migration.core.validation.coverage_rules import coverage_of
from kafka_migration.orchestration.task.failures import FailedForGood, FailedForNow
from sandbox.sandbox import Sandbox
from tests.live.dag_stage import DagStage, set_the_stage_of_dags
from tests.live.faults import command_line, descendants, jvm_pids, kill, marked_pids, shell_of
from tests.live.groups import commit, committed, end_of, ends, read_on
from tests.live.plain_copy import (
    Seen,
    Told,
    best_place,
    read_both,
    run_must_say,
    stored_positions,
    whole_must_say,
)
from tests.live.quotas import slow_reads
from tests.small_disk import Full, small_disk
from tests.steps.cuts import Cuts, actions_on
from tests.steps.tasks import BEFORE_START
from tests.waiting import wait_until

pytestmark = [pytest.mark.live, pytest.mark.campaign]

TIMEOUT_S = 240
LEASE_S = 75
SPARK_SUBMIT = "org.apache.spark.deploy.SparkSubmit"
PARTITIONS = {"money": 2, "plain": 3, "large": 1}
SETTINGS = """\
cutover:
  groups: ["{name}-group-.*"]
  fence_quiet: 3s
  fence_wait: 10m
  hooks:
    stop_producers:
      callable: tests.live.test_whole_migration_with_kills.stop_no_producer
"""


def stop_no_producer(**_: object) -> str:
    """Do what the hook `stop_producers` must: the test itself produces, and has stopped."""
    return "no producer runs"


@dataclass
class KillableStage(DagStage):
    """A migration with a short lease and a short grace."""

    def write_file(self, topics: Any = None) -> None:
        """Write the migration file."""
        super().write_file(topics)
        path = self.folder / "migrations" / f"{self.name}.yaml"
        text = path.read_text()
        for old, new in (("lease: 3m", f"lease: {LEASE_S}s"), ("stop_grace: 60s", "stop_grace: 5s"), ("4m", "15m")):
            assert old in text
            text = text.replace(old, new)
        path.write_text(text + SETTINGS.format(name=self.name))


@dataclass
class Scene:
    """The migration, its records, its kills, and what a plain consumer has read of both sides so far.

    All records have one timestamp and one of few values, so many are equal.
    """

    stage: KillableStage
    cuts: Cuts
    full: Full
    chance: random.Random = field(default_factory=lambda: random.Random(44))
    at_ms: int = field(default_factory=lambda: int(time.time() * 1000))
    seen: Seen = field(default_factory=dict)
    positions: Offsets = field(default_factory=dict)
    _transactions: dict[TopicPartition, Producer] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._producer = Producer(self.stage.source)
        self._reader = Consumer({**self.stage.target, "group.id": "test-ends"})
        self.seen = self.read()

    def close(self) -> None:
        """Close every client."""
        self._reader.close()
        self._transactions.clear()
        del self._producer

    @property
    def offsets_topic(self) -> str:
        """The topic in which MirrorMaker stores its positions."""
        return f"mm2-offsets.{self.stage.name}-source.internal"

    def topic(self, kind: str) -> str:
        """Return the topic of a kind."""
        return f"{self.stage.name}-{kind}"

    def write(self, large: int = 60) -> None:
        """Write records to every partition, so many to `large`; those of `money` in transactions."""
        for partition in sorted(self.seen):
            kind = partition.topic.rpartition("-")[2]
            if kind == "money":
                self._transact(partition)
            else:
                self._send(partition, [b"a", b"b"] if kind == "plain" else [b"a" * 4000, b"b" * 4000], large)
        assert self._producer.flush(TIMEOUT_S) == 0

    def _send(self, at: TopicPartition, values: list[bytes], count: int) -> None:
        for value in self.chance.choices(values, k=count):
            self._producer.produce(at.topic, value, b"k", at.partition, timestamp=self.at_ms)

    def _transact(self, at: TopicPartition) -> None:
        """Write transactions of few records, with aborted ones between them: markers and aborted records are holes."""
        if at not in self._transactions:
            self._transactions[at] = Producer({**self.stage.source, "transactional.id": uuid4().hex})
            self._transactions[at].init_transactions(TIMEOUT_S)
        producer = self._transactions[at]
        for is_good in (False, True, True, False, True):
            producer.begin_transaction()
            for value in self.chance.choices([b"x", b"y"], k=self.chance.randint(1, 3)):
                producer.produce(at.topic, value, partition=at.partition, timestamp=self.at_ms)
            producer.flush(TIMEOUT_S)
            (producer.commit_transaction if is_good else producer.abort_transaction)(TIMEOUT_S)

    def read(self) -> Seen:
        """Read both sides with a plain consumer."""
        return read_both(self.stage.source, self.stage.target, self.stage.topics)

    def stored(self) -> Offsets:
        """Read what MirrorMaker has stored."""
        return stored_positions(self.stage.target, self.offsets_topic)

    def killed(self, task_id: str, *moments: str) -> None:
        """Kill a task at moments of its actions, one in each try."""
        for moment in moments:
            with self.cuts.at(moment):
                self.stage.attempt(task_id)

    def fails_on_a_full_disk(self, task_id: str) -> None:
        """Try a task while the evidence disk is full."""
        with self.full(), pytest.raises(FailedForNow, match=Code.EVIDENCE_NOT_WRITABLE) as failed:
            self.stage.attempt(task_id)
        assert not isinstance(failed.value, FailedForGood)

    def jvm(self) -> int:
        """Return the pid of MirrorMaker's JVM once it runs."""
        wait_until(lambda: jvm_pids(self.stage), TIMEOUT_S, "a JVM")
        (pid,) = jvm_pids(self.stage)
        return pid

    def ends(self) -> Offsets:
        """Return the target's ends."""
        return {p: end_of(self._reader, ClientPartition(*p)) for p in self.seen}

    def write_ahead(self) -> None:
        """Write records, and halt the JVM between their copies and the storing of its positions."""
        pid = self.jvm()

        def is_ahead() -> bool:
            stored, before = self.stored(), self.ends()
            self.write()
            wait_until(lambda: all(end > before[p] for p, end in self.ends().items()), TIMEOUT_S, "the copies", 0.05)
            os.kill(pid, signal.SIGSTOP)
            if self.stored() == stored:
                return True
            os.kill(pid, signal.SIGCONT)
            return False

        wait_until(is_ahead, TIMEOUT_S, "records after the stored positions")

    def kill_ahead(self) -> None:
        """Kill the JVM after it has stored a position of `large`, and has sent records after it."""
        pid, large = self.jvm(), TopicPartition(self.topic("large"), 0)

        def is_ahead() -> bool:
            os.kill(pid, signal.SIGSTOP)
            stored = self.stored()[large]
            if self.positions[large] < stored < self.ends()[large] - self.seen[large].twice:
                return True
            os.kill(pid, signal.SIGCONT)
            return False

        wait_until(is_ahead, TIMEOUT_S, "records after a stored position")
        kill(pid)

    def kill_before_first_position(self) -> None:
        """Kill the JVM after its first copies, and before it has stored any position: it does so every five seconds."""
        pid = self.jvm()
        wait_until(lambda: any(self.ends().values()), TIMEOUT_S, "the first copy", 0.05)
        kill(pid)
        assert self.stored() == {}

    def kill_driver(self) -> None:
        """Kill the JVM of Spark's driver while its program runs."""

        def drivers() -> list[int]:
            found = (
                pid for pid in descendants(os.getpid()) if "org.apache.spark.deploy.SparkSubmit" in command_line(pid)
            )
            return [pid for pid in found if descendants(pid)]

        wait_until(drivers, TIMEOUT_S, "Spark's driver")
        kill(drivers()[0])

    def spark_killed(self) -> None:
        """Try `validate_topics` while its driver is killed."""
        with ThreadPoolExecutor(1) as pool:
            killing = pool.submit(self.kill_driver)
            with pytest.raises(FailedForNow) as failed:
                self.stage.attempt("validate_topics")
            killing.result()
        assert not isinstance(failed.value, FailedForGood)

    def stop_while_killed(self) -> None:
        """Kill a halted JVM while `stop_mirror` waits for its end."""
        pid = self.jvm()
        os.kill(pid, signal.SIGSTOP)
        with ThreadPoolExecutor(1) as pool:
            stopping = pool.submit(self.stage.attempt_until_settled, "stop_mirror")
            wait_until(lambda: any(self.stage.host_folder.glob("stopped-*")), TIMEOUT_S, "the request to stop")
            kill(pid)
            stopping.result()

    def require_the_truth(self, unknown: Collection[str] = ()) -> None:
        """The run and all runs together say what a plain consumer finds, and nothing is left on the host.

        `unknown` are topics whose last records on the target no run can attribute yet.
        """
        stage, after, ledger = self.stage, self.read(), self.stage.run.ledger.read()
        rows = {row["topic"]: row for row in stage.run.evidence.require(Kind.JUDGE)["topics"]}
        for both in after.values():
            both.require_copied()
        for topic in stage.topics:
            read = [window for each in ledger.judgements[-1].comparisons[topic] for window in each.windows]
            self._require_everything_read(topic, read)
            row, whole = rows[topic], coverage_of(ledger)[topic]
            told, known = Told(row["verdict"], row["source_records"], row["target_records"]), whole.target_records or 0
            if topic in unknown:
                assert ("NOT_VERIFIABLE", "NOT_VERIFIABLE") == (told.verdict, whole.standing)
                continue
            assert run_must_say(topic, read, after) == told, topic
            assert whole_must_say(topic, after) == Told(whole.standing, known - whole.surplus_records, known), topic
        assert [] == list(marked_pids(stage))
        assert not (stage.host_folder / "reservation").exists()
        self.seen, self.positions = after, self.stored()

    def _require_everything_read(self, topic: str, read: Sequence[ReadOffsets]) -> None:
        """What a run has read begins at the latest where the run before has ended, and ends at the target's end."""
        ends_ = self.ends()
        for place in (p for p in self.seen if p.topic == topic):
            mine = [each for each in read if each.partition == place.partition]
            begin, position = min(each.source_start for each in mine), self.positions.get(place, 0)
            assert not [each for each in self.seen[place].source if position <= each.offset < begin]
            assert min(each.target_start for each in mine) <= len(self.seen[place].target)
            assert max(each.target_end for each in mine) == ends_[place]


@pytest.fixture
def scene(brokers: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    """Three topics that nothing was copied of, with the evidence on a disk of its own."""
    set_the_stage_of_dags(brokers, tmp_path, monkeypatch)
    name = f"kills-{uuid4().hex[:8]}"
    with small_disk(tmp_path / "evidence", "32m") as full:
        stage = KillableStage(brokers, name, tmp_path, [f"{name}-{kind}" for kind in PARTITIONS])
        stage.task_instance.max_tries = 5
        for kind, partitions in PARTITIONS.items():
            stage.create(f"{name}-{kind}", partitions)
        made = Scene(stage, Cuts(monkeypatch, actions_on(ConfluentCluster, ScriptMirrorHost)), full)
        yield made
        made.close()
        stage.end()


def first_run(scene: Scene) -> None:
    """Copy for the first time; every task is killed, or its disk is full."""
    stage = scene.stage
    scene.write()
    stage.attempt("preflight")
    scene.killed("reserve", "after ScriptMirrorHost.reserve")
    stage.attempt("reserve", "plan")
    scene.fails_on_a_full_disk("create_topics")
    scene.killed("create_topics", "after ConfluentCluster.create_topics")
    stage.attempt("create_topics")
    scene.killed("start_mirror", "before ScriptMirrorHost.start")
    stage.attempt_until_settled("start_mirror")
    watching = stage.waiting("watch_lag")
    scene.kill_before_first_position()
    watching.lose()
    stage.resume("watch_lag", watching.again().event())
    stage.attempt("stop_producers")
    scene.killed("stop_mirror", "after ScriptMirrorHost.stop")
    scene.fails_on_a_full_disk("stop_mirror")
    stage.attempt_until_settled("stop_mirror")
    scene.spark_killed()
    stage.attempt("validate_topics")
    scene.killed("judge", "before LedgerStore.append judged", "after LedgerStore.append judged")
    stage.attempt("judge")
    scene.killed("finish", "before ScriptMirrorHost.release", "after ScriptMirrorHost.release")
    stage.attempt("finish")


def second_run(scene: Scene) -> None:
    """Copy what came since; MirrorMaker is killed before it stores positions, in the middle and at the end."""
    stage = scene.stage
    scene.write(large=1500)
    stage.attempt(*BEFORE_START)
    with slow_reads(stage.source, bytes_per_s=200_000):
        stage.attempt_until_settled("start_mirror")
        watching = stage.waiting("watch_lag")
        scene.kill_ahead()
    wait_until(lambda: not jvm_pids(stage), TIMEOUT_S, "the end of the JVM")
    scene.jvm()
    kill(shell_of(stage, is_leader=True))
    stage.resume("watch_lag", watching.event())
    stage.attempt("stop_producers")
    scene.write_ahead()
    stage.attempt_until_settled("stop_mirror")
    stage.attempt("validate_topics")
    for task_id in ("judge", "finish"):
        with pytest.raises(FailedForGood, match=Code.RECORDS_NOT_VERIFIABLE):
            stage.attempt(task_id)


def cutover(scene: Scene) -> None:
    """Move the groups; the lease runs out, and each task that writes is killed."""
    stage = scene.stage
    stage.params = {"mode": "cutover"}
    scene.write()
    stage.attempt(*BEFORE_START)
    stage.attempt_until_settled("start_mirror")
    watching, producers = stage.waiting("watch_lag"), stage.waiting("stop_producers")
    stage.resume("stop_producers", producers.event(), "announced")
    watching.lose()
    wait_until(lambda: not jvm_pids(stage), TIMEOUT_S, "the lease to end MirrorMaker")
    assert "lease-expired" in (stage.host_folder / "journal").read_text()
    stage.resume("watch_lag", watching.again().event())
    scene.stop_while_killed()
    stage.attempt("validate_topics", "judge", "drain_groups", "translate_offsets")
    scene.killed("plan_offsets", "after RunEvidence.write offsets-plan")
    stage.attempt("plan_offsets")
    scene.killed("approve", "before RunEvidence.write approve")
    stage.approve()
    scene.killed("sync_offsets", "after ConfluentCluster.alter_offsets", "before RunEvidence.write offsets-result")
    stage.attempt("sync_offsets")
    scene.killed("confirm_cutover", "after LedgerStore.append cut-over")
    stage.attempt("confirm_cutover", "after_cutover")
    scene.killed("restore_settings", "after ConfluentCluster.alter_configs")
    stage.attempt("restore_settings", "finish")


def validation(scene: Scene) -> None:
    """Read the whole copy again."""
    stage = scene.stage
    stage.params = {"mode": "validate"}
    stage.attempt(*BEFORE_START, "start_mirror", "watch_lag", "stop_producers", "stop_mirror")
    stage.attempt("validate_topics", "judge", "finish")


def commit_groups(scene: Scene) -> dict[str, dict[TopicPartition, int]]:
    """Let groups stop anywhere on the source, also at the first record, at the end and within holes."""
    ends_ = {p: scene.stage.source_offsets(p.topic, p.partition)[1] for p in scene.seen}
    groups = {"first": dict.fromkeys(ends_, 0), "last": ends_}
    groups |= {str(n): {p: scene.chance.randint(0, end) for p, end in ends_.items()} for n in range(6)}
    named = {f"{scene.stage.name}-group-{name}": offsets for name, offsets in groups.items()}
    for group, offsets in named.items():
        for topic in scene.stage.topics:
            mine = {p.partition: offset for p, offset in offsets.items() if p.topic == topic}
            commit(scene.stage.source, group, topic, mine)
    return named


def require_groups_skip_nothing(scene: Scene, groups: Mapping[str, Mapping[TopicPartition, int]]) -> None:
    """Each group resumes at the best place that trying all places finds, and reads again as much as the plan says."""
    stage = scene.stage
    plan = OffsetsPlan.from_document(stage.run.evidence.require(Kind.OFFSETS_PLAN)["plan"])
    planned = {group.group: group for group in plan.planned}
    assert groups.keys() == planned.keys()
    for group, offsets in groups.items():
        again = 0
        for topic in stage.topics:
            places, values = committed(stage.target, group, topic), []
            for p in (p for p in scene.seen if p.topic == topic):
                both, at, place = scene.seen[p], offsets[p], places[p.partition]
                assert place == best_place(both, at), (group, p)
                again += len(both.target) - place - sum(placed.offset >= at for placed in both.source)
                values += [placed.record.value or b"" for placed in both.target[place:]]
            assert sorted(values) == sorted(read_on(stage.target, group, topic, ends(stage.target, topic)))
        assert again == planned[group].delivered_again
        assert all(move.is_minimal for move in planned[group].moves)


def test_whole_migration_with_kills(scene: Scene) -> None:
    """Killed in each of its places, a migration ends as one without kills: each run says what is read by a plain
    consumer, groups skip nothing, and nothing is left on the host."""
    first_run(scene)
    scene.require_the_truth()
    scene.stage.next_run()
    second_run(scene)
    # The source's offsets have holes there: what was sent after the stored position may also be later records.
    scene.require_the_truth(unknown=[scene.topic("money")])
    scene.stage.next_run()
    groups = commit_groups(scene)
    cutover(scene)
    scene.require_the_truth()
    assert Phase.CUT_OVER is scene.stage.run.ledger.read().phase
    require_groups_skip_nothing(scene, groups)
    scene.stage.next_run()
    validation(scene)
    scene.require_the_truth()
