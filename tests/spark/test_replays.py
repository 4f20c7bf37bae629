"""The model of replays against Spark itself: both find the same in windows that were copied in several pieces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kafka_digest.keys.difference_file import DifferenceFile
from kafka_digest.position.position_job import PositionJob
from kafka_digest.reading.read_windows import LogBounds, SideRange, plan_window
from kafka_migration.core.ledger.generations import Window
from kafka_migration.core.validation.compared_windows import whole_windows
from kafka_migration.core.validation.validation_contract import PartitionResult
from tests.spark.conftest import START, Row
from tests.spark.memory import Memory
from tests.unit.validation.replay_model import BLOCK_RECORDS, PLACE, TOPIC, Life
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


def test_spark_finds_what_was_sent_again(spark: SparkSession, tmp_path: Path) -> None:
    """Pieces with and without holes on the source: the job proves each, and counts what was sent again."""
    lives = replayed()
    windows = {name: replace(whole_of(life), topic=name, target_topic=name) for name, life in lives.items()}
    plans = [
        plan_window(
            window.to_document(),
            {(name, 0): LogBounds(0, len(lives[name].source), len(lives[name].source))},
            {(name, 0): LogBounds(0, len(lives[name].target), len(lives[name].target))},
        )
        for name, window in windows.items()
    ]
    job = PositionJob(Lives(spark, {}, lives=lives), DifferenceFile(spark, str(tmp_path / "d.parquet")), BLOCK_RECORDS)  # type: ignore[arg-type]
    found = [PartitionResult.from_document(entry) for entry in job.run(plans)]
    expected = [life.measured(whole_of(life)) for life in lives.values()]

    assert told(expected) == told(found)
    proved = [result for result in found if result.rest_in_order]
    assert {True, False} == {r.window.source_end > r.window.source_start + r.source.records for r in proved}
