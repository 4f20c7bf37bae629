"""Rules of what a run did not get done in its time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.ledger.generations import Window
from kafka_migration.core.watching.unfinished_work import PendingValidation, late_findings
from kafka_migration.core.watching.watch import Outcome, WatchResult

BEHIND = WatchResult(Outcome.BEHIND, "", reason="the window ended", lag=90_000, rate=1_000.0)


@pytest.mark.parametrize("watch", [None, WatchResult(Outcome.DRAINED, ""), WatchResult(Outcome.FOLLOWED, "")])
def test_run_that_copied_everything_is_not_late(watch: WatchResult | None) -> None:
    """A watch that reached its goals, ended as planned, or did not take place has no finding."""
    assert () == late_findings("shop", watch, None)


def test_behind_forecasts_how_long_the_rest_takes() -> None:
    """The finding has the offsets left, and the time they take at the rate of the run."""
    (finding,) = late_findings("shop", BEHIND, None)

    assert (Code.BEHIND, "migration shop") == (finding.code, finding.subject)
    assert "90,000 offsets left to copy (the window ended); at 1,000/s" in finding.found
    assert finding.found.endswith("they take 1m30s")


def test_behind_follows_the_slowest_task() -> None:
    """If one task needs longer for its part than the rest needs at the rate of all, its time is the forecast."""
    (slow,) = late_findings("shop", replace(BEHIND, left_s=7_200.0), None)
    (even,) = late_findings("shop", replace(BEHIND, left_s=90.0), None)

    assert slow.found.endswith("the slowest task of MirrorMaker needs 2h00m for its part, at its rate of this run")
    assert even.found.endswith("they take 1m30s")


@pytest.mark.parametrize("unknown", [{"rate": None}, {"rate": 0.0}, {"lag": None}])
def test_unknown_rate_forecasts_nothing(unknown: dict[str, Any]) -> None:
    """Without a rate or a lag, the time left is shown as unknown."""
    (finding,) = late_findings("shop", replace(BEHIND, **unknown), None)

    assert finding.found.endswith("the time left is unknown")


def test_pending_counts_the_windows_that_hold_something() -> None:
    """An empty window is not waited for."""
    windows = (Window(1, "orders", "orders", 0, 5, 15, 5, 15), Window(1, "orders", "orders", 1, 7, 7, 7, 7))
    document = PendingValidation.of("now", "too late", windows)

    (finding,) = late_findings("shop", None, document)

    assert (1, 10) == (document.windows, document.source_offsets)
    assert Code.VALIDATION_PENDING is finding.code
    assert "1 windows with 10 source offsets not validated (too late)" == finding.found


def test_both_are_told_mirroring_first() -> None:
    """A run can be late in both."""
    document = PendingValidation.of("now", "too late", ())

    assert [Code.BEHIND, Code.VALIDATION_PENDING] == [f.code for f in late_findings("shop", BEHIND, document)]
