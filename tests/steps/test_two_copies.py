"""Two processes that make one try of a task at once: one acts, the other ends harmlessly, and nothing is lost."""

from __future__ import annotations

import random
from itertools import islice
from pathlib import Path

import pytest

from tests.steps.clock import FakeClock
from tests.steps.test_tampering import cutover
from tests.steps.turns import Turns, orders
from tests.steps.two_copies import TASKS, Found, Trial
from tests.steps.world import World

__all__ = ["cutover"]
QUICK, CAMPAIGN = 10, 200
# A whole run and the next one follow every tenth interleaving, the next task the others.
WHOLE_EVERY = 10


@pytest.mark.parametrize("interleavings", [QUICK, pytest.param(CAMPAIGN, marks=pytest.mark.campaign)])
@pytest.mark.parametrize("task", TASKS)
def test_two_copies(
    cutover: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, task: str, interleavings: int
) -> None:
    """However the writes of two copies follow each other, there is no double action, no false alarm, no lost write."""
    cutover.deployed["clock"] = FakeClock()
    trial = Trial.of(cutover, Turns(monkeypatch), task, tmp_path / "before")
    found, chance = Found(), random.Random(task)
    every = orders(trial.stops, chance)
    if interleavings == QUICK:
        some = [*islice(every, 2 * trial.stops)]
        every = iter(chance.sample(some, len(some)))
    while len(found.interleavings) < interleavings:
        believed, whole = chance.randint(0, 1), len(found.interleavings) % WHOLE_EVERY == 0
        killed_at = believed * chance.randint(0, trial.stops)
        trial.meet(next(every), found, killed_at=killed_at, believed=believed, whole=whole)

    assert (interleavings, 0, 0, 0) == found.row, found


def test_page_has_the_figures_of_the_campaign() -> None:
    """The table of the manual has a row per task, with as many interleavings as the campaign tries, and no fault."""
    page = Path("docs/concepts/run.md").read_text()

    for task in TASKS:
        assert f"| `{task}` | {CAMPAIGN} | 0 | 0 | 0 |" in page
