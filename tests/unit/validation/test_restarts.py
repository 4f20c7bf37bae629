"""Rules of tasks that are started again within a generation: what was sent again counts once, and hides nothing."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.mirror.mirror_process import HowEnded, ProcessEnding
from kafka_migration.core.validation.coverage_rules import coverage_of
from kafka_migration.core.validation.difference_kinds import DifferenceKind
from tests.unit.validation.replay_model import TOPIC, Life, told
from tests.unit.validation.restart_model import Partition, RestartedLife, restarted_life

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


def test_restart_alone_is_no_difference_in_its_own_run() -> None:
    """Regression: the target has as many records more as were sent again; they were taken for records after the
    position, which it lacks, so the run said FAIL. The runs of records prove at once that only these came twice."""
    life = _restarted_once(reached=5, stored=5)
    alone = life.judge()
    assert alone is not None

    assert (Verdict.WARN, {DifferenceKind.DUPLICATE: 2}) == (alone.verdict, alone.differences.counts)
    assert (5, 7) == (alone.source_records, alone.target_records)


def test_task_that_has_not_caught_up_is_not_verifiable_until_the_next_generation() -> None:
    """It ended in order, but before the records that the task before it had sent: they are on the target only."""
    life = _restarted_once(reached=3, stored=3)
    alone = life.judge()
    assert alone is not None
    assert Verdict.NOT_VERIFIABLE is alone.verdict
    life.generation(is_last=True)
    later = life.judge()
    assert later is not None

    assert (Verdict.WARN, {DifferenceKind.DUPLICATE: 2}) == (later.verdict, later.differences.counts)
    assert Verdict.WARN is coverage_of(life.ledger)[TOPIC].verdict


def _restarted_once(reached: int, stored: int) -> RestartedLife:
    """Return a life whose task sent records 0 to 3, and from 2 on again after a restart; nothing was judged."""
    life = RestartedLife(0, alphabet=0)
    life.partitions, life.tasks = [Partition(Life(0, transactions=False, alphabet=0), is_exactly_once=False)], 1
    (only,) = life.partitions
    only.logs.produce(5)
    only.send(0, 4)
    only.send(2, reached)
    only.stored = stored
    ending = ProcessEnding(HowEnded.ORDERLY, resent=True)
    place = TopicPartition(TOPIC, 0)
    life.certify({place: 0}, {place: 0}, ending)
    return life


@of_histories
def test_exactly_once_leaves_no_duplicates(histories: int) -> None:
    """What a fenced task had not committed is never seen, so every run says PASS whatever was started again."""
    for seed in range(histories):
        life = restarted_life(seed, is_exactly_once=True)
        life.judge()
        life.judge(whole=True)

        assert {Verdict.PASS} == {run.verdict for run in life.runs}, seed


@of_histories
def test_two_tasks_at_once_are_bad_only_if_a_key_ends_with_an_old_record(histories: int) -> None:
    """A task on a worker that is cut off continues to copy, and may store its position late: what both send is
    `duplicate`. If the older task was last, a key of the target ends with an old record; that is never good.
    """
    seen: Counter[tuple[bool, bool]] = Counter()
    for seed in range(histories):
        life = restarted_life(seed, with_cut_off=True)
        life.judge()
        whole = life.judge(whole=True)
        assert whole is not None
        is_stale = _is_stale(life)
        assert is_stale is not whole.verdict.is_good, seed
        assert is_stale or DifferenceKind.STALE not in whole.differences.counts, seed
        seen[is_stale, bool(life.again)] += 1
    assert seen[True, True] > histories // 50, seen


def _is_stale(life: RestartedLife) -> bool:
    lasts = [
        [{record[0]: record for record in log if record} for log in (each.logs.source, each.logs.target)]
        for each in life.partitions
    ]
    return any(ours != theirs for ours, theirs in lasts)


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
