"""Rules of the reliability campaign: its table, and the reading of the host's journal and of the workers' topics."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.live.connect_invariants import CopierEvent, require_never_two
from tests.live.invariants import JvmLife, jvm_lives
from tests.live.reliability_table import ON_CONNECT, OUTCOMES, SCENARIOS, kept

LIVE = Path(__file__).parents[2] / "live"


def test_every_scenario_is_a_row_and_every_row_a_scenario() -> None:
    """The page neither leaves a scenario out nor claims one that no test tries."""
    texts = [path.read_text() for path in LIVE.glob("test_reliability_*.py")]
    tests = [name for text in texts for name in re.findall(r"^def (test_\w+)\(scenario: ", text, re.M)]

    assert sorted(SCENARIOS) == sorted(tests)


def test_what_is_kept_is_what_is_expected() -> None:
    """Each kept measure is of a row that is still there, with the outcome and the codes of that row."""
    for test, measured in kept().items():
        row = SCENARIOS[test.removesuffix(ON_CONNECT)]
        assert (row.outcome, row.codes) == (measured.outcome, measured.codes), test
    assert {row.outcome for row in SCENARIOS.values()} <= set(OUTCOMES)


def test_measures_on_connect_are_of_rows_that_it_has() -> None:
    """What cannot happen on Kafka Connect has no measure there."""
    on_connect = {test.removesuffix(ON_CONNECT) for test in kept() if test.endswith(ON_CONNECT)}

    assert on_connect <= {test for test, row in SCENARIOS.items() if not row.not_on_connect}


def test_journal_tells_from_when_to_when_each_jvm_lived() -> None:
    """A life ends at the first line that says so, and one without such a line has no known end."""
    journal = [
        "1 10.5 start 1 - starting",
        "1 11.0 supervise 1 100 java-started",
        "1 20.0 supervise 1 100 java-ended 137",
        "1 21.0 stop 1 100 stopped",
        "1 30.0 supervise 2 200 java-started",
        "1 40.0 start 2 200 201 leftovers-killed",
        "1 50.0 supervise 3 300 java-started",
    ]

    assert [JvmLife(1, 11.0, 20.0), JvmLife(2, 30.0, 40.0), JvmLife(3, 50.0, None)] == jvm_lives(journal)


def copier_life(worker: str, start: float, end: float | None) -> list[CopierEvent]:
    """Return the rows of a task on a worker."""
    rows = [CopierEvent(start, task="0", worker=worker, state="RUNNING")]
    return rows if end is None else [*rows, CopierEvent(end, task="0", worker=worker, state="UNASSIGNED")]


def test_generations_on_connect_never_overlap() -> None:
    """A generation begins after each task of the one before has ended, or was killed with its worker; else it fails."""
    starts = [CopierEvent(1, 1, "a"), CopierEvent(1, 1, "a"), CopierEvent(5, 2, "b")]

    assert 2 == require_never_two([*starts, *copier_life("w1", 2, 4), *copier_life("w2", 6, None)], [])
    assert 2 == require_never_two([*starts, *copier_life("w1", 2, None)], [(3, "w1")])
    for end, killed in ((None, []), (6, []), (None, [(3, "w2"), (1.5, "w1"), (6, "w1")])):
        with pytest.raises(AssertionError, match="generation 2 began while"):
            require_never_two([*starts, *copier_life("w1", 2, end)], killed)
