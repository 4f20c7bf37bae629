"""Rules of the demo's own checks."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.data.reading import Content
from sandbox.demo.checks import content_problems, sync_problems
from sandbox.demo.evidence import Count, RunEvidence

Contents = tuple[tuple[int, str], ...]
SEEDED = {"orders": 100, "audit": 10}
SENT = {"orders": 130, "audit": 10}


def _run(**source_records: int) -> RunEvidence:
    counts = {topic: Count(count, count) for topic, count in source_records.items()}
    return RunEvidence(Path("attempt-1"), "PASS", "success", counts, ())


GOOD = (_run(orders=120, audit=10), _run(orders=10, audit=0), _run())


def test_runs_that_add_up_have_no_problem() -> None:
    """History first, the rest second, nothing third, together all that was sent."""
    assert sync_problems(SEEDED, SENT, GOOD) == []


@pytest.mark.parametrize(
    ("runs", "problem"),
    [
        ((_run(orders=99, audit=10), _run(orders=31), _run()), "the first sync validated 99 of the 100"),
        ((GOOD[0], _run(orders=130, audit=10), _run()), "130 records were sent, the runs validated 250"),
        ((GOOD[0], _run(orders=9), _run()), "130 records were sent, the runs validated 129"),
        ((_run(orders=130, audit=10), _run(), _run()), "the second sync validated no records"),
        ((*GOOD[:2], _run(orders=1)), "the third sync validated 1 records, none were new"),
    ],
    ids=["history left out", "whole topic again", "record left out", "no delta", "again"],
)
def test_runs_that_do_not_add_up_are_named(runs: tuple[RunEvidence, ...], problem: str) -> None:
    """Too little, too much, and the whole instead of the delta are all seen."""
    assert any(problem in found for found in sync_problems(SEEDED, SENT, runs))


def test_sides_are_counted_apart() -> None:
    """A target with fewer records than the source is a problem even where the source adds up."""
    short = RunEvidence(Path("attempt-1"), "PASS", "success", {"orders": Count(10, 9)}, ())

    assert "validated 130 (source), 129 (target)" in sync_problems(SEEDED, SENT, (GOOD[0], short, _run()))[0]


def _topic(*contents: tuple[int, str]) -> dict[str, dict[int, Content]]:
    return {"orders": {partition: Content(*content) for partition, content in enumerate(contents)}}


def test_equal_contents_have_no_problem() -> None:
    """The same digests and as many records as were sent."""
    contents = _topic((60, "a"), (70, "b"))

    assert content_problems({"orders": 130}, contents, contents) == []


@pytest.mark.parametrize(
    ("source", "target", "problem"),
    [
        (((60, "a"), (70, "b")), ((60, "a"), (69, "c")), "partition 1: consumers read 70 records on the source, 69"),
        (((60, "a"), (70, "b")), ((60, "a"), (70, "c")), "partition 1: equal numbers of records on both sides, but"),
        (((130, "a"),), ((60, "a"), (70, "b")), "1 partitions on the source, 2 on the target"),
        (((129, "a"),), ((129, "a"),), "130 records were sent, a consumer of the source reads 129"),
    ],
    ids=["count", "content", "partitions", "lost before"],
)
def test_different_contents_are_named(source: Contents, target: Contents, problem: str) -> None:
    """Counts, content, partitions and the producers' own count are each compared."""
    assert problem in content_problems({"orders": 130}, _topic(*source), _topic(*target))[0]
