"""A topic that Spark cannot read takes nothing from those that are read together with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession, functions

from kafka_digest.reading.read_windows import SideRange
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.validation.difference_kinds import DifferenceKind
from tests.compaction.cleaner import Record
from tests.spark.memory import Memory, compared, copy_of

# pyspark leaves its sockets to the garbage collector
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::ResourceWarning")]

LEVELS = pytest.mark.parametrize("by_key", [False, True], ids=["by position", "by key"])
RECORDS = [Record(number % 3, number, number) for number in range(20)]
GOOD = [f"good-{number}" for number in range(5)]


@dataclass
class Breaking(Memory):
    """Clusters with records that end Spark's reading with an unknown error, by side and topic.

    :param after: the number of reads of a side after which they do so
    """

    bad: dict[tuple[str, str], int] = field(default_factory=dict)
    after: int = 0
    reads: dict[str, int] = field(default_factory=lambda: {"source": 0, "target": 0})

    def read(self, side: str, ranges: Sequence[SideRange]) -> DataFrame | None:
        """Return the frame of these ranges; reading a bad record of them fails."""
        frame = super().read(side, ranges)
        self.reads[side] += 1
        places = [f"(topic = '{topic}' and offset = {at})" for (s, topic), at in self.bad.items() if s == side]
        if frame is None or not places or self.reads[side] <= self.after:
            return frame
        is_bad = functions.expr(" or ".join(places))
        checked = functions.when(is_bad, functions.raise_error(functions.lit("strange"))).otherwise(
            functions.col("key")
        )
        return frame.withColumn("key", checked.cast("binary"))


@LEVELS
def test_only_the_topic_that_cannot_be_read_has_no_verdict(spark: SparkSession, tmp_path: Path, by_key: bool) -> None:
    """The record is found on either side, equal topics pass, and damage is still found and labelled."""
    pairs = dict.fromkeys([*GOOD, "ours", "theirs"], RECORDS) | {"damaged": RECORDS[:10] + RECORDS[11:]}
    histories = {topic: copy_of(RECORDS, theirs, (False, False), by_key) for topic, theirs in pairs.items()}
    memory = Breaking(spark, histories, bad={("source", "ours"): 7, ("target", "theirs"): 12})
    found = compared(memory, tmp_path).verdicts

    assert {Verdict.PASS} == {found[topic].verdict for topic in GOOD}
    assert {(20, 20)} == {(found[topic].source_records, found[topic].target_records) for topic in GOOD}
    assert (Verdict.FAIL, {DifferenceKind.MISSING: 1}) == (
        found["damaged"].verdict,
        found["damaged"].differences.counts,
    )
    for topic, place in (("ours", "source: the record at offset 7"), ("theirs", "target: the record at offset 12")):
        (finding,) = found[topic].findings
        assert (Verdict.NOT_VERIFIABLE, Code.RECORD_UNREADABLE) == (found[topic].verdict, finding.code)
        assert place in finding.found
        assert "strange" in finding.found


@LEVELS
def test_differences_of_the_others_are_labelled(spark: SparkSession, tmp_path: Path, by_key: bool) -> None:
    """Regression: a topic that could not be read a second time left the differences of all topics unclassified."""
    pairs = {"lost": RECORDS[:10] + RECORDS[11:], "short": RECORDS[:-1], "unlucky": RECORDS[1:]}
    histories = {topic: copy_of(RECORDS, theirs, (False, False), by_key) for topic, theirs in pairs.items()}
    memory = Breaking(spark, histories, bad={("source", "unlucky"): 5}, after=1)
    told = compared(memory, tmp_path).told(pairs)

    assert {topic: (Verdict.FAIL, {"missing": 1}) for topic in ("lost", "short")} == {
        topic: told[topic] for topic in ("lost", "short")
    }
    assert Verdict.FAIL is told["unlucky"][0]
    assert {"unclassified"} == set(told["unlucky"][1])


@LEVELS
def test_topic_with_a_bad_record_has_a_verdict_also_alone(spark: SparkSession, tmp_path: Path, by_key: bool) -> None:
    """A run of this topic only must not fail night after night, whatever the error is."""
    histories = {"alone": copy_of(RECORDS, RECORDS, (False, False), by_key)}
    found = compared(Breaking(spark, histories, bad={("target", "alone"): 3}), tmp_path).verdicts["alone"]

    assert (Verdict.NOT_VERIFIABLE, Code.RECORD_UNREADABLE) == (found.verdict, found.findings[0].code)
