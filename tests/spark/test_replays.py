"""The model of replays against Spark itself: both find the same in windows that were copied in several pieces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kafka_digest.keys.difference_file import DifferenceFile
from kafka_digest.position.position_job import PositionJob
from kafka_digest.reading.read_windows import LogBounds, SideRange, plan_window
from kafka_migration.core.ledger.generations import Window
from kafka_migration.core.validation.compared_windows import delta_windows, whole_windows
from kafka_migration.core.validation.validation_contract import PartitionResult
from tests.spark.conftest import START, Row
from tests.spark.memory import Memory
from tests.unit.validation.replay_model import BLOCK_RECORDS, PLACE, TOPIC, Life
from tests.unit.validation.restart_model import RestartedLife
from tests.unit.validation.test_replays import finished, random_life

# pyspark leaves its sockets to the garbage collector
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::ResourceWarning")]

SEEDS = range(40)


@dataclass
class Lives(Memory):
    """The logs of lives, each a topic of its own."""

    lives: Mapping[str, Life] = field(default_factory=dict)

    @property
    def compacted(self) -> dict[str, frozenset[str]]:
        return {"source": frozenset(), "target": frozenset()}

    def _rows(self, side: str, piece: SideRange) -> list[Row]:
        found = self.lives[piece.topic].rows(side, piece.start, piece.end)
        return [(*piece.place, offset, START + timedelta(0), b"%d" % k, b"%d" % v, None) for offset, (k, v) in found]


def whole_of(life: Life) -> Window:
    (window,) = whole_windows(life.ledger, [TOPIC], {PLACE: len(life.target)})
    return window


def replayed() -> dict[str, Life]:
    """Return lives whose copy has several pieces and can be read as a whole."""
    lives = {f"seed-{seed}": finished(random_life(seed)) for seed in SEEDS}
    return {name: life for name, life in lives.items() if whole_of(life).pieces and not life.log_start}


def told(results: Sequence[PartitionResult]) -> list[object]:
    return [
        (r.equal, r.source.records, r.target.records, r.differences and dict(r.differences.counts), r.rest_in_order)
        for r in results
    ]


Compared = Mapping[str, tuple[Life, Window]]
"""The logs and the window of each topic."""


def found_by_spark(spark: SparkSession, folder: Path, compared: Compared) -> list[PartitionResult]:
    """Return what the job finds; each window of a life becomes that of partition 0 of a topic of its own."""
    lives = {name: life for name, (life, _) in compared.items()}
    windows = {name: replace(w, topic=name, target_topic=name, partition=0) for name, (_, w) in compared.items()}
    plans = [
        plan_window(
            window.to_document(),
            {(name, 0): LogBounds(0, len(lives[name].source), len(lives[name].source))},
            {(name, 0): LogBounds(0, len(lives[name].target), len(lives[name].target))},
        )
        for name, window in windows.items()
    ]
    resent = {generation for life in lives.values() for generation in life.resent}
    memory, file = Lives(spark, {}, lives=lives), DifferenceFile(spark, str(folder / "d.parquet"))
    job = PositionJob(memory, file, BLOCK_RECORDS, resent=resent)  # type: ignore[arg-type]
    return [PartitionResult.from_document(entry) for entry in job.run(plans)]


def has_holes(result: PartitionResult) -> bool:
    return result.window.source_end > result.window.source_start + result.source.records


def test_spark_finds_what_was_sent_again(spark: SparkSession, tmp_path: Path) -> None:
    """Pieces with and without holes on the source: the job proves each, and counts what was sent again."""
    lives = {name: (life, whole_of(life)) for name, life in replayed().items()}
    found = found_by_spark(spark, tmp_path, lives)

    assert told([life.measured(window) for life, window in lives.values()]) == told(found)
    assert {True, False} == {has_holes(result) for result in found if result.rest_in_order}


def test_spark_finds_where_tasks_were_started_again(spark: SparkSession, tmp_path: Path) -> None:
    """Within one generation nothing but the content shows it: the job finds each run of records and proves it.

    Few different records as well: then several places are alike, and the runs prove the choice.
    """
    compared = dict(restarted())
    found = found_by_spark(spark, tmp_path, compared)

    assert told([life.measured(window) for life, window in compared.values()]) == told(found)
    proved = [result for result in found if result.rest_in_order]
    assert {True, False} == {has_holes(result) for result in proved}
    assert len(proved) > len(compared) * 2 // 3


def restarted() -> Iterator[tuple[str, tuple[Life, Window]]]:
    """Yield the windows of lives that one generation with a restart copied, and the next one."""
    for seed in SEEDS[:24]:
        life = RestartedLife(seed, alphabet=(0, 2, 5)[seed % 3])
        life.produce(12)
        life.generation(is_last=False)
        life.generation(is_last=True)
        resent = {g.number for g in life.ledger.generations if g.has_resent}
        for window in delta_windows(life.ledger.generations):
            logs = life.partitions[window.partition].logs
            logs.resent = resent
            if resent and len(logs.sent) > len(set(logs.sent)):
                yield f"seed-{seed}-{window.partition}", (logs, window)
