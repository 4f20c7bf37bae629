"""Rules of what a ledger proves, offset by offset."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.kafka.offsets import joined, without
from kafka_migration.core.ledger.generations import Comparison, Judgement, ReadOffsets
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.validation.coverage import FlawKind, TopicCoverage
from kafka_migration.core.validation.coverage_rules import coverage_of
from kafka_migration.core.validation.validation_contract import KEY_DIGEST, POSITION_DIGEST
from tests.folded import fold
from tests.unit.ledger.test_generations import BOTH, ONE, TWO, judged, started, stopped
from tests.unit.partitions import P0, P1
from tests.unit.validation.coverage_model import Life, SingleOffsets, flaws_of, lives, proved_by

SPANS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=6)


def offsets(spans: Any) -> set[int]:
    return {offset for span in spans for offset in range(*span)}


@given(SPANS, SPANS)
def test_spans_are_their_offsets(spans: list[tuple[int, int]], others: list[tuple[int, int]]) -> None:
    """Joined and cut spans hold just the right offsets, ascending, apart from each other."""
    for found, expected in (
        (joined(spans), offsets(spans)),
        (without(spans, others), offsets(spans) - offsets(others)),
    ):
        assert expected == offsets(found)
        assert found == sorted(found)
        assert all(start < end for start, end in found)
    assert all(one[1] < other[0] for one, other in zip(joined(spans), joined(spans)[1:], strict=False))


@given(lives)
def test_coverage_is_that_of_single_offsets(rounds: list[Any]) -> None:
    """For any order of copies, losses, replays and judgements, each offset has the right state."""
    life = Life(rounds)
    expected = SingleOffsets(life)
    covered = coverage_of(life.ledger).get("orders", TopicCoverage("orders"))

    assert expected.proved == proved_by(covered)
    assert expected.flaws() == flaws_of(covered)
    assert expected.verdict() == covered.verdict
    assert [g.number for g in life.ledger.pending_generations] == list(covered.pending)
    assert len({o for o in expected.proved if o[0] == "source"}) == covered.source_offsets


def covered(*entries: dict[str, Any], topic: str = "orders") -> TopicCoverage:
    return coverage_of(fold(entries))[topic]


def read(
    generations: tuple[int, ...],
    *comparisons: Comparison,
    whole: bool = False,
    run: str = "",
    digest: str = POSITION_DIGEST,
) -> dict[str, Any]:
    """Return the entry of a judgement with its comparisons."""
    verdicts = {"orders": max((c.verdict for c in comparisons), key=lambda v: v.severity)}
    name = run or f"dag/{'whole' if whole else 'run'}{generations}{verdicts}#1"
    return Judgement(name, "t", whole, generations, verdicts, {}, digest, {"orders": comparisons}).to_document()


def box(
    source: tuple[int, int], target: tuple[int, int], verdict: Verdict = Verdict.PASS, generation: int = 1, **more: Any
) -> Comparison:
    """Return a comparison of one window of partition 0; by default each target offset is a record."""
    records = target[1] - target[0]
    window = ReadOffsets(0, generation, *source, *target)
    return replace(Comparison(verdict, (window,), records, records, "0a", "0a"), **more)


def places(coverage: TopicCoverage) -> list[tuple[int, str, int, int]]:
    """Return partition, side, start and end of each flaw."""
    return [(flaw.partition, flaw.side, flaw.start, flaw.end) for flaw in coverage.flaws]


FIRST, SECOND, MERGED = ((0, 10), (0, 9)), ((10, 30), (9, 27)), ((0, 30), (0, 27))


def test_windows_of_two_nights_add_up() -> None:
    """Each night proves its own windows; together they are the whole topic."""
    whole = covered(*ONE, read((1,), box(*FIRST)), *TWO, read((2,), box(*SECOND, generation=2)))

    assert (True, Verdict.PASS, "PASS") == (whole.is_proved, whole.verdict, whole.standing)
    assert (30, 27, ()) == (whole.source_offsets, whole.target_records, whole.flaws)
    assert [(0, 30)] == whole.partitions[0].proved("source")
    assert [(0, 27)] == whole.partitions[0].proved("target")
    assert ["dag/run(1,)", "dag/run(2,)"] == [s.judgement.run.partition("{")[0] for s in whole.partitions[0].source]


def test_generation_that_is_not_judged_is_pending() -> None:
    """A generation without a judgement is never counted as proved, nor as wrong."""
    half = covered(*ONE, read((1,), box(*FIRST)), *TWO)
    running = covered(*ONE, read((1,), box(*FIRST)), TWO[0])

    assert ("pending", (2,), Verdict.PASS, 10) == (half.standing, half.pending, half.verdict, half.source_offsets)
    assert ("pending", (2,)) == (running.standing, running.pending)
    assert ("pending", None, 0) == ((new := covered(*ONE)).standing, new.verdict, new.source_offsets)


def test_verdict_that_is_bad_is_not_called_pending() -> None:
    """A bad verdict is shown at once, also while other generations are pending."""
    assert "FAIL" == covered(*ONE, read((1,), box(*FIRST, Verdict.FAIL)), *TWO).standing


def read_nothing(generation: int, verdict: Verdict) -> dict[str, Any]:
    """Return the entry of a judgement without a comparison."""
    verdicts = {"orders": verdict}
    return Judgement("dag/a#1", "t", False, (generation,), verdicts, {}, POSITION_DIGEST, {"orders": ()}).to_document()


@pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.FAIL])
def test_judgement_without_a_comparison_counts(verdict: Verdict) -> None:
    """A topic without records has the verdict of its judgement, although no offset has it."""
    empty = covered(started(1, {P0: 0}, {P0: 0}), stopped(1, {P0: 0}, {P0: 0}), read_nothing(1, verdict))

    assert (verdict, verdict.is_good) == (empty.verdict, empty.is_proved)
    assert (0, 0) == (empty.source_offsets, empty.target_records)


def test_bad_comparison_without_offsets_counts() -> None:
    """So does a bad comparison whose ranges have no offsets, next to a good one that read some."""
    of_p1 = Comparison(Verdict.FAIL, (ReadOffsets(1, 1, 5, 5, 7, 7),), 0, 0)
    for whole in (False, True):
        assert Verdict.FAIL is covered(*ONE, read((1,), box(*FIRST), of_p1, whole=whole)).verdict


def test_target_that_shrank_while_it_was_copied_is_not_proved() -> None:
    """A truncated or recreated log no longer holds what earlier runs proved, also if nothing new was copied."""
    again = [started(2, {P0: 10}, {P0: 9}), stopped(2, {P0: 10}, {P0: 0})]
    idle = [started(3, {P0: 10}, {P0: 0}), stopped(3, {P0: 10}, {P0: 0})]
    backwards = box((10, 10), (9, 0), Verdict.NOT_VERIFIABLE, generation=2)
    entries = (*ONE, read((1,), box(*FIRST)), *again, read((2,), backwards), *idle, read_nothing(3, Verdict.PASS))

    assert not covered(*entries).is_proved
    assert [(FlawKind.WRITTEN_BY_OTHERS, 0, 9)] == [(f.kind, f.start, f.end) for f in covered(*entries).flaws]
    assert covered(*entries, read((1, 2, 3), box(*FIRST), whole=True)).is_proved


@pytest.mark.parametrize("earlier", [Verdict.NOT_VERIFIABLE, Verdict.FAIL])
def test_good_reading_of_the_same_windows_takes_the_place_of_a_bad_one(earlier: Verdict) -> None:
    """A later reading of the same windows replaces an earlier one."""
    bad = [*ONE, read((1,), box(*FIRST, earlier)), *TWO, read((2,), box(*SECOND, generation=2))]

    assert earlier is covered(*bad).verdict
    assert covered(*bad, read((1,), box(*FIRST))).is_proved


def test_fail_stands_until_all_that_it_read_was_read_again() -> None:
    """A part that is good hides nothing of the rest; both parts together are the whole."""
    failed = [*ONE, *TWO, read((1, 2), box(*MERGED, Verdict.FAIL))]
    half = covered(*failed, read((1,), box(*FIRST)))

    assert (Verdict.FAIL, 10) == (half.verdict, half.source_offsets)
    assert [(0, "source", 10, 30), (0, "target", 9, 27)] == places(half)
    assert {FlawKind.DIFFERS} == {flaw.kind for flaw in half.flaws}
    assert covered(*failed, read((1,), box(*FIRST)), read((2,), box(*SECOND, generation=2))).is_proved


def test_fail_of_a_whole_reading_is_not_hidden_by_its_generations() -> None:
    """Only the whole reading has read the target's records after the copy, so its verdict stays."""
    strange = [*ONE, read((1,), box((0, 10), (0, 12), Verdict.FAIL), whole=True), read((1,), box(*FIRST))]

    assert Verdict.FAIL is covered(*strange).verdict
    assert ["target partition 0, offsets [9, 12)"] == [str(f).partition(":")[0] for f in covered(*strange).flaws]
    assert covered(*strange, read((1,), box((0, 10), (0, 9)), whole=True, run="dag/later#1")).is_proved


def test_newer_fail_takes_the_place_of_a_good_reading() -> None:
    """A copy that was damaged since is not proved by what it was."""
    damaged = covered(*ONE, read((1,), box(*FIRST)), read((1,), box(*FIRST, Verdict.FAIL)))

    assert (Verdict.FAIL, 0) == (damaged.verdict, damaged.source_offsets)


@pytest.mark.parametrize(
    ("unreadable", "verdict"),
    [(("source",), Verdict.PASS), (("target",), Verdict.NOT_VERIFIABLE), ((), Verdict.NOT_VERIFIABLE)],
)
@pytest.mark.parametrize("whole", [True, False])
def test_source_that_has_deleted_its_records_takes_nothing_back(unreadable: Any, verdict: Verdict, whole: bool) -> None:
    """Copied right stays copied right when only the source cannot be read; a target that cannot is another thing."""
    later = read((1,), box(*FIRST, Verdict.NOT_VERIFIABLE, unreadable=unreadable), whole=whole)

    assert verdict is covered(*ONE, read((1,), box(*FIRST)), later).verdict
    assert Verdict.FAIL is covered(*ONE, read((1,), box(*FIRST, Verdict.FAIL)), later).verdict
    assert Verdict.NOT_VERIFIABLE is covered(*ONE, later).verdict


def test_replay_after_a_kill_is_no_overlap() -> None:
    """What the next generation sends again was read in the windows of both, and counts once on the source."""
    stop = stopped(1, {P0: 10}, {P0: 15}, graceful=False)
    killed = [started(1, {P0: 0}, {P0: 0}), {**stop, "ahead_records": {"orders": {"0": 5}}}]
    after = [started(2, {P0: 10}, {P0: 15}), stopped(2, {P0: 30}, {P0: 35})]
    twice = read((1, 2), box((0, 15), (0, 15)), box((10, 30), (15, 35), generation=2))
    whole = covered(*killed, *after, twice)

    assert (True, (), 30, 35) == (whole.is_proved, whole.flaws, whole.source_offsets, whole.target_records)


def test_offsets_that_no_generation_copied_are_found() -> None:
    """Offsets between two windows were passed over, however good the windows are."""
    later = [started(2, {P0: 12}, {P0: 9}), stopped(2, {P0: 30}, {P0: 27})]
    passed = [*ONE, *later, read((1, 2), box(*FIRST), box((12, 30), (9, 27), generation=2))]
    whole = covered(*passed)

    assert (Verdict.NOT_VERIFIABLE, False) == (whole.verdict, whole.is_proved)
    assert ["source partition 0, offsets [10, 12): copied neither by generation 1 nor by 2"] == list(whole.reasons())
    assert covered(*passed, read((1, 2), box(*MERGED), whole=True)).is_proved


def test_offsets_that_were_lost_are_a_gap() -> None:
    """Records that the source deleted before the copy are missing, although the rest is judged as good."""
    lost = {**ONE[1], "gaps": {"orders": {"0": [4, 6]}}}
    whole = covered(ONE[0], lost, read((1,), box(*FIRST)))

    assert (Verdict.FAIL, [FlawKind.GAP]) == (whole.verdict, [flaw.kind for flaw in whole.flaws])
    assert ["source partition 0, offsets [4, 6): deleted by the source before generation 1 copied them"] == list(
        whole.reasons()
    )


def test_offsets_that_two_generations_copied_are_an_overlap() -> None:
    """Source offsets that two generations copied are on the target twice."""
    later = [started(2, {P0: 7}, {P0: 9}), stopped(2, {P0: 30}, {P0: 30})]
    twice = [*ONE, *later, read((1, 2), box(*FIRST), box((7, 30), (9, 30), generation=2))]
    (flaw,) = covered(*twice).flaws

    assert (FlawKind.OVERLAP, "source", 7, 10) == (flaw.kind, flaw.side, flaw.start, flaw.end)
    assert Verdict.FAIL is covered(*twice).verdict
    assert covered(*twice, read((1, 2), box((0, 30), (0, 30)), whole=True)).is_proved


@pytest.mark.parametrize(("began", "span"), [(12, (9, 12)), (5, (5, 9))])
def test_target_that_changed_between_two_windows_is_found(began: int, span: tuple[int, int]) -> None:
    """Offsets that the target gained or lost between a stop and the next start belong to no copy."""
    later = [started(2, {P0: 10}, {P0: began}), stopped(2, {P0: 30}, {P0: began + 18})]
    changed = [*ONE, *later, read((1, 2), box(*FIRST), box((10, 30), (began, began + 18), generation=2))]
    (flaw,) = covered(*changed).flaws

    assert (FlawKind.WRITTEN_BY_OTHERS, "target", span) == (flaw.kind, flaw.side, (flaw.start, flaw.end))
    assert f"ended at 9 when generation 1 stopped, and at {began} when generation 2 started" in str(flaw)
    assert Verdict.NOT_VERIFIABLE is covered(*changed).verdict


def test_part_that_a_judgement_left_out_is_not_judged() -> None:
    """A judgement that names a generation and did not read all of it proves no more than it read."""
    both = [started(1, {P0: 0, P1: 0}, {P0: 0, P1: 0}), stopped(1, {P0: 10, P1: 4}, {P0: 9, P1: 4})]
    whole = covered(*both, read((1,), box((0, 8), (0, 9))))

    assert [(0, "source", 8, 10), (1, "source", 0, 4), (1, "target", 0, 4)] == places(whole)
    assert {FlawKind.NOT_JUDGED} == {flaw.kind for flaw in whole.flaws}


def test_topics_are_covered_apart() -> None:
    """What was judged of one topic proves nothing of another."""
    ledger = fold([*BOTH, judged(1, Verdict.PASS, topics=("orders",))])

    assert ["audit", "orders"] == list(coverage_of(ledger))
    assert ("pending", "PASS") == tuple(topic.standing for topic in coverage_of(ledger).values())
    assert {} == coverage_of(Ledger())


@pytest.mark.parametrize("digest", [KEY_DIGEST, "key-order-fmix64/1"])
def test_comparison_by_key_covers_partitions_that_only_the_target_has(digest: str) -> None:
    """By key, with a digest of any version, every target partition belongs to the copy; an unread one is a flaw."""
    keyed = [started(1, {P0: 0}, {P0: 0, P1: 0}), stopped(1, {P0: 10}, {P0: 4, P1: 6})]
    windows = (ReadOffsets(0, 1, 0, 10, 0, 4), ReadOffsets(1, 1, 0, 0, 0, 6))
    whole = Comparison(Verdict.PASS, windows, 10, 10, "0a", "0a")
    part = replace(whole, windows=windows[:1])

    found = covered(*keyed, read((1,), whole, digest=digest))

    assert (True, 10, 10) == (found.is_proved, found.source_offsets, found.target_records)
    assert [(1, "target", 0, 6)] == places(covered(*keyed, read((1,), part, digest=digest)))


def test_partition_that_the_source_gets_later_begins_anywhere() -> None:
    """By key the target's partition was there before; that the source's begins above zero is no gap."""
    first = [started(1, {P0: 0}, {P0: 0, P1: 0}), stopped(1, {P0: 10}, {P0: 4, P1: 6})]
    then = [started(2, {P0: 10, P1: 7}, {P0: 4, P1: 6}), stopped(2, {P0: 10, P1: 9}, {P0: 5, P1: 7})]
    windows = (ReadOffsets(0, 2, 0, 10, 0, 5), ReadOffsets(1, 2, 7, 9, 0, 7))
    comparison = Comparison(Verdict.PASS, windows, 12, 12, "0a", "0a")

    assert covered(*first, *then, read((1, 2), comparison, digest=KEY_DIGEST)).is_proved


def test_records_are_counted_where_they_can_be() -> None:
    """A part of a comparison is counted where each of its offsets is a record; else the number is not known."""
    night = [*ONE, *TWO, read((1, 2), box(*MERGED)), read((1,), box(*FIRST))]
    holey = [*ONE, *TWO, read((1, 2), box(*MERGED, target_records=20)), read((1,), box(*FIRST, target_records=7))]

    assert 27 == covered(*night).target_records
    assert covered(*holey).target_records is None
    assert 20 == covered(*holey, read((1, 2), box(*MERGED, target_records=20), whole=True)).target_records


def test_records_that_two_comparisons_found_sent_again_count_once() -> None:
    """Regression: a run that was cleared twice read most of a range again, and the records that were sent again there
    counted for both of its attempts."""
    entries = [started(1, {P0: 0}, {P0: 0}), stopped(1, {P0: 4}, {P0: 8}, graceful=False)]
    for attempt, (start, source_records) in enumerate([(0, 4), (1, 3)], start=1):
        read = ReadOffsets(0, 1, start, 4, start, 8)
        found = {P0.topic: (Comparison(Verdict.WARN, (read,), source_records, 8 - start),)}
        verdict = {P0.topic: Verdict.WARN}
        entries.append(
            Judgement(f"d/r{attempt}#1", "t", False, (1,), verdict, {}, POSITION_DIGEST, found).to_document()
        )
    covered = coverage_of(fold(entries))[P0.topic]

    assert (4, 4) == (covered.source_offsets, covered.surplus_records)
