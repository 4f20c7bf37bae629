"""Rules of the validation documents and of judging them."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest

from kafka_digest.position.blocks import Block, check_blocks, compare_blocks, drill_range, window_digest
from kafka_digest.reading.read_windows import (
    LogBounds,
    SideRange,
    WindowPlan,
    in_rounds,
    plan_window,
    readable_range,
)
from kafka_digest.runtime.job_errors import JobError
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.verdict import Verdict, worst
from kafka_migration.core.ledger.generations import Window
from kafka_migration.core.migration.settings import Tolerance
from kafka_migration.core.validation.difference_kinds import DifferenceKind
from kafka_migration.core.validation.differences import Difference, Differences, FirstDifference
from kafka_migration.core.validation.judging import judge_partition, judge_topics
from kafka_migration.core.validation.judging_by_key import GenerationEvents
from kafka_migration.core.validation.validation_contract import (
    DIGESTS,
    PartitionResult,
    SideCount,
    ValidationRequest,
    ValidationResult,
    empty_result,
    unanswered_windows,
)
from tests.present import present

WINDOW = Window(3, "orders", "orders", 0, 0, 10, 5, 15)
COUNT = SideCount(10, 800, 0, 9)
EQUAL = PartitionResult(
    *(WINDOW, COUNT, SideCount(10, 800, 5, 14)),
    equal=True,
    blocks=1,
    differing_blocks=0,
    source_digest="0b",
    target_digest="0b",
)
UNREAD = replace(EQUAL, equal=False, source_unreadable="deleted")
REQUEST = ValidationRequest("demo", "dag/run#1", 65_536, "read_committed", (WINDOW,), untimed_topics=("orders",))
KINDS = DifferenceKind
Judged = tuple[Verdict, Code | None]


def differing(
    kind: DifferenceKind = DifferenceKind.ALTERED,
    source_offset: int | None = 4,
    target_offset: int | None = 9,
    fields: tuple[str, ...] = (),
    **changes: Any,
) -> PartitionResult:
    """Return a window that differs."""
    difference = FirstDifference(kind, source_offset, target_offset, fields, "Something differs.")
    return replace(EQUAL, equal=False, differing_blocks=1, first_difference=difference, **changes)


def result_of(*partitions: PartitionResult) -> ValidationResult:
    """Return a result."""
    return ValidationResult("4.0.0", "2026-01-01T00:00:00+00:00", "2026-01-01T00:01:00+00:00", partitions)


def test_documents_are_the_agreed_ones() -> None:
    """Job and package agree on digest, schema, kinds and names of the documents."""
    request = REQUEST.to_document()
    result = result_of(EQUAL, differing(fields=("value", "headers")), UNREAD)

    assert ("partition-position-xxhash64/2", 2) == (request["digest"], request["schema"])
    assert ("validation-request", "orders") == (request["kind"], request["windows"][0]["target_topic"])
    assert "altered" == result.to_document()["partitions"][1]["first_difference"]["kind"]
    assert (30, 30) == (result.source_records, result.target_records)


def test_limited_request_has_its_own_client_id() -> None:
    """The job of a limited request has a client id that no migration's name can give."""
    assert "kafka-migration-validation-demo" == REQUEST.client_id
    assert "kafka-migration-validation-demo.limited" == replace(REQUEST, max_bytes_per_s=1_000_000).client_id


@pytest.mark.parametrize(
    ("field", "other"), [("schema", 1), ("kind", "other"), ("digest", "partition-position-xxhash64/1")]
)
def test_other_documents_are_refused(field: str, other: object) -> None:
    """A document of another kind, schema or digest is never taken for one of ours."""
    for made in (REQUEST, result_of(EQUAL)):
        with pytest.raises(ValueError, match=f"^{field}: expected one of "):
            type(made).from_document({**made.to_document(), field: other})


def test_the_job_and_the_package_mean_the_same() -> None:
    """Both sides of the contract name the same digest, kinds and schema."""
    from kafka_digest import validate as job
    from kafka_digest.keys import align_tasks, alignment
    from kafka_migration.core.validation import validation_contract as validation

    assert set(job.DIGESTS) == set(DIGESTS)
    assert set(alignment.LABELS) | {"unclassified"} == {str(kind) for kind in DifferenceKind}
    assert set(align_tasks.PLACES) < {field.name for field in fields(Difference)}
    assert validation.SCHEMA == job.SCHEMA
    assert (REQUEST.kind, result_of(EQUAL).kind) == (job.REQUEST_KIND, job.RESULT_KIND)


def test_a_window_left_out_is_seen() -> None:
    """A window without an entry in the result is unanswered."""
    other = replace(WINDOW, partition=1)
    request = replace(REQUEST, windows=(WINDOW, other))

    assert unanswered_windows(request, result_of(EQUAL)) == (other,)


def test_only_empty_windows_are_equal_unread() -> None:
    """A request without offsets is answered without Spark; one with offsets is not."""
    empty = replace(WINDOW, source_end=0, target_end=5)

    (answer,) = empty_result(replace(REQUEST, windows=(empty,)), "now").partitions

    assert judge_partition(answer) == (Verdict.PASS, None)
    with pytest.raises(ValueError, match="not empty"):
        empty_result(REQUEST, "now")


PASSES = (Verdict.PASS, None)
FAILS = (Verdict.FAIL, Code.COPY_DIFFERS)
STAYS_OPEN = (Verdict.NOT_VERIFIABLE, Code.RECORDS_NOT_VERIFIABLE)
REPEATED_TAIL = differing(KINDS.DUPLICATE, None, 15)
JUDGED = {
    "equal": (EQUAL, True, PASSES),
    "equal after a kill": (EQUAL, False, PASSES),
    "altered": (differing(), True, FAILS),
    "altered after a kill": (differing(), False, FAILS),
    "repeated tail": (REPEATED_TAIL, True, FAILS),
    "repeated tail after a kill": (REPEATED_TAIL, False, STAYS_OPEN),
    "extra tail after a kill": (differing(KINDS.EXTRA, None, 15), False, STAYS_OPEN),
    "extra in the middle": (differing(KINDS.EXTRA, 4, 9), False, FAILS),
    "missing at the end": (differing(KINDS.MISSING, 9, None), False, FAILS),
    "source unreadable": (UNREAD, True, STAYS_OPEN),
    "source readable in part": (differing(KINDS.EXTRA, None, 12, source_unreadable="open"), True, STAYS_OPEN),
    "target readable in part": (differing(KINDS.MISSING, 7, None, target_unreadable="open"), True, STAYS_OPEN),
    "altered before the unreadable part": (differing(source_unreadable="open transaction"), True, FAILS),
    "differing without a place": (replace(EQUAL, equal=False, differing_blocks=1), True, FAILS),
}


@pytest.mark.parametrize(("result", "graceful", "expected"), JUDGED.values(), ids=JUDGED)
def test_judging(result: PartitionResult, graceful: bool, expected: Judged) -> None:
    """Every outcome of a comparison has one verdict, and all but PASS one finding."""
    verdict, finding = judge_partition(result, events=GenerationEvents(() if graceful else {3}))

    assert expected == (verdict, finding and finding.code)


@pytest.mark.parametrize(
    ("kinds", "killed", "unreadable", "expected"),
    [
        ((KINDS.COMPACTED,), (), None, (Verdict.WARN, Code.ORDER_NOT_COMPARED)),
        ((KINDS.UNPROVED,), (), None, STAYS_OPEN),
        ((KINDS.UNPROVED, KINDS.COMPACTED), (), None, STAYS_OPEN),
        ((KINDS.UNPROVED, KINDS.MISSING), (), None, FAILS),
        ((KINDS.DUPLICATE,), (2,), None, (Verdict.WARN, Code.RECORDS_REPLAYED)),
        ((KINDS.DUPLICATE,), (3,), None, FAILS),
        ((KINDS.COMPACTED, KINDS.ALTERED), (), None, FAILS),
        ((KINDS.COMPACTED, KINDS.EXTRA), (3,), None, STAYS_OPEN),
        ((KINDS.COMPACTED,), (), "a transaction is open", STAYS_OPEN),
        ((KINDS.EXPIRED,), (), "the log starts at 5", STAYS_OPEN),
        ((KINDS.EXPIRED, KINDS.ALTERED), (), "the log starts at 5", FAILS),
    ],
)
def test_differing_window_is_judged_by_its_explanation(
    kinds: tuple[DifferenceKind, ...], killed: tuple[int, ...], unreadable: str | None, expected: Judged
) -> None:
    """The differences of keys decide: compaction, a replay between two generations, retention, or damage."""
    first = None if unreadable else FirstDifference(KINDS.EXTRA, 4, 9, (), "somewhere.")
    differences = Differences(dict.fromkeys(kinds, 1), ())
    result = replace(EQUAL, equal=False, differences=differences, source_unreadable=unreadable, first_difference=first)

    verdict, finding = judge_partition(result, events=GenerationEvents(killed), tolerance=Tolerance(duplicates=1))

    assert expected == (verdict, finding and finding.code)


@pytest.mark.parametrize(
    ("in_order", "verdict", "code"),
    [
        (True, Verdict.PASS, Code.RECORDS_COMPACTED),
        (None, Verdict.WARN, Code.ORDER_NOT_COMPARED),
        (False, Verdict.FAIL, Code.COPY_DIFFERS),
    ],
)
def test_what_compaction_left_must_be_in_the_same_order(in_order: bool | None, verdict: Verdict, code: Code) -> None:
    """A window in which compaction explains everything passes only if the rest is known to be in order."""
    kind = KINDS.REORDERED if in_order is False else KINDS.MISSING
    result = differing(kind, differences=Differences({KINDS.COMPACTED: 3}, ()), rest_in_order=in_order)

    judged, finding = judge_partition(PartitionResult.from_document(result.to_document()))

    assert (verdict, code) == (judged, finding and finding.code)


def test_order_between_keys_is_not_explained_away() -> None:
    """A record between wrong neighbours is damage, whatever explains the other differences."""
    result = differing(DifferenceKind.REORDERED, differences=Differences({DifferenceKind.DUPLICATE: 1}, ()))

    assert Verdict.FAIL is judge_partition(result, events=GenerationEvents((2,)), tolerance=Tolerance(9))[0]


def test_a_finding_says_where_to_look() -> None:
    """A difference names topic, partition, kind, fields, both offsets, and a command for each side."""
    _, finding = judge_partition(differing(fields=("value",)))
    text = str(finding)

    for part in ("topic orders", "partition 0", "altered in value", "source offset 4", "target offset 9"):
        assert part in text
    assert "`kcat -C -b <source bootstrap servers> -t orders -p 0 -o 4 -c 1`" in text
    assert "`kcat -C -b <target bootstrap servers> -t orders -p 0 -o 9 -c 1`" in text


def test_topics_are_rolled_up() -> None:
    """A topic's verdict is its worst window's; counts and findings are per topic."""
    renamed = replace(EQUAL, window=replace(WINDOW, topic="audit", target_topic="audit-copy"))
    tail = differing(KINDS.EXTRA, None, 15)

    audit, orders = judge_topics(result_of(EQUAL, tail, renamed), events={"orders": GenerationEvents({3})})

    assert (audit.topic, audit.verdict, audit.verdicts) == ("audit", Verdict.PASS, (Verdict.PASS,))
    assert (Verdict.NOT_VERIFIABLE, [Verdict.NOT_VERIFIABLE]) == (
        orders.verdict,
        [verdict for verdict in orders.verdicts if not verdict.is_good],
    )
    assert (orders.source_records, len(orders.findings)) == (20, 1)
    assert orders.findings[0].code is Code.RECORDS_NOT_VERIFIABLE


def test_the_worst_verdict_wins() -> None:
    """A seen difference outweighs what could not be seen; nothing judged has no verdict."""
    assert worst(list(Verdict)) is Verdict.FAIL
    assert worst([Verdict.PASS, Verdict.WARN]) is Verdict.WARN
    assert worst([Verdict.WARN, Verdict.NOT_VERIFIABLE]) is Verdict.NOT_VERIFIABLE
    assert [verdict.is_good for verdict in Verdict] == [True, True, False, False]
    with pytest.raises(ValueError, match="empty"):
        worst([])


ASKED = SideRange("orders", 0, 10, 20)


@pytest.mark.parametrize(
    ("bounds", "on_target", "read", "unreadable"),
    [
        pytest.param(LogBounds(0, 30, 30), False, (10, 20), None, id="all there"),
        pytest.param(LogBounds(10, 20, 20), False, (10, 20), None, id="just there"),
        pytest.param(LogBounds(11, 20, 20), True, (11, 20), "[10, 11) are deleted", id="begin deleted"),
        pytest.param(LogBounds(40, 50, 50), False, (20, 20), "[10, 20) are deleted", id="all deleted"),
        pytest.param(LogBounds(0, 15, 15), False, (10, 15), "the log ends at offset 15", id="source too short"),
        pytest.param(LogBounds(0, 15, 15), True, (10, 15), None, id="target too short: missing records"),
        pytest.param(LogBounds(0, 5, 5), True, (5, 5), None, id="target far too short"),
        pytest.param(LogBounds(0, 30, 15), False, (10, 15), "open since offset 15", id="open transaction"),
        pytest.param(LogBounds(0, 30, 15), True, (10, 15), "open since offset 15", id="open on the target"),
        pytest.param(LogBounds(0, 30, 25), False, (10, 20), None, id="open beyond the window"),
        pytest.param(None, True, (10, 10), "does not exist", id="no such partition"),
    ],
)
def test_what_of_a_window_is_read(
    bounds: LogBounds | None, on_target: bool, read: tuple[int, int], unreadable: str | None
) -> None:
    """A range is never shortened in silence, but for target records that are not there."""
    found = readable_range(ASKED, bounds, end_may_be_missing=on_target)

    assert (found.start, found.end) == read
    assert (found.unreadable is None) if unreadable is None else (unreadable in present(found.unreadable))


def test_an_empty_range_is_always_readable() -> None:
    """Nothing to read can be read, also below the log start or without a topic."""
    empty, turned = (
        readable_range(SideRange("t", 0, 5, end), None, end_may_be_missing=False).unreadable for end in (5, 4)
    )
    assert empty is None
    assert "before its start" in present(turned)


def planned(source: LogBounds | None) -> WindowPlan:
    """Plan the window of a target that still has all of it."""
    bounds = {} if source is None else {("orders", 0): source}
    return plan_window(WINDOW.to_document(), bounds, {("orders", 0): LogBounds(0, 20, 20)})


def test_one_unreadable_side_leaves_both_unread() -> None:
    """If nothing of one side can be read, the other side is not read either."""
    plan = planned(None)

    assert (True, True, None) == (plan.source.is_empty, plan.target.is_empty, plan.target.unreadable)


@pytest.mark.parametrize(
    ("source", "is_expired", "read"),
    [
        pytest.param(LogBounds(5, 10, 10), True, (5, 10), id="begin deleted"),
        pytest.param(LogBounds(10, 10, 10), True, (10, 10), id="all deleted"),
        pytest.param(LogBounds(0, 10, 10), False, (0, 10), id="all there"),
    ],
)
def test_what_was_deleted_from_the_beginning_leaves_a_rest_to_compare(
    source: LogBounds, is_expired: bool, read: tuple[int, int]
) -> None:
    """Retention deletes from the beginning only, so the rest of the window is compared."""
    plan = planned(source)

    assert (is_expired, read) == (plan.is_expired, (plan.source.start, plan.source.end))
    assert not plan.target.is_empty


def test_deleted_beginning_and_open_transaction_leave_nothing_to_compare() -> None:
    """With both, neither the ranks nor the last records of the keys are known."""
    plan = planned(LogBounds(5, 10, 7))

    assert (True, True, False) == (plan.source.is_empty, plan.target.is_empty, plan.is_expired)
    assert all(word in present(plan.source.unreadable) for word in ("open", "deleted"))


def test_windows_of_a_partition_are_read_one_after_the_other() -> None:
    """No round holds a partition twice on either side; other partitions do not wait."""
    bounds = {("orders", partition): LogBounds(0, 100, 100) for partition in range(2)}
    windows = [
        replace(WINDOW, partition=partition, source_start=start, source_end=start + 5)
        for partition, start in ((0, 0), (1, 0), (0, 5), (0, 10))
    ]
    plans = [plan_window(window.to_document(), bounds, bounds) for window in windows]

    assert in_rounds(plans) == [plans[:2], plans[2:3], plans[3:]]


def block(number: int, records: int = 10, low_sum: int = 1) -> Block:
    """Return a block whose offsets are its ranks."""
    return Block(number, records, low_sum, 2, 100, number * 10, number * 10 + records - 1)


@pytest.mark.parametrize(
    "blocks",
    [
        pytest.param([block(0, 20)], id="two tasks in one block"),
        pytest.param([block(0, 9), block(1)], id="hole in the first"),
        pytest.param([block(1)], id="does not begin at 0"),
        pytest.param([block(0), block(2)], id="block left out"),
    ],
)
def test_a_split_partition_is_noticed(blocks: list[Block]) -> None:
    """Trap: blocks that are not those of one read from rank 0 are refused."""
    check_blocks("source orders[0]", [block(0), block(1), block(2, 3)], 10)
    check_blocks("source orders[0]", [], 10)
    with pytest.raises(JobError, match=r"^source orders\[0\] was not read in one piece: block \d at place \d holds"):
        check_blocks("source orders[0]", blocks, 10)


def test_blocks_are_compared_by_number() -> None:
    """The first differing block is the lowest whose content is not the same, one side's lack included."""
    ours = [block(0), block(1), block(2)]

    assert compare_blocks(ours, ours).first_differing is None
    assert compare_blocks(ours, [block(0), block(1, low_sum=7)]).first_differing == 1
    assert compare_blocks(ours, [block(0), block(1, low_sum=7)]).differing_blocks == 2
    assert compare_blocks([], []).blocks == 0
    assert compare_blocks([], ours[:1]).first_differing == 0


def test_digest_of_a_window_is_that_of_all_its_records() -> None:
    """It adds up the hashes of all blocks, wraps at 64 bits, and is zero for no records."""
    hashes = [0xFFFF_FFFF_0000_0001, 0x0000_0001_FFFF_FFFF, 7]
    blocks = [replace(block(n), low_sum=x & 0xFFFF_FFFF, high_sum=x >> 32) for n, x in enumerate(hashes)]
    one = replace(block(0), low_sum=sum(b.low_sum for b in blocks), high_sum=sum(b.high_sum for b in blocks))

    assert window_digest(blocks) == window_digest([one]) == f"{sum(hashes) % 2**64:016x}"
    assert window_digest([]) == "0" * 16


def test_the_drill_reads_around_the_block() -> None:
    """It reads from one block before to one after, and further if blocks are shorter than the look-ahead."""
    blocks = [block(number) for number in range(9)]

    near = present(drill_range(blocks, 4, 10, ahead_records=0))
    far = present(drill_range(blocks, 4, 10, ahead_records=20))

    assert (near.start_rank, near.start_offset, near.end_offset) == (30, 30, 60)
    assert (far.start_rank, far.end_offset) == (30, 80)
    assert present(drill_range(blocks, 9, 10, 0)).start_rank == 80
    assert drill_range([], 0, 10, 0) is None
