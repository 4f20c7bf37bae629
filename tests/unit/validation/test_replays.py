"""Rules of replays: what a killed MirrorMaker sent again counts once on the source, in every mode."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.ledger.generations import Piece, Window
from kafka_migration.core.validation.coverage_rules import coverage_of
from kafka_migration.core.validation.difference_kinds import DifferenceKind
from kafka_migration.core.validation.validation_contract import PartitionResult
from tests.unit.validation.keyed_replay_model import KeyedLife
from tests.unit.validation.replay_model import TOPIC, Life, told

# The campaign tries many more histories.
of_histories = pytest.mark.parametrize("histories", [100, pytest.param(3_000, marks=pytest.mark.campaign)])


def random_life(seed: int, alphabet: int | None = None) -> Life:
    """Return a life of some rounds; the last generation ends in order, after everything was copied."""
    rng = random.Random(seed)
    life = Life(
        seed, transactions=rng.random() < 0.5, alphabet=rng.choice((0, 0, 2, 5)) if alphabet is None else alphabet
    )
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


@of_histories
def test_runs_and_a_validation_of_the_whole_agree(histories: int) -> None:
    """Over random kills, positions, retention, restarts and transactions, all runs together say what one validation of
    the whole says, and what was really sent twice."""
    seen = {Verdict.PASS: 0, Verdict.WARN: 0, "blind": 0}
    for seed in range(histories):
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
    assert min(seen.values()) > histories // 20, seen


@of_histories
def test_runs_by_key_and_a_validation_of_the_whole_agree(histories: int) -> None:
    """The same by key: other partitions on the target, and offsets that do not show what a killed process sent."""
    seen = {Verdict.PASS: 0, Verdict.WARN: 0}
    for seed in range(histories):
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
    assert min(seen.values()) > histories // 20, seen


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


def measured(*pieces: Piece, source_end: int, records: str, copied: str) -> PartitionResult:
    """Return what the job finds; each letter is a record, and a dot an offset without one."""
    life = Life(0, transactions=False, alphabet=0)
    life.source = [None if letter == "." else (ord(letter) % 3, ord(letter)) for letter in records]
    life.target = [(ord(letter) % 3, ord(letter)) for letter in copied]
    return life.measured(Window(2, TOPIC, TOPIC, 0, 0, source_end, 0, len(copied), pieces))


PIECES = {
    "no position was stored": ((Piece(1, 0, 3, 0), Piece(2, 0, 5, 3)), "abcde", "abcabcde", 3),
    "some records again": ((Piece(1, 0, 4, 0), Piece(2, 2, 6, 4)), "abcdef", "abcdcdef", 2),
    "killed twice": ((Piece(1, 0, 3, 0), Piece(2, 1, 4, 3), Piece(3, 1, 5, 6)), "abcde", "abcbcdbcde", 5),
    "holes before the tail": ((Piece(1, 0, 4, 0), Piece(2, 3, 8, 4)), "a..b.cde", "abcdbcde", 3),
    "a record is missing between two pieces": (
        (Piece(1, 0, 2, 0), Piece(2, 3, 6, 2), Piece(3, 3, 6, 5)),
        "abcdef",
        "abdefdef",
        None,
    ),
    "a record is altered": ((Piece(1, 0, 3, 0), Piece(2, 0, 5, 3)), "abcde", "abcabXde", None),
    "a foreign record": ((Piece(1, 0, 3, 0), Piece(2, 0, 5, 3)), "abcde", "abcXabcde", None),
    "the last piece has not caught up": ((Piece(1, 0, 5, 0), Piece(2, 0, 2, 5)), "abcde", "abcdeab", None),
}


@pytest.mark.parametrize(("pieces", "records", "copied", "again"), PIECES.values(), ids=PIECES)
def test_equal_pieces_prove_a_copy(pieces: tuple[Piece, ...], records: str, copied: str, again: int | None) -> None:
    """If all pieces are equal and follow each other, the surplus was sent again; else nothing is said of them."""
    found = measured(*pieces, source_end=len(records), records=records, copied=copied)
    told = found.differences.counts if found.differences else {}

    assert (True if again else None) is found.rest_in_order
    assert again is None or {DifferenceKind.DUPLICATE: again} == told


@of_histories
def test_damage_is_found_in_any_piece(histories: int) -> None:
    """Over random histories a record that is altered, or of which no copy is left, is never a good verdict.

    It is no FAIL only where the record may be one that a killed process sent from after the window's end.
    """
    seen: Counter[Verdict] = Counter()
    for seed in range(histories):
        life = finished(random_life(seed, alphabet=0))
        if life.log_start or not life.target:
            continue
        rng = random.Random(seed)
        victim = rng.choice(life.target)
        assert victim is not None
        if rng.random() < 0.5:
            life.target = [record for record in life.target if record != victim]
        else:
            life.target[rng.randrange(len(life.target))] = (victim[0], -1)
        whole = life.judge(whole=True)
        assert whole is not None
        assert not whole.verdict.is_good, seed
        seen[whole.verdict] += 1
    assert seen[Verdict.FAIL] > 10 * seen[Verdict.NOT_VERIFIABLE]


def test_tail_of_a_killed_process_is_no_difference_after_the_source_deleted_a_marker() -> None:
    """Regression: without ranks, because the source had deleted a marker, a tail of a killed process was a FAIL."""
    life = Life(0, transactions=False, alphabet=0)
    life.source = [None, (1, 1), None, (1, 2), (1, 3)]
    life.copy(0, 5, stored=3)
    life.log_start = 1
    whole = life.judge(whole=True)
    assert whole is not None

    assert (Verdict.NOT_VERIFIABLE, 1, 3) == (whole.verdict, whole.source_records, whole.target_records)


def test_replay_of_deleted_records_is_no_difference_before_it_has_caught_up() -> None:
    """Regression: the last process had not sent all again, and the source deleted a part of what it had sent: a FAIL
    that later runs cannot replace."""
    life = Life(0, transactions=False, alphabet=0)
    life.produce(9)
    life.copy(0, 9, stored=None)
    life.copy(0, 6, stored=6)
    life.log_start = 4
    whole = life.judge(whole=True)
    assert whole is not None

    assert Verdict.NOT_VERIFIABLE is whole.verdict
    life.copy(6, 9, stored=9)
    life.judge()
    assert Verdict.FAIL is not coverage_of(life.ledger)[TOPIC].verdict
