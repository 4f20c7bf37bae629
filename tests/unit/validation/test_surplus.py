"""Rules of target ranges that are longer than the source's."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.ledger.generations import Generation, GenerationStart, Piece, StopCertificate, Window
from kafka_migration.core.migration.settings import Tolerance
from kafka_migration.core.validation.compared_windows import whole_windows
from kafka_migration.core.validation.difference_kinds import DifferenceKind
from kafka_migration.core.validation.differences import Differences
from kafka_migration.core.validation.judging import judge_partition
from kafka_migration.core.validation.judging_by_key import (
    GenerationEvents,
    Lengths,
    Surplus,
    judge_topic_by_key,
    lengths_of,
    surplus_by_key,
    surplus_in_place,
)
from kafka_migration.core.validation.validation_contract import PartitionResult, SideCount, TopicResult
from tests.unit.partitions import P0, P1
from tests.unit.validation.replay_model import PLACE, TOPIC
from tests.unit.validation.restart_model import restarted_life
from tests.unit.validation.test_replays import finished, random_life

COMPACTED = Differences({DifferenceKind.COMPACTED: 3}, ())
MANY = Tolerance(duplicates=9)


def window(source: int, target: int, *pieces: Piece) -> Window:
    return Window(3, "orders", "orders", 0, 0, source, 0, target, pieces)


def explained(of: Window, differences: Differences = COMPACTED) -> PartitionResult:
    """Return a window in which compaction explains everything, and the rest is in order."""
    counts = SideCount(3, 0, None, None), SideCount(6, 0, None, None)
    return PartitionResult(of, *counts, False, 1, 1, differences=differences, rest_in_order=True)


REPLAYED = Piece(2, 0, 4, 0), Piece(3, 3, 6, 4)
CASES = {
    "as long": (window(6, 6), {3: {0: 0}}, (), Verdict.PASS, None),
    "shorter": (window(9, 6), {3: {0: -3}}, (), Verdict.PASS, None),
    "longer": (window(6, 7), {3: {0: 1}}, (), Verdict.NOT_VERIFIABLE, "is 1 offsets longer"),
    "longer after a kill": (window(6, 7, *REPLAYED), {2: {0: 1}, 3: {0: 0}}, {2}, Verdict.WARN, "explain 1 of them"),
    "more than the kill explains": (
        window(6, 9, *REPLAYED),
        {2: {0: 1}, 3: {0: 2}},
        {2},
        Verdict.NOT_VERIFIABLE,
        "is 3 offsets longer than the source's, and stop certificates of killed generations explain 1",
    ),
    "hidden by the holes of another generation": (
        window(20, 8),
        {2: {0: -15}, 3: {0: 3}},
        (),
        Verdict.NOT_VERIFIABLE,
        "is 3 offsets longer",
    ),
    "written after the last stop": (window(6, 8), {3: {0: 0}}, (), Verdict.NOT_VERIFIABLE, "is 2 offsets longer"),
}


@pytest.mark.parametrize(("of", "lengths", "killed", "verdict", "words"), CASES.values(), ids=CASES)
def test_longer_target_range_is_never_a_pass(
    of: Window, lengths: Lengths, killed: set[int], verdict: Verdict, words: str | None
) -> None:
    """Up to what certificates explain it is a warning, beyond that not verifiable; the finding says by how much."""
    found, finding = judge_partition(explained(of), events=GenerationEvents(killed, (), lengths), tolerance=MANY)

    assert (verdict, True) == (found, words is None or words in str(finding))
    code = {Verdict.WARN: Code.RECORDS_REPLAYED, Verdict.NOT_VERIFIABLE: Code.RECORDS_NOT_VERIFIABLE}
    assert finding is not None
    assert code.get(verdict, Code.RECORDS_COMPACTED) is finding.code


def test_markers_on_the_target_are_no_surplus() -> None:
    """With exactly-once, and where nothing can be gone, lengths say nothing."""
    assert Verdict.PASS is judge_partition(explained(window(6, 7)), events=GenerationEvents())[0]


def test_record_that_the_source_never_had_stays_a_fail() -> None:
    """A surplus never makes a verdict better, and damage keeps its own finding."""
    damaged = replace(explained(window(6, 7), Differences({DifferenceKind.EXTRA: 1}, ())), rest_in_order=None)
    verdict, finding = judge_partition(damaged, events=GenerationEvents((), (), {3: {0: 1}}))

    assert finding is not None
    assert (Verdict.FAIL, Code.COPY_DIFFERS) == (verdict, finding.code)


def test_restart_within_a_generation_explains_what_its_range_has_more() -> None:
    """Such a generation may have sent anything again, so that is replayed; what others have more is not explained."""
    lengths = {2: {0: 4}, 3: {0: 1}}

    assert Surplus(4, 1) == surplus_in_place(window(6, 11), lengths, killed={2}, resent={2})
    events = GenerationEvents({2}, (), {2: {0: 4}, 3: {0: 0}}, {2})
    assert Verdict.WARN is judge_partition(explained(window(6, 10)), events=events, tolerance=MANY)[0]


@pytest.mark.parametrize("histories", [150, pytest.param(4_000, marks=pytest.mark.campaign)])
def test_no_copy_with_restarts_alarms(histories: int) -> None:
    """Over random restarts of tasks and holes of the source nothing is unexplained, and no more than was sent again."""
    for seed in range(histories):
        life = restarted_life(seed)
        generations, ends = life.ledger.generations, life.target_ends()
        killed, resent = ({g.number for g in generations if getattr(g, name)} for name in ("was_killed", "has_resent"))
        lengths = lengths_of(generations, TOPIC)
        windows = whole_windows(life.ledger, [TOPIC], ends)
        found = [surplus_in_place(each, lengths, killed, resent) for each in windows]
        assert 0 == sum(each.unexplained for each in found), seed
        assert sum(each.replayed for each in found) <= life.again, seed


@pytest.mark.parametrize(
    ("lengths", "killed", "expected"),
    [
        ({3: {0: 4, 1: -4}}, (), Surplus(0, 0)),
        ({3: {0: 4, 1: -3}}, (), Surplus(0, 1)),
        ({2: {0: 4, 1: -3}, 3: {0: -2, 1: 2}}, {2}, Surplus(1, 0)),
        ({2: {0: -3}, 3: {0: 2}}, (), Surplus(0, 2)),
    ],
)
def test_ranges_of_a_topic_are_added_up_by_key(lengths: Lengths, killed: set[int], expected: Surplus) -> None:
    """A record may be in any partition of the target, so only the sums of a generation mean anything."""
    windows = [replace(window(10, 14), partition=0), replace(window(10, 6), partition=1)]

    assert expected == surplus_by_key(windows, lengths, killed)


def test_comparison_by_key_says_so_too() -> None:
    """An equal topic with a longer range is not verifiable."""
    parts = [replace(explained(window(6, 7)), equal=True, differences=None)]
    topic = TopicResult(3, "orders", "orders", True, 0, 6, 6, "", "")
    verdict, finding = judge_topic_by_key(topic, parts, events=GenerationEvents((), (), {3: {0: 1}}))

    assert Verdict.NOT_VERIFIABLE is verdict
    assert "6 source records, 6 target records; the target's range is 1 offsets longer" in str(finding)


def test_lengths_are_those_of_the_certificates() -> None:
    """A partition that a start does not know begins at 0, and a running generation has no lengths."""

    start = GenerationStart(1, "r", "t", {P0: 5}, {P0: 7})
    stop = StopCertificate(1, "r", "t", True, 0, "", {P0: 9, P1: 2}, {P0: 13, P1: 1})

    found = lengths_of([Generation(start, stop), Generation(replace(start, generation=2))], "orders")

    assert {1: {0: 2, 1: -1}} == found


@pytest.mark.parametrize("histories", [150, pytest.param(4_000, marks=pytest.mark.campaign)])
def test_no_copy_alarms_and_every_foreign_record_does(histories: int) -> None:
    """Over random kills, positions and holes nothing is unexplained; one record more in a range without holes is."""
    foreign = 0
    for seed in range(histories):
        life = finished(random_life(seed))
        generations = life.ledger.generations
        killed = {g.number for g in generations if g.was_killed}
        lengths = lengths_of(generations, TOPIC)
        (whole,) = whole_windows(life.ledger, [TOPIC], {PLACE: len(life.target)})
        assert 0 == surplus_in_place(whole, lengths, killed).unexplained, seed
        assert surplus_in_place(whole, lengths, killed).replayed <= len(life.sent) - len(set(life.sent)), seed
        graceful = [g for g, mine in lengths.items() if g not in killed and mine[0] == 0]
        if graceful:
            foreign += 1
            more = {**lengths, random.Random(seed).choice(graceful): {0: 1}}
            assert 1 <= surplus_in_place(whole, more, killed).unexplained, seed
    assert foreign > histories // 4
