"""Rules of the short names of runs."""

from __future__ import annotations

import itertools

import pytest

from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.core.run.run_names import run_name, run_names

MANUAL = "manual__2026-11-25T03:02:11+00:00"


@pytest.mark.parametrize(
    ("run", "name"),
    [
        (MANUAL, "manual 25 Nov 03:02"),
        ("manual__2026-11-25T03:02:11.123456+00:00", "manual 25 Nov 03:02"),
        ("scheduled__2026-11-05T01:00:00+00:00", "scheduled 5 Nov 01:00"),
        ("backfill__2026-11-05T01:00:00+00:00", "backfill 5 Nov 01:00"),
        ("asset_triggered__2026-11-05T01:00:00+00:00_x7Gh2", "asset triggered 5 Nov 01:00"),
        (f"kafka_migration__shop/{MANUAL}#1", "manual 25 Nov 03:02"),
        (f"kafka_rollback__shop/{MANUAL}#3", "manual 25 Nov 03:02, attempt 3"),
        ("change-4711", "change-4711"),
        ("manual__2026-99-25T03:02:11+00:00", "manual__2026-99-25T03:02:11+00:00"),
        ("x" * 250, "x" * 39 + "…"),
        ("ada by hand", "ada by hand"),
        ("", "(empty)"),
    ],
)
def test_name_of_a_run(run: str, name: str) -> None:
    """An id that Airflow gave becomes its type, day and time; another one stays, shortened if it is long."""
    assert name == run_name(run)


def test_names_of_a_list_are_no_longer_than_they_must_be() -> None:
    """Runs of one minute have seconds, and runs of one second their whole ids; the others stay short."""
    later, same = "manual__2026-11-25T03:02:59+00:00", "manual__2026-11-25T03:02:11.5+00:00"
    other = "manual__2026-11-26T03:02:11+00:00"

    assert {
        MANUAL: MANUAL,
        same: same,
        later: "manual 25 Nov 2026 03:02:59",
        other: "manual 26 Nov 03:02",
    } == run_names([MANUAL, later, same, other])


HOSTILE = [
    MANUAL,
    "manual 25 Nov 03:02",
    "manual 25 Nov 2026 03:02:11",
    "manual__2025-11-25T03:02:11+00:00",
    f"kafka_migration__shop/{MANUAL}#1",
    f"kafka_migration__shop/{MANUAL}#2",
    f"kafka_nightly_sync__shop/{MANUAL}#1",
    "manual 25 Nov 03:02, attempt 2",
    "x" * 250,
    "x" * 249,
    "x" * 39 + "…",
    "a\nb",
    "a\\u000ab",
    repr("a\nb"),
    "a\0b",
    "\x1b[31mred",
    "<b>|`#",
    "\u202eevil",
    "",
    "(empty)",
    "''",
    "manual__2026-11-25T03:02:11+00:00_\n",
    "manual__٢٠٢٦-11-25T03:02:11+00:00",
    "a/b#1",
    "\ud800",
]


@pytest.mark.parametrize("count", [2, 3, len(HOSTILE)])
def test_different_runs_have_different_names(count: int) -> None:
    """Whatever ids people choose, no two runs of a list have one name, and no name leaves its line."""
    for runs in itertools.combinations(HOSTILE, count):
        names = run_names(runs)
        assert len(runs) == len(set(names.values())), names
        assert all(name and name.isprintable() for name in names.values())


def test_same_runs_have_the_same_names_in_any_order() -> None:
    """A name depends on the list, not on its order or on repetitions."""
    assert run_names(HOSTILE) == {run: run_names([*HOSTILE[::-1], *HOSTILE])[run] for run in HOSTILE}


def test_name_of_a_holder_is_that_of_its_run_id() -> None:
    """The DAG is no part of a name: people read it beside the name of its migration."""
    assert run_name(RunIdentity("kafka_migration__shop", MANUAL, 1).holder) == run_name(MANUAL)
