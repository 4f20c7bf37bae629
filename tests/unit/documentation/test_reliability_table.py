"""Rules of the reliability campaign: its table and the reading of the host's journal."""

from __future__ import annotations

import re
from pathlib import Path

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
    measured = {test: (each.outcome, each.codes) for test, each in kept().items() if not test.endswith(ON_CONNECT)}

    assert {test: (SCENARIOS[test].outcome, SCENARIOS[test].codes) for test in measured} == measured
    assert {row.outcome for row in SCENARIOS.values()} <= set(OUTCOMES)


def test_measures_on_connect_are_of_rows_that_it_has() -> None:
    """A measure on Kafka Connect is of a row that is still there, of no part of a host, with a known outcome."""
    on_connect = {test.removesuffix(ON_CONNECT): each for test, each in kept().items() if test.endswith(ON_CONNECT)}

    assert on_connect.keys() <= {test for test, row in SCENARIOS.items() if not row.is_of_host}
    assert {each.outcome for each in on_connect.values()} <= set(OUTCOMES)


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
