"""Rules of what the ledger keeps of a validation: its comparisons with windows, records, digests and verdicts."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.ledger.generations import Window
from kafka_migration.core.validation.judging import comparisons_of, judge_topics
from kafka_migration.core.validation.validation_contract import (
    PartitionResult,
    SideCount,
    TopicResult,
    ValidationResult,
)


def window(partition: int = 0, generation: int = 1, start: int = 0, end: int = 10, topic: str = "orders") -> Window:
    return Window(generation, topic, f"new.{topic}", partition, start, end, start + 5, end + 5)


def measured(of: Window, equal: bool = True, **more: Any) -> PartitionResult:
    side = SideCount(of.source_end - of.source_start, 80, None, None)
    digests = {"source_digest": "0a", "target_digest": "0a" if equal else "0b"}
    return PartitionResult(of, side, side, equal, 1, int(not equal), **{**digests, **more})


def compared(*partitions: PartitionResult, topics: tuple[TopicResult, ...] = (), whole: bool = False) -> Any:
    result = ValidationResult("4", "t", "t", partitions, topics)
    verdicts = {topic.topic: topic.verdicts for topic in judge_topics(result)}
    return comparisons_of(result, verdicts, whole=whole)


def test_comparison_is_short_in_the_ledger() -> None:
    """A window is written as partition, generation, and the offsets of both sides."""
    (found,) = compared(measured(window()))["orders"]

    assert {
        "verdict": "PASS",
        "windows": [[0, 1, 0, 10, 5, 15]],
        "source_records": 10,
        "target_records": 10,
        "source_digest": "0a",
        "target_digest": "0a",
        "unreadable": [],
    } == json.loads(json.dumps(found.to_document()))


def test_each_window_has_its_own_verdict() -> None:
    """By position one bad window makes no other bad, in whatever order the job answered."""
    later, earlier, other = window(start=10, end=20), window(), window(1)
    found = compared(measured(other), measured(later, equal=False), measured(earlier))["orders"]

    assert [(0, 0, Verdict.PASS), (0, 10, Verdict.FAIL), (1, 0, Verdict.PASS)] == [
        (c.windows[0].partition, c.windows[0].source_start, c.verdict) for c in found
    ]
    assert [("0a", "0a"), ("0a", "0b"), ("0a", "0a")] == [(c.source_digest, c.target_digest) for c in found]


def test_records_without_a_timestamp_that_were_found_equal_have_one_digest() -> None:
    """Regression: the times of their copies are in the target's digest, so an equal copy counted as one that may hold
    records twice, and offsets in windows of millions of records were set back to the window's start."""
    (found,) = compared(measured(window(), source_digest="0a", target_digest="0c"))["orders"]
    (other,) = compared(measured(window(), equal=False, source_digest="0a", target_digest="0c"))["orders"]

    assert [("0a", "0a"), ("0a", "0c")] == [(c.source_digest, c.target_digest) for c in (found, other)]


def test_comparison_by_key_has_all_windows_of_its_generation() -> None:
    """By key a topic is compared as a whole: one verdict, one digest, one window per partition."""
    results = [measured(window(p, g), source_digest=None, target_digest=None) for g in (2, 1) for p in (0, 1)]
    topics = tuple(TopicResult(g, "orders", "new.orders", True, 0, 20, 20, f"0{g}", f"0{g}") for g in (2, 1))
    found = compared(*results, topics=topics)["orders"]

    assert [(1, [0, 1], 20, "01"), (2, [0, 1], 20, "02")] == [
        (c.windows[0].generation, [w.partition for w in c.windows], c.target_records, c.source_digest) for c in found
    ]


def test_windows_without_anything_to_read_are_left_out_but_of_a_whole_reading() -> None:
    """An idle partition costs the ledger nothing; a whole reading says that there is nothing any more."""
    idle = window(1, start=10, end=10)
    idle = replace(idle, target_end=idle.target_start)

    assert [0] == [w.partition for c in compared(measured(window()), measured(idle))["orders"] for w in c.windows]
    assert {"orders": ()} == compared(measured(idle))
    assert [0, 1] == [
        w.partition for c in compared(measured(window()), measured(idle), whole=True)["orders"] for w in c.windows
    ]


@pytest.mark.parametrize(
    ("unreadable", "verdict", "sides", "is_blind"),
    [
        ({"source_unreadable": "deleted"}, Verdict.NOT_VERIFIABLE, ("source",), True),
        ({"target_unreadable": "deleted"}, Verdict.NOT_VERIFIABLE, ("target",), False),
        ({"source_unreadable": "x", "target_unreadable": "x"}, Verdict.NOT_VERIFIABLE, ("source", "target"), False),
        ({}, Verdict.FAIL, (), False),
    ],
)
def test_comparison_knows_which_side_could_not_be_read(
    unreadable: dict[str, str], verdict: Verdict, sides: tuple[str, ...], is_blind: bool
) -> None:
    """A reading is blind if only the source could not be read."""
    (found,) = compared(measured(window(), equal=False, **unreadable))["orders"]

    assert (verdict, sides, is_blind) == (found.verdict, found.unreadable, found.is_blind)


def test_digest_that_is_not_known_is_kept_as_that() -> None:
    """A result without digests gives an entry without, not one of equal digests."""
    (found,) = compared(measured(window(), source_digest=None, target_digest=None))["orders"]

    assert (None, None) == (found.source_digest, found.target_digest)
