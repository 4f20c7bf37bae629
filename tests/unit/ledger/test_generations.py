"""Rules of generations, windows and the ledger."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import pytest

from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.ledger.cutovers import CutOver
from kafka_migration.core.ledger.generations import (
    NO_GENERATIONS,
    Comparison,
    GenerationStart,
    Judgement,
    ReadOffsets,
    Remembered,
    StopCertificate,
    Window,
    generations_text,
    parse_generations,
)
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import Mode, Phase
from kafka_migration.core.validation.compared_windows import delta_windows, whole_windows
from kafka_migration.core.validation.validation_contract import POSITION_DIGEST
from tests.folded import fold
from tests.topic_verdicts import topic_verdict
from tests.unit.partitions import AUDIT, P0, P1


def started(number: int, source: dict[TopicPartition, int], target: dict[TopicPartition, int]) -> dict[str, Any]:
    return GenerationStart(number, f"dag/run{number}#1", "t", source, target).to_document()


def stopped(
    number: int, source: dict[TopicPartition, int], target: dict[TopicPartition, int], graceful: bool = True
) -> dict[str, Any]:
    kept = Remembered(stored_positions=source)
    stop = StopCertificate(number, f"dag/run{number}#1", "t", graceful, 143, "stopped", source, target, kept)
    return stop.to_document()


def judged(
    number: int, verdict: Verdict, whole: bool = False, run: str = "", topics: tuple[str, ...] = ("orders",)
) -> dict[str, Any]:
    """Return the entry of a judgement that read what the generation copied, or all up to it."""
    read = {topic: _read_offsets(topic, number, whole) for topic in topics}
    return Judgement(
        run or f"dag/run{number}{whole}#1",
        "t",
        whole,
        (number,),
        dict.fromkeys(topics, verdict),
        dict.fromkeys(topics, 5),
        POSITION_DIGEST,
        {topic: (Comparison(verdict, (offsets,), 5, 5, "0a", "0a"),) for topic, offsets in read.items()},
    ).to_document()


def _read_offsets(topic: str, number: int, whole: bool) -> ReadOffsets:
    """Return what a judgement of the generations below reads."""
    if topic == "audit":
        return ReadOffsets(0, number, 0, 7, 0, 7)
    start, end = ((0, 0), (10, 9)) if number == 1 else ((0, 0) if whole else (10, 9), (30, 27))
    return ReadOffsets(0, number, start[0], end[0], start[1], end[1])


ME = "dag/me#1"
BOTH = [started(1, {P0: 0, AUDIT: 0}, {P0: 0, AUDIT: 0}), stopped(1, {P0: 10, AUDIT: 7}, {P0: 9, AUDIT: 7})]
ONE = [started(1, {P0: 0}, {P0: 0}), stopped(1, {P0: 10}, {P0: 9})]
TWO = [started(2, {P0: 10}, {P0: 9}), stopped(2, {P0: 30}, {P0: 27})]


@pytest.mark.parametrize(("text", "expected"), [("3", [3]), ("3-5", [3, 4, 5]), ("4-4", [4]), ("10-11", [10, 11])])
def test_generations_of_a_text(text: str, expected: list[int]) -> None:
    """One generation, or a range with both its ends."""
    assert expected == list(parse_generations(text))
    assert expected == list(parse_generations(generations_text(parse_generations(text))))


@pytest.mark.parametrize("text", ["", "0", "-3", "3-", "5-3", "3,5", " 3", "three", "03", "³", "3-5-7", "1" * 30])
def test_text_that_names_no_generations_is_refused(text: str) -> None:
    """What can be misread is not read at all."""
    with pytest.raises(ValueError, match=re.escape(text) or "^$"):
        parse_generations(text)
    assert "" == generations_text(NO_GENERATIONS)


def test_new_migration_has_an_empty_ledger() -> None:
    """Without entries the phase is new and nothing is open or pending."""
    ledger = fold([])

    assert (Phase.NEW, None, None) == (ledger.phase, ledger.open_generation, ledger.last_stop)
    assert () == ledger.pending_for(ME)


def test_generation_is_open_until_its_certificate() -> None:
    """A started generation is open; its stop certificate closes it."""
    assert fold(ONE[:1]).open_generation is not None
    assert fold(ONE).open_generation is None


MINE = [*ONE, judged(1, Verdict.FAIL, run=ME)]


@pytest.mark.parametrize(
    ("entries", "run", "expected"),
    [
        pytest.param(ONE[:1], ME, [], id="still open"),
        pytest.param(ONE, ME, [1], id="stopped"),
        pytest.param([*ONE, judged(1, Verdict.PASS), *TWO], ME, [2], id="judged by another run"),
        pytest.param(MINE, "dag/me#2", [1], id="judged by the run before it was cleared"),
        pytest.param(MINE, "dag/other#1", [], id="judged by a run that was cleared"),
    ],
)
def test_run_validates_what_no_other_run_has_judged(entries: list[Any], run: str, expected: list[int]) -> None:
    """Regression: after a clear the run's own windows counted as judged, so nothing was measured again."""
    assert expected == [g.number for g in fold(entries).pending_for(run)]


def test_cleared_run_replaces_its_own_verdict() -> None:
    """The judgement of a later attempt of the same run counts."""
    assert topic_verdict(fold([*MINE, judged(1, Verdict.PASS, run="dag/me#2")]), "orders") is Verdict.PASS


def test_backfill_asked_again_measures_only_what_was_not_good() -> None:
    """In mode interval a cleared run leaves its good judgements alone, and still has its own of this attempt."""
    good = fold([*ONE, judged(1, Verdict.PASS, run=ME)])
    bad = fold([*ONE, judged(1, Verdict.FAIL, run=ME)])

    assert [[], [1]] == [[g.number for g in ledger.to_measure(Mode.INTERVAL, "dag/me#2")] for ledger in (good, bad)]
    assert [1] == [g.number for g in good.to_measure(Mode.INTERVAL, ME)]
    assert [1] == [g.number for g in good.to_measure(Mode.SYNC, "dag/me#2")]
    assert () == good.to_measure(Mode.INTERVAL, "dag/other#1")


def test_whole_reading_measures_every_stopped_generation() -> None:
    """Mode validate reads what was judged before as well; a generation without a certificate has no window."""
    ledger = fold([*ONE, judged(1, Verdict.PASS), *TWO[:1]])

    assert [1] == [g.number for g in ledger.to_measure(Mode.VALIDATE, ME)]


def test_run_that_judges_other_generations_keeps_its_earlier_judgement() -> None:
    """Regression: a backfill asked again judged a new generation, and the one it had judged was pending again."""
    ledger = fold([*ONE, judged(1, Verdict.PASS, run=ME), *TWO, judged(2, Verdict.PASS, run="dag/me#2")])

    assert () == ledger.pending_generations
    assert [(1,), (2,)] == [j.generations for j in ledger.judgements]


def test_topics_that_a_judgement_does_not_name_stay_pending() -> None:
    """Of a generation that was judged in part the rest is measured, and nothing but the rest."""
    ledger = fold([*BOTH, judged(1, Verdict.PASS, topics=("orders",))])
    (pending,) = ledger.pending_generations

    assert (frozenset({"audit"}), [(0, 7, 0, 7)]) == (pending.topics, offsets(delta_windows([pending])))
    assert () == fold([*BOTH, judged(1, Verdict.PASS, topics=("orders", "audit"))]).pending_generations


def test_judgement_of_fewer_topics_does_not_replace_the_earlier_one() -> None:
    """A cleared run that judges fewer topics than before keeps its judgement of the others."""
    whole = judged(1, Verdict.PASS, run="dag/me#1", topics=("orders", "audit"))
    ledger = fold([*BOTH, whole, judged(1, Verdict.PASS, run="dag/me#2", topics=("orders",))])

    assert () == ledger.pending_generations
    assert Verdict.PASS is topic_verdict(ledger, "audit")


def test_cutover_is_never_taken_back() -> None:
    """A generation that is started after the cutover leaves the phase as it is."""
    cut_over = CutOver("dag/run#1", "t", ("billing",), ("orders",), partly=False).to_document()

    assert Phase.CUT_OVER is fold([*ONE, cut_over, *TWO]).phase
    assert Phase.SYNCING is fold(ONE).phase


def offsets(windows: Iterable[Window]) -> list[tuple[int, int, int, int]]:
    """Return source start, source end, target start and target end of each window."""
    return [(w.source_start, w.source_end, w.target_start, w.target_end) for w in windows]


KILLED = [ONE[0], stopped(1, {P0: 10}, {P0: 12}, graceful=False)]
AFTER_THE_KILL = [started(2, {P0: 10}, {P0: 12}), stopped(2, {P0: 30}, {P0: 32})]
KILLED_LATER = [started(2, {P0: 10}, {P0: 9}), stopped(2, {P0: 20}, {P0: 22}, graceful=False)]
WITH_ANOTHER_PARTITION = [ONE[0], stopped(1, {P0: 10, P1: 4}, {P0: 9, P1: 4})]


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        pytest.param([*ONE, judged(1, Verdict.PASS), *TWO], [(10, 30, 9, 27)], id="from start to stop"),
        pytest.param([*ONE, *TWO], [(0, 30, 0, 27)], id="graceful generations in a row are one window"),
        pytest.param([*KILLED, *AFTER_THE_KILL], [(0, 30, 0, 32)], id="a killed one and the next are one window"),
        pytest.param([*ONE, *KILLED_LATER], [(0, 10, 0, 9), (10, 20, 9, 22)], id="a killed one begins a window"),
        pytest.param(WITH_ANOTHER_PARTITION, [(0, 10, 0, 9), (0, 4, 0, 4)], id="an added partition begins at 0"),
    ],
)
def test_windows_of_generations(entries: list[Any], expected: list[tuple[int, int, int, int]]) -> None:
    """The positions at the start and at the stop bound a window; what a killed generation sent may be sent again."""
    assert expected == offsets(delta_windows(fold(entries).pending_for(ME)))


def test_whole_window_reaches_the_present_end_of_the_target() -> None:
    """Re-reading the whole copy must also see records that should not be there, and miss what is gone."""
    ledger = fold([*ONE, *TWO])

    assert [(0, 30, 0, 28)] == offsets(whole_windows(ledger, ["orders"], {P0: 28}))
    assert [] == list(whole_windows(ledger, ["other"], {}))


def test_topic_verdict_is_the_worst_since_the_last_whole_reading() -> None:
    """Deltas add up to the worst of them; a whole reading replaces what was before."""
    deltas = [*ONE, judged(1, Verdict.FAIL), *TWO, judged(2, Verdict.PASS)]

    assert topic_verdict(fold(deltas), "orders") is Verdict.FAIL
    assert topic_verdict(fold([*deltas, judged(2, Verdict.PASS, whole=True)]), "orders") is Verdict.PASS
    assert topic_verdict(Ledger(), "orders") is None


def test_newest_judgement_decides_on_a_generation() -> None:
    """The newest reading of a generation decides, unless it could not read everything."""
    again = [*ONE, judged(1, Verdict.FAIL, run="dag/a#1"), *TWO, judged(2, Verdict.FAIL, run="dag/b#1")]
    ledger = fold([*again, judged(1, Verdict.PASS, run="dag/c#1"), judged(1, Verdict.NOT_VERIFIABLE, run="dag/d#1")])
    unseen = fold([*ONE, judged(1, Verdict.NOT_VERIFIABLE, run="dag/e#1")])

    deciding = [ledger.judgement_on("orders", 1), ledger.judgement_on("orders", 2), unseen.judgement_on("orders", 1)]
    assert ["dag/c#1", "dag/b#1", "dag/e#1"] == [judgement and judgement.run for judgement in deciding]
    assert ledger.judgement_on("orders", 3) is None


def test_generation_by_topic_is_the_generation_limited_to_each() -> None:
    """Each topic has its partitions of start and stop, also one that the start did not know; an open one has none."""
    entries = [started(1, {P0: 1, P1: 2}, {P0: 3, P1: 4}), stopped(1, {P0: 5, P1: 6, AUDIT: 7}, {P0: 8, AUDIT: 9})]
    (copied,), (running,) = fold(entries).generations, fold(entries[:1]).generations

    assert {topic: copied.limited_to([topic]) for topic in (P0.topic, AUDIT.topic)} == copied.by_topic()
    assert {} == running.by_topic()


def test_last_stop_knows_every_partition() -> None:
    """A partition keeps its newest certificate when a later generation does not name it."""
    ledger = fold([*ONE, started(2, {AUDIT: 0}, {AUDIT: 0}), stopped(2, {AUDIT: 7}, {AUDIT: 7})])

    assert ledger.last_stop is not None
    assert {P0: 10, AUDIT: 7} == ledger.last_stop.mirror_positions
