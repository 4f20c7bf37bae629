"""Offsets by position after kills, against trying every place: nothing is skipped, and *minimal* is the best place."""

from __future__ import annotations

import logging
import random
from collections import Counter

import pytest

from kafka_migration.core.groups.offsets_plan import OffsetsMove, Proof
from kafka_migration.core.ledger.generations import Window
from kafka_migration.core.translation.by_partition import OffsetRange, Position, counts_needed, translate
from kafka_migration.core.translation.copies import PartitionCopy
from tests.unit.groups.copied_partition import proposed
from tests.unit.groups.lived_partition import HOLE, LivedPartition, lived
from tests.unit.partitions import P0

log = logging.getLogger(__name__)

PLANS = 1_500
MANY_PLANS = 40_000


def planned(partition: LivedPartition, offset: int) -> tuple[str, OffsetsMove | None]:
    """Plan one group, check the plan against every place, and return what it is."""
    plan = partition.plan(offset)
    if plan.refusals:
        return "refused", None
    (move,) = plan.moves
    place, best = proposed(move), partition.best(offset)
    held_by_none = max(best, partition.target_log_start)
    assert place <= held_by_none, "an unread record is skipped"
    assert not move.is_minimal or place == held_by_none, "minimal, and early"
    assert move.delivered_again >= len(partition.target) - place - len(partition.unread(offset))
    return ("exact" if place == held_by_none else "early"), move


def tried(seed: int, plans: int, *, may_purge: bool, most_restarts: int = 0) -> Counter[str]:
    """Return how many plans were exact, early and refused."""
    chance, outcomes = random.Random(seed), Counter[str]()
    while outcomes.total() < plans:
        partition = lived(chance, may_purge=may_purge, most_restarts=most_restarts)
        offset = chance.randint(0, len(partition.source))
        outcomes[planned(partition, offset)[0]] += 1
    return outcomes


def test_every_plan_after_kills_is_the_best_place() -> None:
    """While both clusters hold the copied records, no plan skips a record, is early, or is refused."""
    assert {"exact": PLANS} == tried(1, PLANS, may_purge=False)


def test_no_plan_skips_a_record_after_deletions() -> None:
    """Where a cluster has deleted records, a plan may be early and then says so; it never skips a record."""
    outcomes = tried(2, PLANS, may_purge=True)

    assert PLANS == outcomes.total()
    assert outcomes["exact"] > PLANS // 2


def test_every_plan_after_restarts_within_a_generation_is_the_best_place() -> None:
    """Records that a task sent again before its generation ended make no difference, wherever they are in its range."""
    assert {"exact": PLANS} == tried(4, PLANS, may_purge=False, most_restarts=3)


def test_no_plan_skips_a_record_after_restarts_and_deletions() -> None:
    """Where a cluster has deleted records too, a plan may be early and then says so; it never skips a record."""
    outcomes = tried(5, PLANS, may_purge=True, most_restarts=3)

    assert PLANS == outcomes.total()
    assert outcomes["exact"] > PLANS // 2


@pytest.mark.campaign
@pytest.mark.parametrize("most_restarts", [0, 3])
@pytest.mark.parametrize("may_purge", [False, True])
def test_many_plans_skip_nothing(may_purge: bool, most_restarts: int) -> None:
    """The same rules hold for many more histories."""
    outcomes = tried(3, MANY_PLANS, may_purge=may_purge, most_restarts=most_restarts)
    log.info("%d plans, may_purge=%s: %s, skipped 0", MANY_PLANS, may_purge, dict(outcomes))

    assert may_purge or {"exact": MANY_PLANS} == outcomes


def killed_after_a_hole(records: list[str | None]) -> LivedPartition:
    """Return a copy whose first generation sent everything and stored offset 5; its ranges are equally long."""
    partition = LivedPartition(random.Random(1), records)
    partition.copy(len(records), stored=5)
    partition.copy(len(records))
    partition.judge(whole=True)
    return partition


@pytest.mark.parametrize(
    ("records", "places"),
    [
        (["a", HOLE, "X", "X", HOLE, "b", HOLE, "c", HOLE], [0, 1, 1, 2, 5, 5, 6, 6, 7]),
        (["A", HOLE, "B", HOLE, "A", "B", "c", "d", "e"], [0, 1, 1, 2, 2, 7, 8, 9, 10]),
    ],
)
def test_records_sent_ahead_do_not_hide_holes(records: list[str | None], places: list[int]) -> None:
    """Regression: records sent ahead by a killed generation were taken for the records that its holes lack, so a plan
    skipped a record, and other commits of the same group were refused."""
    partition = killed_after_a_hole(records)
    found = [planned(partition, offset) for offset in range(len(records))]

    assert ["exact"] * len(records) == [outcome for outcome, _ in found]
    assert places == [proposed(move) for _, move in found if move is not None]


def test_commits_too_far_back_to_compare_are_lossless_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """If too many records would have to be compared, the offset is counted from the start of the generation."""
    monkeypatch.setattr("kafka_migration.core.translation.by_partition.MAX_COMPARED", 3)
    partition = killed_after_a_hole(["a", HOLE, "b", "c", "d", "e", "e", "e", "e"])
    outcome, move = planned(partition, 2)

    assert move is not None
    assert (Proof.RECORD, False) == (move.proof, move.is_minimal)
    assert outcome in {"early", "exact"}


def test_place_that_can_no_longer_be_counted_is_that_of_the_ledger() -> None:
    """After the source deleted the start of a killed generation's window and unread records, only the ledger shows a
    place before all of them; the target must still hold the records from there on."""
    partition = killed_after_a_hole(["a", HOLE, "b", "c", "d", "e", "f", "g", "h"])
    partition.source_log_start = 4
    outcome, move = planned(partition, 3)

    assert move is not None
    assert ("early", Proof.LEDGER, 0, False) == (outcome, move.proof, proposed(move), move.is_minimal)
    partition.target_log_start = 1
    assert ("refused", None) == planned(partition, 3)


def test_records_that_compaction_removed_since_are_not_missing_in_the_number_of_those_delivered_again() -> None:
    """Regression: the source had compacted two of three copied records before a commit, and counting found one: the
    group resumes at the second, and reads up to two again, not none."""
    window = Window(1, P0.topic, P0.topic, 0, 0, 9, 0, 6)
    copies, position = {P0: PartitionCopy((window,), 0, 9, is_compacted=True)}, Position(P0, 3)
    (asked,) = counts_needed(copies, [position])
    found = translate(copies, [position], {asked: 1})[position]

    assert (OffsetRange(P0, 0, 3), 1, 2, False) == (asked, found.target_offset, found.delivered_again, found.is_minimal)
