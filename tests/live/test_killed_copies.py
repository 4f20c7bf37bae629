"""Copies of a real MirrorMaker 2 that was killed: verdicts, counts and offsets equal those of a plain consumer."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from confluent_kafka import Producer

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.groups.offsets_plan import GroupPlan, OffsetsPlan
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.orchestration.cutover.moving import PlanOffsetsOperator
from kafka_migration.orchestration.operators.copying import JudgeOperator, ValidateTopicsOperator
from sandbox.data.reading import Placed, read_records
from sandbox.environment import search_path
from sandbox.sandbox import Sandbox
from tests.live.groups import commit, read_on
from tests.live.stage import Stage, set_the_stage
from tests.unit.groups.lived_partition import is_read_by
from tests.waiting import wait_until

pytestmark = pytest.mark.live

TRANSACTION_TIMEOUT_S = 30
COPY_TIMEOUT_S = 120


@dataclass
class KilledCopy:
    """One topic with one partition: its producer's transactions, its copy, and what a plain consumer reads of both.

    All records have one timestamp, so records with the same value are equal.
    """

    stage: Stage
    at_ms: int = field(default_factory=lambda: int(time.time() * 1000))
    sent: int = 0
    _watched: list[dict[str, Any]] = field(default_factory=list)

    @property
    def topic(self) -> str:
        """The topic."""
        return self.stage.topics[0]

    def transact(self, *values: bytes, commit: bool = True) -> None:
        """Write one transaction, which leaves a marker; an aborted one leaves its records as holes too."""
        producer = Producer({**self.stage.source, "transactional.id": uuid4().hex})
        producer.init_transactions(TRANSACTION_TIMEOUT_S)
        producer.begin_transaction()
        for value in values:
            producer.produce(self.topic, value=value, partition=0, timestamp=self.at_ms)
        producer.flush(TRANSACTION_TIMEOUT_S)
        (producer.commit_transaction if commit else producer.abort_transaction)(TRANSACTION_TIMEOUT_S)
        self.sent += len(values) if commit else 0

    def kill_at(self, records: int) -> None:
        """Kill MirrorMaker as soon as the target has so many records, most likely before it stores its position."""
        wait_until(lambda: len(self.target) >= records, COPY_TIMEOUT_S, "the copies")
        os.kill(self.stage.run.process.status().pid or 0, signal.SIGKILL)

    @property
    def source(self) -> list[Placed]:
        """What a plain consumer reads of the source, committed records only."""
        return read_records(self.stage.source["bootstrap.servers"], self.topic)[0]

    @property
    def target(self) -> list[Placed]:
        """What a plain consumer reads of the target; nothing before the topic exists."""
        return read_records(self.stage.target["bootstrap.servers"], self.topic)[0]

    def watched(self) -> threading.Thread:
        """Watch to the end in a thread, as the triggerer does."""
        thread = threading.Thread(target=lambda: self._watched.append(self.stage.watch()), daemon=True)
        thread.start()
        return thread

    def end(self, watching: threading.Thread) -> None:
        """Wait for the end of the watch, then do what follows it up to the stop."""
        watching.join(COPY_TIMEOUT_S * 5)
        self.stage.complete(self._watched.pop())
        self.stage.stop()

    def judged(self) -> tuple[str, int, int]:
        """Validate and judge; return the topic's verdict and the records of both sides."""
        self.stage.do(ValidateTopicsOperator, JudgeOperator)
        (topic,) = self.stage.run.evidence.require(Kind.JUDGE)["topics"]
        return topic["verdict"], topic["source_records"], topic["target_records"]

    def plans(self) -> dict[str, GroupPlan]:
        """Plan every group of the run."""
        self.stage.do(PlanOffsetsOperator)
        plan = OffsetsPlan.from_document(self.stage.run.evidence.require(Kind.OFFSETS_PLAN)["plan"])
        return {group.group: group for group in plan.groups}


@pytest.fixture
def copy(brokers: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[KilledCopy]:
    """A topic that is to be copied in a rehearsal, with groups that the migration file names by the topic's name."""
    set_the_stage(brokers, tmp_path, monkeypatch)
    monkeypatch.setenv("PATH", search_path())
    for setting, value in brokers.state.environment.items():
        if "SPARK" in setting:
            monkeypatch.setenv(setting, value)
    name = f"killed-{uuid4().hex[:8]}"
    stage = Stage(brokers, name, tmp_path, [f"{name}-a"])
    stage.params = {"mode": "rehearse"}
    stage.create(stage.topics[0])
    yield KilledCopy(stage)
    stage.end()


def run_with_kills(copy: KilledCopy, kills: int) -> None:
    """Copy transactions of few different records, with aborted ones between them, in one run with kills."""
    for values in ([b"x", b"x"], [b"b"], [b"a", b"x"], [b"x"], [b"b", b"a"], [b"x", b"x"]):
        copy.transact(b"aborted", commit=False)
        copy.transact(*values)
    before = len(copy.target) if copy.stage.runs > 1 else 0
    new = len(copy.source) - before
    copy.stage.start()
    watching = copy.watched()
    for number in range(1, kills + 1):
        copy.kill_at(before + number * new)
    copy.end(watching)


@pytest.mark.campaign
@pytest.mark.parametrize("kills", [1, 2])
def test_groups_after_kills_behind_holes_skip_nothing(copy: KilledCopy, kills: int) -> None:
    """After kills between transactions of equal records, each offset of the partition gets the best place that a plain
    reading of both sides gives, the counts of the verdict are those of a plain consumer, and groups read on there."""
    copy.transact(b"a", b"x")
    copy.stage.sync()
    run_with_kills(copy, kills)
    source, target = copy.source, copy.target
    end = copy.stage.source_offsets(copy.topic)[1]
    for offset in range(end + 1):
        commit(copy.stage.source, f"{copy.topic}-{offset}", copy.topic, {0: offset})

    assert ("WARN", len(source), len(target)) == copy.judged()
    assert len(source) == copy.sent < len(target)
    plans = copy.plans()
    values = [placed.record.value or b"" for placed in target]
    for offset in range(end + 1):
        plan = plans[f"{copy.topic}-{offset}"]
        unread = [placed.record.value or b"" for placed in source if placed.offset >= offset]
        place = plan.proposed[TopicPartition(copy.topic, 0)].offset
        best = max(n for n in range(len(values) + 1) if is_read_by(unread, values[n:]))
        assert (best, ()) == (place, plan.refusals), offset
        assert plan.delivered_again == len(values) - place - len(unread)
        assert all(move.is_minimal for move in plan.moves)
    reader, (place,) = f"{copy.topic}-3", [c.offset for c in plans[f"{copy.topic}-3"].proposed.values()]
    commit(copy.stage.target, reader, copy.topic, {0: place})
    assert values[place:] == read_on(copy.stage.target, reader, copy.topic, {0: len(values)})
