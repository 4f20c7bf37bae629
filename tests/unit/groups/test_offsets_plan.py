"""Rules of the translation of committed offsets and of which groups may move."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.groups.clusters_seen import CommittedGroup
from kafka_migration.core.groups.group_rules import Accepted, plan_groups
from kafka_migration.core.groups.offsets_plan import GroupVerdict, Proof
from kafka_migration.core.groups.selection import unsupported_groups, which_groups
from kafka_migration.core.groups.unproved import unproved_copies
from kafka_migration.core.kafka.cluster import GroupKind, GroupListing, GroupState
from kafka_migration.core.kafka.offsets import Offsets
from kafka_migration.core.kafka.records import RecordPrint
from kafka_migration.core.ledger.generations import (
    Comparison,
    GenerationStart,
    Judgement,
    ReadOffsets,
    StopCertificate,
    Window,
)
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.translation.by_partition import Position, counts_needed, translate
from kafka_migration.core.translation.copies import PartitionCopy, copies_of
from kafka_migration.core.validation.validation_contract import POSITION_DIGEST
from kafka_migration.migration_file.models import ALL_USUAL_GROUPS
from tests.folded import fold
from tests.unit.groups.copied_partition import (
    DENSE,
    HOLE,
    HOLEY,
    MEMBER,
    CopiedPartition,
    Log,
    committed,
    moved,
    proposed,
    records,
)
from tests.unit.partitions import P0, P1


def test_offset_becomes_the_copy_of_the_next_unread_record() -> None:
    """On random logs with holes and generations, a group is moved to the copy of its next unread record, proved."""
    chance = random.Random(4)
    for _ in range(300):
        size, first = chance.randint(1, 14), chance.choice([0, 0, 1])
        source: Log = [HOLE if chance.random() < 0.3 else f"r{chance.randint(0, 3)}-{n}" for n in range(size)]
        cuts = (first, *sorted(chance.randint(first, size) for _ in range(chance.randint(0, 3))), size)
        partition = CopiedPartition(source, cuts)
        for offset in range(size + 1):
            unread = [record for record in source[max(first, offset) :] if record is not HOLE]
            expected = moved(offset, len(partition.target) - len(unread), Proof.RECORD if unread else Proof.END)
            plan = partition.plan(offset)
            assert (GroupVerdict.READY, (expected,)) == (plan.verdict, plan.moves), (source, cuts, offset)


def test_nothing_is_counted_where_there_are_no_holes() -> None:
    """Equal spans, the start and the end of a window need no reading."""
    copies = {P0: DENSE.copy, P1: HOLEY.copy}

    assert () == counts_needed(copies, [Position(P0, n) for n in range(11)])
    assert () == counts_needed(copies, [Position(P1, 0), Position(P1, 10)])


def test_counts_are_from_the_nearer_end_and_never_overlap() -> None:
    """Many groups in one window cost one pass over what lies outside the middle."""
    positions = [Position(P0, offset) for offset in (2, 3, 7, 8)]

    assert [(0, 2), (2, 3), (7, 8), (8, 10)] == [(r.start, r.end) for r in counts_needed({P0: HOLEY.copy}, positions)]


def test_end_with_records_that_are_sent_again_is_no_place_to_count_from() -> None:
    """Regression: after a hole, records that a killed MirrorMaker had sent before moved a group too far."""
    copied = Window(1, "orders", "orders", 0, 0, 10, 0, 11)
    copy = PartitionCopy((copied,), 0, 10, doubtful=frozenset({1}))
    place = Position(P0, 8)
    (asked,) = counts_needed({P0: copy}, [place])

    # Nine records, two of them once more: the eighth offset is that of the eighth record.
    (found,) = translate({P0: copy}, [place], {asked: 7}).values()

    assert ((0, 8), 7, False) == ((asked.start, asked.end), found.target_offset, found.is_minimal)


def test_missing_count_is_never_taken_for_zero() -> None:
    """A translation with a part of its counts left out is a fault, not a guess."""
    with pytest.raises(ValueError, match="do not cover"):
        translate({P0: HOLEY.copy}, [Position(P0, 5)], {})


@pytest.mark.parametrize("offset", range(1, 5))
def test_unread_records_that_the_source_deleted_are_not_skipped_without_holes(offset: int) -> None:
    """Below the source's log start the copy still holds the records: the offset stays exact."""
    partition = CopiedPartition(records(8), cuts=(0, 8))
    partition.purge(5)

    assert offset == partition.target_offset(offset)


def test_unread_records_that_the_source_deleted_are_not_skipped_with_holes() -> None:
    """With holes the deleted range may have held fewer records: some may be delivered again, none is skipped."""
    partition = CopiedPartition(["a", "b", HOLE, "c", "d", HOLE, "e"], cuts=(0, 7))
    partition.purge(4)

    (planned,) = partition.plan(2).moves

    assert (1, 2) == (proposed(planned), planned.delivered_again)
    assert partition.target[2] == "c"


def test_source_that_deleted_everything_is_all_read() -> None:
    """A source emptied by retention has no next record; the copy keeps the unread ones."""
    partition = CopiedPartition(records(4), cuts=(0, 4))
    partition.purge(4)

    (planned,) = partition.plan(1).moves

    assert (1, Proof.END) == (proposed(planned), planned.proof)


def test_compaction_since_the_copy_does_no_harm_without_holes() -> None:
    """The next record that the source still has is looked for at its own place on the target."""
    partition = CopiedPartition(records(6), cuts=(0, 6))
    partition.source[2] = partition.source[3] = HOLE

    assert 2 == partition.target_offset(2)


def test_compaction_that_hides_the_rank_is_refused() -> None:
    """If records that must be counted were compacted since the copy, the proof fails and the group is left out."""
    partition = CopiedPartition(["a", HOLE, "b", "c", "d", "e"], cuts=(0, 6))
    partition.source[5] = HOLE

    assert [Code.OFFSET_UNPROVED] == [f.code for f in partition.plan(4).refusals]


@pytest.mark.parametrize("offset", range(4))
def test_difference_of_the_next_record_is_refused(offset: int) -> None:
    """A target whose next record is another one leaves the group out, and names both places."""
    partition = CopiedPartition(records(4), cuts=(0, 4))
    partition.target[:] = ["other"] * 4

    plan = partition.plan(offset)

    assert GroupVerdict.LEFT_OUT is plan.verdict
    assert () == plan.moves
    assert [Code.OFFSET_UNPROVED] == [f.code for f in plan.refusals]
    assert f"source offset {offset}" in plan.refusals[0].found


def test_records_after_the_copy_are_no_part_of_it() -> None:
    """A record that either side received after the stop is neither the next record nor its copy."""
    partition = CopiedPartition(records(3), cuts=(0, 3))
    partition.source += ["new"]
    partition.target += ["foreign"]

    (planned,) = partition.plan(3, final=False).moves

    assert (3, Proof.END) == (proposed(planned), planned.proof)


def test_commit_beyond_the_end_is_refused() -> None:
    """An offset that the source does not have yet belongs to another topic of that name."""
    for final in (True, False):
        (finding,) = DENSE.plan(11, final=final).refusals
        assert (Code.OFFSET_BEYOND_END, "committed offset 11") == (finding.code, finding.found)


def test_group_ahead_of_the_copy_is_provisional_in_a_rehearsal_only() -> None:
    """A rehearsal shows where the group would resume now; a cutover leaves it out."""
    partition = CopiedPartition(records(5), cuts=(0, 3))

    rehearsed, final = partition.plan(5, final=False), partition.plan(5)

    assert [moved(5, 3, Proof.NONE, again=2)] == list(rehearsed.moves)
    assert [GroupVerdict.PROVISIONAL, GroupVerdict.LEFT_OUT] == [plan.verdict for plan in (rehearsed, final)]
    assert [[Code.OFFSET_AHEAD_OF_COPY]] * 2 == [[f.code for f in x] for x in (rehearsed.warnings, final.refusals)]


def test_group_without_any_commit_is_left_out() -> None:
    """It is listed with the reason; a group that committed only on other topics is not listed."""
    translated = DENSE.translated()
    groups = [committed({}, name="archive"), committed({}, name="elsewhere", commits_elsewhere=True)]

    (plan,) = plan_groups(groups, translated, is_final=True)

    assert ("archive", [Code.OFFSET_NEVER_COMMITTED]) == (plan.group, [f.code for f in plan.refusals])


@pytest.mark.parametrize("final", [True, False])
def test_group_active_on_the_target_is_left_out_with_its_members(final: bool) -> None:
    """The finding names the members and their hosts."""
    (finding,) = DENSE.plan(5, final=final, target_members=[MEMBER]).refusals

    assert finding.code is Code.GROUP_ACTIVE
    assert "app-1 on /10.0.0.7" in finding.found
    assert "target" in finding.found


def test_group_active_on_the_source_is_provisional_in_a_rehearsal_only() -> None:
    """The group still reads, so a rehearsal shows a provisional offset and a cutover leaves it out."""
    rehearsed, final = (DENSE.plan(5, final=final, source_members=[MEMBER]) for final in (False, True))

    assert (GroupVerdict.PROVISIONAL, 3) == (rehearsed.verdict, proposed(rehearsed.moves[0]))
    assert [Code.GROUP_ACTIVE] == [f.code for f in final.refusals]


def test_all_reasons_are_named_together() -> None:
    """A group that is left out for two reasons shows both."""
    plan = DENSE.plan(11, target_members=[MEMBER])

    assert {Code.GROUP_ACTIVE, Code.OFFSET_BEYOND_END} == {f.code for f in plan.refusals}


def test_which_groups_match_the_whole_name() -> None:
    """A pattern that matches a part is not enough; names chosen for the run limit them."""
    kinds: dict[str, GroupKind] = {
        "billing": "classic",
        "billing-2": "consumer",
        "a\nb": "classic",
        "": "classic",
        "console-consumer-17": "classic",
        "connect-sink": "classic",
        "__internal": "classic",
        "shared": "share",
        "connect-workers": "connect",
    }
    listings = [GroupListing(name, GroupState.EMPTY, kind) for name, kind in kinds.items()]
    usual = [ALL_USUAL_GROUPS]

    assert ("a\nb", "billing", "billing-2", "connect-sink") == which_groups(listings, usual)
    assert ("billing",) == which_groups(listings, ["billing", "nothing"])
    assert ("billing-2",) == which_groups(listings, usual, chosen=["billing-2", "console-consumer-17"])
    assert ["", "connect-workers", "shared"] == [*unsupported_groups(listings, usual)]
    assert [""] == [*unsupported_groups(listings, usual, chosen=["billing"])]
    assert "kind share" in unsupported_groups(listings, usual)["shared"]


def test_group_is_rewound_only_if_accepted() -> None:
    """A group's target offsets are lowered only if the migration file names it; the finding has both offsets."""
    groups = [committed({P0: 5}, target={P0: 4}), committed({P0: 5}, name="again", target={P0: 4})]
    accepted = Accepted(may_rewind=["again"])
    again, refused = plan_groups(groups, DENSE.translated(5), is_final=True, accepted=accepted)

    assert ([3], ()) == ([proposed(move) for move in again.moves], again.refusals)
    (finding,) = refused.refusals
    assert (Code.OFFSETS_REWOUND, "committed target offset 4") == (finding.code, finding.found)
    assert "at most 3" in finding.expected


@pytest.mark.parametrize(("log_start", "expected"), [(0, 2), (1, 2), (4, 4), (5, 5), (6, 5)])
def test_what_both_sides_deleted_is_not_where_a_group_goes_on(log_start: int, expected: int) -> None:
    """Regression: an offset before the target's log start is invalid; the group resumes at the first record left."""
    partition = CopiedPartition(records(8), cuts=(0, 8))
    partition.purge(5)
    copy = replace(partition.copy, target_log_start=log_start)
    (found,) = translate({P0: copy}, [Position(P0, 2)], {}).values()

    assert expected == found.target_offset


LOST = replace(committed({}, commits_elsewhere=True), lost_topics=("orders",))
SPLIT = replace(committed({P0: 5}), later_topics=("audit",))


@pytest.mark.parametrize(
    ("group", "codes"),
    [(LOST, [Code.OFFSET_NEVER_COMMITTED, Code.GROUP_OFFSETS_LOST]), (SPLIT, [Code.GROUP_IN_LATER_CUTOVER])],
)
def test_group_of_several_cutovers_is_left_out(group: CommittedGroup, codes: list[Code]) -> None:
    """A group stays on the source if its earlier commits are gone, or if a later cutover moves one of its topics."""
    (plan,) = plan_groups([group], DENSE.translated(5), is_final=True)

    assert codes == [finding.code for finding in plan.refusals]


def test_group_that_may_be_active_is_moved_with_its_members() -> None:
    """The migration file may accept active members on the source by the group's name, but never on the target."""
    accepted = plan_groups(
        [committed({P0: 5}, source_members=[MEMBER]), committed({P0: 5}, name="late", target_members=[MEMBER])],
        DENSE.translated(5),
        is_final=True,
        accepted=Accepted(may_be_active=["billing", "late"]),
    )

    assert [(), (Code.GROUP_ACTIVE,)] == [tuple(f.code for f in group.refusals) for group in accepted]
    assert GroupVerdict.PROVISIONAL is accepted[0].verdict


PRINTED = [(b"v", -1), (b"v", 1), (b"v", 2), (b"w", 1)]


def test_prints_of_different_records_differ() -> None:
    """A missing field differs from an empty one, and the limits between fields count."""
    records = [
        (b"k", b"v", (), 1),
        (None, b"v", (), 1),
        (b"", b"v", (), 1),
        (b"kv", b"", (), 1),
        (b"k", None, (), 1),
        (b"k", b"v", (), -1),
        (b"k", b"v", [("h", None)], 1),
        (b"k", b"v", [("h", b"")], 1),
        (b"k", b"v", [("h", b""), ("h", b"")], 1),
    ]

    prints = [RecordPrint.of(0, *record) for record in records]

    assert len(records) == len({found.digest for found in prints}) == len({found.content for found in prints}) + 1
    assert RecordPrint.of(0, *records[0]).digest == RecordPrint.of(9, *records[0]).digest


def test_a_record_without_a_timestamp_equals_its_copy_whatever_the_time_of_the_copy() -> None:
    """The timestamps of the other records must be equal, unless the target topic has its own; the content always."""
    untimed, at_1, at_2, other = (RecordPrint.of(0, b"k", value, (), ms) for value, ms in PRINTED)

    assert untimed.same_as(at_1)
    assert not at_1.same_as(untimed)
    assert (True, False, True) == (at_1.same_as(at_1), at_1.same_as(at_2), at_1.same_as(at_2, timestamps=False))
    assert [False, False] == [record.same_as(other, timestamps=False) for record in (untimed, at_1)]


def _started(positions: Offsets) -> dict[str, Any]:
    return GenerationStart(1, "r", "t", positions, dict.fromkeys(positions, 0)).to_document()


def _stopped(positions: Offsets, ends: Offsets) -> dict[str, Any]:
    return StopCertificate(1, "r", "t", True, 143, "x", positions, ends).to_document()


def _judged(verdict: Verdict) -> dict[str, Any]:
    read = Comparison(verdict, (ReadOffsets(0, 1, 0, 3, 0, 3),), 1, 1)
    verdicts, comparisons = {"orders": verdict}, {"orders": (read,)}
    return Judgement("r", "t", False, (1,), verdicts, {"orders": 1}, POSITION_DIGEST, comparisons).to_document()


def test_copies_come_from_the_ledger() -> None:
    """A partition that no generation knows is an empty copy at its log start; its target end is the present one."""
    ledger = fold([_started({P0: 2}), _stopped({P0: 10}, {P0: 8})])

    copies = copies_of(ledger, {P0: 4, P1: 7}, {P0: 12, P1: 7}, {P0: 8})

    assert (10, 8) == (copies[P0].mirror_position, copies[P0].target_end)
    assert (4, 12) == (copies[P0].source_log_start, copies[P0].source_end)
    assert (7, 0) == (copies[P1].mirror_position, copies[P1].target_end)
    assert 0 == translate(copies, [Position(P1, 5)], {})[Position(P1, 5)].target_offset


@pytest.mark.parametrize(
    ("judged", "codes"),
    [
        ([], [Code.RECORDS_NOT_VERIFIABLE]),
        ([_judged(Verdict.PASS)], []),
        ([_judged(Verdict.WARN)], []),
        ([_judged(Verdict.NOT_VERIFIABLE)], [Code.RECORDS_NOT_VERIFIABLE]),
        ([_judged(Verdict.FAIL)], [Code.COPY_DIFFERS]),
    ],
)
def test_plan_needs_a_proved_copy(judged: list[dict[str, object]], codes: list[Code]) -> None:
    """Every topic of which something was copied must be good as a whole, whichever run copied it."""
    ledger = fold([_started({P0: 0}), _stopped({P0: 3}, {P0: 3}), *judged])

    assert codes == [f.code for f in unproved_copies(ledger, ["orders", "audit"]).values()]
    assert {} == unproved_copies(Ledger(), ["orders"])
