"""Rules of verdicts on comparisons by key."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.ledger.generations import Window
from kafka_migration.core.migration.settings import Tolerance
from kafka_migration.core.validation.difference_kinds import DifferenceKind
from kafka_migration.core.validation.differences import Difference, Differences
from kafka_migration.core.validation.judging import TopicVerdict, judge_topics
from kafka_migration.core.validation.judging_by_key import GenerationEvents
from kafka_migration.core.validation.validation_contract import (
    KEY_DIGEST,
    PartitionResult,
    SideCount,
    TopicResult,
    ValidationResult,
)

WINDOWS = [
    PartitionResult(
        Window(4, "orders", "new.orders", partition, 0, 10, 5, 15),
        SideCount(10, 800, 0, 9),
        SideCount(10, 800, 5, 14),
        equal=True,
        blocks=0,
        differing_blocks=0,
    )
    for partition in (0, 1)
]
UNREAD = replace(WINDOWS[1], equal=False, source_unreadable="the log starts at offset 5")
EQUAL = TopicResult(4, "orders", "new.orders", True, 0, 20, 20, "0a", "0a")
KINDS = DifferenceKind
MANY = Tolerance(duplicates=1_000)


def differing(*kinds: DifferenceKind) -> TopicResult:
    """Return the result of a topic with one difference of each kind."""
    first = Difference(kinds[0], ("value",), 1, 7, 0, 12)
    return replace(EQUAL, equal=False, differing_buckets=1, differences=Differences(dict.fromkeys(kinds, 1), (first,)))


def judge(
    topic: TopicResult,
    *windows: PartitionResult,
    killed: tuple[int, ...] = (),
    grown: tuple[int, ...] = (),
    tolerance: Tolerance = MANY,
) -> TopicVerdict:
    """Judge one topic and return its verdict."""
    result = ValidationResult("4.0.0", "t", "t", windows or tuple(WINDOWS), (topic,), KEY_DIGEST)
    (verdict,) = judge_topics(result, events={"orders": GenerationEvents(killed, grown)}, tolerance=tolerance)
    return verdict


def test_equal_buckets_pass() -> None:
    """Nothing differs and everything was read."""
    found = judge(EQUAL)

    assert (Verdict.PASS, (), (), 20) == (found.verdict, found.findings, found.warnings, found.source_records)


def test_what_cannot_be_read_is_not_verifiable() -> None:
    """One partition that cannot be read leaves every key of the topic open."""
    found = judge(replace(EQUAL, equal=False), WINDOWS[0], UNREAD)

    assert Verdict.NOT_VERIFIABLE is found.verdict
    assert "partition 1, source: the log starts at offset 5" in str(found.findings[0])


def test_record_that_spark_cannot_read_has_its_own_code() -> None:
    """The topic is not verifiable; the finding names partition and offset, and says that others were compared."""
    bad = replace(UNREAD, source_unreadable="the record at offset 5 cannot be read: strange", has_bad_record=True)
    found = judge(replace(EQUAL, equal=False), WINDOWS[0], bad)
    (finding,) = found.findings

    assert (Verdict.NOT_VERIFIABLE, Code.RECORD_UNREADABLE) == (found.verdict, finding.code)
    assert "partition 1, source: the record at offset 5 cannot be read: strange" == finding.found
    assert "The topic was not compared and is not proved; the other topics were compared." == finding.matters


@pytest.mark.parametrize(
    ("kinds", "killed", "verdict", "code"),
    [
        ((KINDS.MISSING,), (4,), Verdict.FAIL, Code.COPY_DIFFERS),
        ((KINDS.MISSING, KINDS.DUPLICATE), (3,), Verdict.FAIL, Code.COPY_DIFFERS),
        ((KINDS.DUPLICATE,), (), Verdict.FAIL, Code.COPY_DIFFERS),
        ((KINDS.DUPLICATE,), (3,), Verdict.WARN, Code.RECORDS_REPLAYED),
        # They may be the first copy of later records that look the same.
        ((KINDS.DUPLICATE,), (3, 4), Verdict.NOT_VERIFIABLE, Code.RECORDS_NOT_VERIFIABLE),
        ((KINDS.DUPLICATE, KINDS.INTERLEAVED), (3,), Verdict.WARN, Code.RECORDS_REPLAYED),
        # Nothing followed that could have sent them again.
        ((KINDS.DUPLICATE,), (4,), Verdict.NOT_VERIFIABLE, Code.RECORDS_NOT_VERIFIABLE),
        # A key that ends with an old record lost what a replay would have sent after it.
        ((KINDS.STALE,), (3,), Verdict.FAIL, Code.COPY_DIFFERS),
        ((KINDS.STALE,), (4,), Verdict.NOT_VERIFIABLE, Code.RECORDS_NOT_VERIFIABLE),
        ((KINDS.EXTRA,), (3,), Verdict.FAIL, Code.COPY_DIFFERS),
        ((KINDS.EXTRA,), (4,), Verdict.NOT_VERIFIABLE, Code.RECORDS_NOT_VERIFIABLE),
        ((KINDS.EXTRA, KINDS.DUPLICATE), (4,), Verdict.NOT_VERIFIABLE, Code.RECORDS_NOT_VERIFIABLE),
        ((KINDS.REORDERED,), (4,), Verdict.FAIL, Code.COPY_DIFFERS),
        ((KINDS.MOVED,), (), Verdict.FAIL, Code.COPY_DIFFERS),
        ((KINDS.UNCLASSIFIED,), (3, 4), Verdict.FAIL, Code.COPY_DIFFERS),
        ((KINDS.INTERLEAVED,), (), Verdict.PASS, Code.KEYS_IN_SEVERAL_PARTITIONS),
    ],
)
def test_differences_are_judged_by_their_kinds_and_how_mirrormaker_ended(
    kinds: tuple[DifferenceKind, ...], killed: tuple[int, ...], verdict: Verdict, code: Code
) -> None:
    """Only what an ungraceful end explains is less than FAIL; keys in several source partitions are no damage."""
    found = judge(differing(*kinds), killed=killed)

    assert (verdict, [code]) == (found.verdict, [f.code for f in (*found.findings, *found.warnings)])


@pytest.mark.parametrize(
    ("counts", "tolerance", "verdict", "code"),
    [
        ({KINDS.COMPACTED: 9}, Tolerance(), Verdict.PASS, Code.RECORDS_COMPACTED),
        ({KINDS.COMPACTED: 9, KINDS.INTERLEAVED: 1}, Tolerance(), Verdict.PASS, Code.RECORDS_COMPACTED),
        ({KINDS.COMPACTED: 9, KINDS.MISSING: 1}, MANY, Verdict.FAIL, Code.COPY_DIFFERS),
        ({KINDS.ABORTED: 3}, Tolerance(), Verdict.FAIL, Code.COPY_DIFFERS),
        ({KINDS.ABORTED: 3}, Tolerance(aborted=3), Verdict.WARN, Code.ABORTED_RECORDS_COPIED),
        ({KINDS.ABORTED: 4}, Tolerance(aborted=3), Verdict.FAIL, Code.COPY_DIFFERS),
        ({KINDS.DUPLICATE: 5}, Tolerance(duplicates=5), Verdict.WARN, Code.RECORDS_REPLAYED),
        ({KINDS.DUPLICATE: 6}, Tolerance(duplicates=5), Verdict.FAIL, Code.COPY_DIFFERS),
        ({KINDS.DUPLICATE: 1, KINDS.ABORTED: 1}, Tolerance(1, 1), Verdict.WARN, Code.RECORDS_REPLAYED),
    ],
)
def test_what_is_explained_is_good_up_to_a_bound(
    counts: dict[DifferenceKind, int], tolerance: Tolerance, verdict: Verdict, code: Code
) -> None:
    """Compaction is no damage; replays and aborted records are a warning as long as the file allows so many."""
    damaged = replace(EQUAL, equal=False, differences=Differences(counts, ()))
    found = judge(damaged, killed=(3,), tolerance=tolerance)

    assert (verdict, [code]) == (found.verdict, [f.code for f in (*found.findings, *found.warnings)])


@pytest.mark.parametrize(
    ("kinds", "grown", "verdict"),
    [
        ((KINDS.MOVED,), (4,), Verdict.NOT_VERIFIABLE),
        ((KINDS.MOVED, KINDS.REORDERED), (4,), Verdict.NOT_VERIFIABLE),
        ((KINDS.MOVED,), (), Verdict.FAIL),
        ((KINDS.MOVED, KINDS.ALTERED), (4,), Verdict.FAIL),
    ],
)
def test_order_is_not_verifiable_while_the_target_got_partitions(
    kinds: tuple[DifferenceKind, ...], grown: tuple[int, ...], verdict: Verdict
) -> None:
    """A new partition moves keys: their records can be compared, their order cannot."""
    assert verdict is judge(differing(*kinds), grown=grown).verdict


@pytest.mark.parametrize(
    ("kinds", "verdict"),
    [
        ((KINDS.EXPIRED,), Verdict.NOT_VERIFIABLE),
        ((KINDS.EXPIRED, KINDS.COMPACTED), Verdict.NOT_VERIFIABLE),
        ((KINDS.EXPIRED, KINDS.ALTERED), Verdict.FAIL),
        ((KINDS.MISSING,), Verdict.FAIL),
    ],
)
def test_damage_is_found_next_to_deleted_records(kinds: tuple[DifferenceKind, ...], verdict: Verdict) -> None:
    """Only the records that retention deleted are not verifiable; the rest is compared."""
    assert verdict is judge(differing(*kinds), WINDOWS[0], UNREAD).verdict


def test_killed_generations_count_for_the_comparison_that_they_belong_to() -> None:
    """Of two comparisons of a topic, the second one covers the generations after those of the first."""
    later = replace(differing(KINDS.DUPLICATE), generation=6)
    windows = [replace(w, window=replace(w.window, generation=g)) for w in WINDOWS for g in (4, 6)]
    result = ValidationResult("4.0.0", "t", "t", tuple(windows), (later, EQUAL), KEY_DIGEST)

    for topic, killed, expected in (
        ("orders", 3, Verdict.FAIL),
        ("orders", 5, Verdict.WARN),
        ("audit", 5, Verdict.FAIL),
    ):
        (found,) = judge_topics(result, events={topic: GenerationEvents({killed})}, tolerance=MANY)
        assert expected is found.verdict


def test_digests_that_differed_once_are_no_pass() -> None:
    """Buckets that differ without a difference in any key mean that the logs changed while they were read."""
    found = judge(replace(EQUAL, equal=False, differing_buckets=3))

    assert Verdict.FAIL is found.verdict
    assert "the records were equal when read again" in str(found.findings[0])


def test_finding_counts_and_locates() -> None:
    """The finding says how many of each kind, where the first is, and how to look at it on both sides."""
    (finding,) = judge(differing(KINDS.ALTERED, KINDS.MISSING)).findings

    assert "topic orders (target topic new.orders), generation 4" == finding.subject
    assert "1 altered, 1 missing; the first: altered in value at source partition 1 offset 7 and" in finding.found
    assert "-t new.orders -p 0 -o 12 -c 1`" in finding.remedy
