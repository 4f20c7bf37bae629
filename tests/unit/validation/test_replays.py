"""Rules of replays: what a killed MirrorMaker sent again counts once on the source, in every mode."""

from __future__ import annotations

import os
import random

import pytest

from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.validation.coverage_rules import coverage_of
from tests.unit.validation.keyed_replay_model import KeyedLife
from tests.unit.validation.replay_model import TOPIC, Life, told

HISTORIES = int(os.environ.get("REPLAY_HISTORIES", "300"))


def random_life(seed: int) -> Life:
    """Return a life of some rounds; the last generation ends in order, after everything was copied."""
    rng = random.Random(seed)
    life = Life(seed, transactions=rng.random() < 0.5, alphabet=rng.choice((0, 0, 2, 5)))
    for _ in range(rng.randint(1, 6)):
        life.produce(rng.randint(0, 8))
        life.generation(killed=rng.random() < 0.6)
        if rng.random() < 0.5:
            life.judge()
        if rng.random() < 0.1:
            life.forget()
    return life


def finished(life: Life) -> Life:
    life.produce(2)
    while True:
        life.generation(killed=False)
        if life.stored == len(life.source):
            return life


def test_runs_and_a_validation_of_the_whole_agree() -> None:
    """Over random kills, positions, retention, restarts and transactions, all runs together say what one validation of
    the whole says, and what was really sent twice."""
    seen = {Verdict.PASS: 0, Verdict.WARN: 0, "blind": 0}
    for seed in range(HISTORIES):
        life = finished(random_life(seed))
        life.judge()
        summed = coverage_of(life.ledger)[TOPIC]
        whole = life.judge(whole=True)
        assert whole is not None
        assert Verdict.FAIL not in {run.verdict for run in life.runs}, seed
        if life.is_blind:
            seen["blind"] += 1
            continue
        again = len(life.sent) - len(set(life.sent))
        expected = Verdict.WARN if again else Verdict.PASS
        after = coverage_of(life.ledger)[TOPIC]
        assert (expected, again) == (whole.verdict, whole.target_records - whole.source_records), seed
        assert {"RECORDS_REPLAYED"} if again else set() == told(whole.warnings), seed
        assert (expected, expected) == (summed.verdict, after.verdict), (seed, list(summed.reasons()))
        assert (again, again) == (summed.surplus_records, after.surplus_records), seed
        assert summed.source_offsets == after.source_offsets, seed
        assert summed.target_records in {None, len(life.target)}, seed
        seen[expected] += 1
    assert min(seen.values()) > HISTORIES // 20, seen


def test_runs_by_key_and_a_validation_of_the_whole_agree() -> None:
    """The same by key: other partitions on the target, and offsets that do not show what a killed process sent."""
    seen = {Verdict.PASS: 0, Verdict.WARN: 0}
    for seed in range(HISTORIES):
        rng, life = random.Random(seed), KeyedLife(seed, alphabet=random.Random(seed).choice((0, 3, 12)))
        for last in (*(False for _ in range(rng.randint(1, 5))), True):
            life.produce(rng.randint(1, 8))
            life.generation(killed=not last and rng.random() < 0.6)
            if last or rng.random() < 0.5:
                life.judge()
        summed, whole = coverage_of(life.ledger)[TOPIC], life.judge(whole=True)
        assert whole is not None
        again = len(life.sent) - len(set(life.sent))
        expected = Verdict.WARN if again else Verdict.PASS
        assert (expected, expected) == (whole.verdict, summed.verdict), (seed, list(summed.reasons()))
        assert Verdict.FAIL not in {run.verdict for run in life.runs}, seed
        assert (again, again) == (whole.target_records - whole.source_records, summed.surplus_records), seed
        assert ({"RECORDS_REPLAYED"} if again else set()) == told(whole.warnings), seed
        seen[expected] += 1
    assert min(seen.values()) > HISTORIES // 20, seen


@pytest.mark.parametrize("runs", [1, 2])
def test_copy_that_was_killed_before_its_first_position_is_no_pass(runs: int) -> None:
    """Regression: each generation's window was equal, so 24 records that were copied twice were a PASS."""
    life = Life(0, transactions=False, alphabet=0)
    life.produce(24)
    life.copy(0, 24, stored=None)
    if runs == 2:
        life.judge()
    life.produce(46)
    life.copy(0, 70, stored=70)
    last, covered = life.judge(), coverage_of(life.ledger)[TOPIC]
    assert last is not None
    (warning,) = last.warnings

    assert (Verdict.WARN, Verdict.WARN) == (last.verdict, covered.verdict)
    assert (70, 94, 24) == (last.source_records, last.target_records, covered.surplus_records)
    assert (70, 94) == (covered.source_offsets, covered.target_records)
    assert "70 source records, 94 target records; 24 duplicate" in warning.found
    whole = life.judge(whole=True)
    assert whole is not None
    assert (last.verdict, [w.found for w in last.warnings]) == (whole.verdict, [w.found for w in whole.warnings])
