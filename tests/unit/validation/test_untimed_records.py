"""A verdict names the source records that have no timestamp."""

from __future__ import annotations

from dataclasses import replace

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.ledger.generations import Window
from kafka_migration.core.validation.judging import judge_topics
from kafka_migration.core.validation.untimed_records import with_untimed_records
from kafka_migration.core.validation.validation_contract import PartitionResult, SideCount, ValidationResult


def measured(topic: str, partition: int, untimed: int, *, equal: bool = True) -> PartitionResult:
    """Return the result of a window of ten records."""
    side = SideCount(10, 800, 0, 9)
    return PartitionResult(
        Window(1, topic, topic, partition, 0, 10, 0, 10), replace(side, untimed=untimed), side, equal, 1, 0
    )


def test_topics_with_untimed_records_are_at_best_a_warning() -> None:
    """The warning counts them over all windows; the verdict on another topic, and a bad one, stay as they are."""
    windows = (
        *(measured("old", partition, untimed) for partition, untimed in enumerate((7, 0, 1_200))),
        measured("new", 0, 0),
        measured("bad", 0, 3, equal=False),
    )
    result = ValidationResult("4", "", "", windows)
    bad, new, old = with_untimed_records(judge_topics(result), result)

    assert [Verdict.FAIL, Verdict.PASS, Verdict.WARN] == [topic.verdict for topic in (bad, new, old)]
    assert (Verdict.WARN,) * 3 == old.verdicts
    assert ([Code.RECORDS_WITHOUT_TIMESTAMP], ()) == ([warning.code for warning in old.warnings], new.warnings)
    assert "1,207 source records without a timestamp, of 30" == old.warnings[0].found
