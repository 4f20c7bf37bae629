"""Rules of the demo's own reading of a run's evidence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_migration.core.evidence.evidence_documents import run_folder_name
from kafka_migration.core.findings.by_cause import finding_lines
from kafka_migration.core.ledger.generations import Window
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.core.validation.difference_kinds import DifferenceKind
from kafka_migration.core.validation.differences import FirstDifference
from kafka_migration.core.validation.judging import judge_partition
from kafka_migration.core.validation.validation_contract import PartitionResult, SideCount
from sandbox.demo.evidence import Count, Finding, Place, read_run
from tests.present import present

DAG_ID = "kafka_migration__demo"
RUN_ID = "manual__2026-01-01T00:00:00+00:00"


def _document(verdict: str | None = "PASS") -> dict[str, object]:
    return {
        "verdict": verdict,
        "outcome": "success",
        "records": {"orders": {"source": 3, "target": 2}},
        "findings": [{"code": "C", "subject": "s", "found": "f", "expected": "e", "remedy": "r"}],
        "more": "than is looked at",
    }


def _write(root: Path, attempt: int, document: dict[str, object]) -> None:
    # By the package's own word: the demo finds what it writes.
    folder = root / "demo" / run_folder_name(RunIdentity(DAG_ID, RUN_ID, attempt)) / f"attempt-{attempt}"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps(document))


def test_newest_attempt_is_read(tmp_path: Path) -> None:
    """Of attempts 1, 2 and 10 the tenth counts; unsafe characters of the run id are underscores in the path."""
    for attempt, verdict in ((2, "FAIL"), (10, "PASS"), (1, "FAIL")):
        _write(tmp_path, attempt, _document(verdict))

    run = present(read_run(tmp_path, DAG_ID, RUN_ID))

    assert (run.verdict, run.folder.name) == ("PASS", "attempt-10")
    assert run.records == {"orders": Count(3, 2)}
    assert run.total_records == 3
    assert run.findings == (Finding("C", "s", "f", "e", "r"),)


def test_run_without_document_is_none(tmp_path: Path) -> None:
    """A run without `run.json` differs from one with a bad one."""
    assert read_run(tmp_path, DAG_ID, RUN_ID) is None


def test_run_without_records_validated_nothing(tmp_path: Path) -> None:
    """No topic read means no records, in words too."""
    _write(tmp_path, 1, {**_document(None), "records": {}})

    run = present(read_run(tmp_path, DAG_ID, RUN_ID))

    assert (run.total_records, run.counts_words, run.verdict) == (0, "no records", None)


@pytest.mark.parametrize("target_topic", ["orders", "old.orders"])
def test_place_is_read_from_the_packages_own_finding(target_topic: str) -> None:
    """The words in which the package reports a difference are understood, renamed topics included."""
    window = Window(3, "orders", target_topic, 2, 0, 100, 0, 99)
    difference = FirstDifference(DifferenceKind.ALTERED, 50, 49, ("value",), "it differs in value.")
    side = SideCount(100, 1_000, 0, 99)
    result = PartitionResult(window, side, side, equal=False, blocks=1, differing_blocks=1, first_difference=difference)
    finding = present(judge_partition(result)[1])

    read = Finding(**finding.to_document())

    assert read.place == Place("altered", "orders", 2, 50, 49)
    assert read.lines == finding_lines(finding)


def test_finding_about_something_else_has_no_place() -> None:
    """A finding without partition and offsets names no place."""
    assert Finding("C", "topic orders", "first difference missing", "e", "r").place is None
