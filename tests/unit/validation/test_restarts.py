"""Rules of tasks that are started again within a generation: what was sent again counts once, and hides nothing."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.validation.coverage_rules import coverage_of
from tests.unit.validation.replay_model import TOPIC, Life, told
from tests.unit.validation.restart_model import restarted_life

# The campaign tries many more histories.
of_histories = pytest.mark.parametrize("histories", [100, pytest.param(3_000, marks=pytest.mark.campaign)])


@of_histories
def test_runs_and_a_validation_of_the_whole_agree(histories: int) -> None:
    """Over random restarts, moves and losses of tasks, all runs together say what one validation of the whole says, and
    what was really sent twice; no run says FAIL."""
    seen = {Verdict.PASS: 0, Verdict.WARN: 0}
    for seed in range(histories):
        life = restarted_life(seed)
        life.judge()
        summed = coverage_of(life.ledger)[TOPIC]
        whole = life.judge(whole=True)
        assert whole is not None
        assert Verdict.FAIL not in {run.verdict for run in life.runs}, seed
        after, again = coverage_of(life.ledger)[TOPIC], life.again
        expected = Verdict.WARN if again else Verdict.PASS
        assert (expected, again) == (whole.verdict, whole.target_records - whole.source_records), seed
        assert ({"RECORDS_REPLAYED"} if again else set()) == told(whole.warnings), seed
        assert (expected, expected) == (summed.verdict, after.verdict), (seed, list(summed.reasons()))
        assert (again, again) == (summed.surplus_records, after.surplus_records), seed
        seen[expected] += 1
    assert min(seen.values()) > histories // 20, seen


@of_histories
def test_exactly_once_leaves_no_duplicates(histories: int) -> None:
    """What a fenced task had not committed is never seen, so every run says PASS whatever was started again."""
    for seed in range(histories):
        life = restarted_life(seed, is_exactly_once=True)
        life.judge()
        life.judge(whole=True)

        assert {Verdict.PASS} == {run.verdict for run in life.runs}, seed


@of_histories
def test_damage_is_found_in_any_restart(histories: int) -> None:
    """A record that is altered, or of which no copy is left, is never a good verdict.

    It is no FAIL only where the record may be one that a task sent from after the window's end.
    """
    seen: Counter[Verdict] = Counter()
    for seed in range(histories):
        life, rng = restarted_life(seed, alphabet=0), random.Random(seed)
        if not (logs := [each.logs for each in life.partitions if any(each.logs.target)]):
            continue
        _damage(rng.choice(logs), rng)
        whole = life.judge(whole=True)
        assert whole is not None
        assert not whole.verdict.is_good, seed
        seen[whole.verdict] += 1
    assert seen[Verdict.FAIL] > 4 * seen[Verdict.NOT_VERIFIABLE]


def _damage(logs: Life, rng: random.Random) -> None:
    """Remove all copies of a record, or alter one of them."""
    place = rng.choice([place for place, record in enumerate(logs.target) if record is not None])
    victim = logs.target[place]
    assert victim is not None
    if rng.random() < 0.5:
        logs.target = [record for record in logs.target if record != victim]
    else:
        logs.target[place] = (victim[0], -1)
