"""Rules of writing group offsets: what may be written, and what became of it."""

from __future__ import annotations

import csv
import io

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.group_writes import (
    GroupWriteDocument,
    OffsetsResultDocument,
    Write,
    after_write,
    before_write,
    nothing_to_move_findings,
    unknown_write,
)
from kafka_migration.core.groups.offsets_plan import GroupPlan
from kafka_migration.core.kafka.cluster import GroupDescription, GroupMember, GroupState
from kafka_migration.core.kafka.offsets import CommittedOffset, TopicPartition, offsets_of, reset_offsets_csv
from kafka_migration.core.stored.stored_documents import OffsetsBeforeDocument
from tests.present import present
from tests.unit.partitions import P0, P1

Commits = dict[TopicPartition, CommittedOffset]
PROPOSED = {P0: CommittedOffset(5, "m"), P1: CommittedOffset(7)}
ONE = {P0: CommittedOffset(1)}
EMPTY = GroupDescription("billing", GroupState.EMPTY)
DENIED = Finding(Code.GROUP_ACTIVE, "group billing", "a member", "none", "Stop it.")


def codes(write: GroupWriteDocument) -> list[str]:
    return [str(finding.code) for finding in write.findings]


@pytest.mark.parametrize("state", [GroupState.EMPTY, GroupState.DEAD])
@pytest.mark.parametrize(
    ("present_offsets", "before"),
    [
        pytest.param({}, {}, id="no offsets"),
        pytest.param(ONE, ONE, id="one as before"),
        pytest.param({**ONE, P1: CommittedOffset(2)}, {**ONE, P1: CommittedOffset(2)}, id="all as before"),
        pytest.param({P0: PROPOSED[P0]}, ONE, id="half written"),
        pytest.param({TopicPartition("elsewhere", 0): CommittedOffset(9)}, {}, id="offsets of other topics"),
    ],
)
def test_group_as_recorded_before_is_written(state: GroupState, present_offsets: Commits, before: Commits) -> None:
    """A group without members is written if each of its offsets is as before or already as proposed."""
    assert before_write(GroupDescription("billing", state), present_offsets, before, PROPOSED) is None


def test_group_that_stands_as_proposed_is_not_written_again() -> None:
    """A group that is where it should be has been moved already."""
    write = present(before_write(EMPTY, PROPOSED, {}, PROPOSED))

    assert (Write.ALREADY_MOVED, []) == (write.outcome, codes(write))


@pytest.mark.parametrize(
    "state", [GroupState.STABLE, GroupState.UNKNOWN, GroupState.PREPARING_REBALANCING, GroupState.ASSIGNING]
)
def test_group_that_may_have_members_is_refused(state: GroupState) -> None:
    """A group that is not known to be empty is never written, and its members are named."""
    member = GroupMember("id", "app-1", "/10.0.0.7")
    write = present(before_write(GroupDescription("billing", state, (member,)), {}, {}, PROPOSED))

    assert (Write.REFUSED, ["GROUP_ACTIVE"]) == (write.outcome, codes(write))
    assert "app-1 on /10.0.0.7" in write.findings[0].found


@pytest.mark.parametrize(
    ("present_offsets", "before"),
    [
        ({P0: CommittedOffset(3)}, ONE),
        ({P0: CommittedOffset(3)}, {}),
        ({}, ONE),
        ({P0: CommittedOffset(5, "other")}, {}),
    ],
)
def test_group_that_another_client_moved_is_refused(present_offsets: Commits, before: Commits) -> None:
    """Another client committed offsets that match neither the recorded nor the proposed ones."""
    write = present(before_write(EMPTY, present_offsets, before, PROPOSED))

    assert (Write.REFUSED, ["TARGET_OFFSETS_CHANGED"]) == (write.outcome, codes(write))
    assert "orders[0]" in write.findings[0].subject


def test_read_back_as_proposed_is_moved() -> None:
    """Only offsets and metadata that were read back as proposed count as moved, whatever the broker said."""
    assert after_write("billing", PROPOSED, {}, PROPOSED, ()).outcome is Write.MOVED
    assert after_write("billing", PROPOSED, {}, PROPOSED, (DENIED,)).outcome is Write.MOVED


def test_denied_write_that_changed_nothing_is_refused() -> None:
    """A broker's denial with the offsets as before is a refusal with the broker's reason."""
    write = after_write("billing", ONE, ONE, PROPOSED, (DENIED,))

    assert (Write.REFUSED, (DENIED,)) == (write.outcome, write.findings)


@pytest.mark.parametrize(
    ("now", "denial"),
    [({P0: PROPOSED[P0]}, ()), ({P0: PROPOSED[P0]}, (DENIED,)), ({}, ())],
    ids=["half", "denied", "none"],
)
def test_write_without_its_whole_effect_has_failed(now: Commits, denial: tuple[Finding, ...]) -> None:
    """A write that was not denied and did not set all offsets has failed, and the finding names each partition."""
    write = after_write("billing", now, {}, PROPOSED, denial)

    assert (Write.FAILED, "OFFSETS_NOT_WRITTEN") == (write.outcome, codes(write)[-1])
    assert "orders[1]" in write.findings[-1].subject


def _left_out(group: str, code: Code) -> GroupPlan:
    return GroupPlan(group, refusals=(Finding(code, f"group {group}", "x", "y", "z"),))


def test_result_is_partly_when_a_group_remains_on_the_source() -> None:
    """Planned groups that did not move, and groups left out that have offsets, remain on the source."""
    moved, refused = (
        GroupWriteDocument("a", Write.MOVED, offsets_of(PROPOSED)),
        GroupWriteDocument("b", Write.REFUSED, {}, (DENIED,)),
    )
    active, empty = _left_out("c", Code.GROUP_ACTIVE), _left_out("d", Code.OFFSET_NEVER_COMMITTED)

    assert not OffsetsResultDocument.of("now", "d", (moved,), (empty,)).partly
    assert OffsetsResultDocument.of("now", "d", (moved, refused), ()).partly
    document = OffsetsResultDocument.of("now", "d", (moved, refused), (active, empty))
    assert (("a",), {"b", "c"}) == (document.moved, set(document.left_behind))
    assert ["GROUP_ACTIVE", "GROUP_ACTIVE"] == [warning.code for warning in document.warnings]


def test_result_of_nothing_moved_warns_of_nothing() -> None:
    """If nothing moved, the reasons are in the refusal and not in warnings; an unknown outcome is a warning."""
    refused, unknown = GroupWriteDocument("b", Write.REFUSED, {}, (DENIED,)), unknown_write("c", "no answer")

    assert OffsetsResultDocument.of("now", "d", (refused,), ()).warnings == ()
    assert len(OffsetsResultDocument.of("now", "d", (refused, unknown), ()).warnings) == 2


def test_cutover_that_could_move_no_group_is_refused() -> None:
    """Groups that all must be left out refuse the cutover; having none, or none with offsets, does not."""
    findings = nothing_to_move_findings([_left_out("c", Code.GROUP_ACTIVE)])

    assert ["GROUP_ACTIVE", "OFFSETS_NOT_WRITTEN"] == [str(finding.code) for finding in findings]
    assert () == nothing_to_move_findings([])
    assert () == nothing_to_move_findings([_left_out("d", Code.OFFSET_NEVER_COMMITTED)])


def test_saved_offsets_come_back_as_they_were() -> None:
    """The document of saved offsets holds offsets and metadata, also of a group without any."""
    groups = {"billing": PROPOSED, "none": {}}

    saved = OffsetsBeforeDocument("now", "d", groups, {})

    assert saved == OffsetsBeforeDocument.from_document(saved.to_document())


def test_saved_offsets_are_lines_for_kafkas_own_tool() -> None:
    """The file has one line per partition, the group quoted, whatever characters its name has."""
    text = reset_offsets_csv({'a "b", c': {P1: CommittedOffset(7), P0: CommittedOffset(5)}, "billing": {}})

    assert '"a ""b"", c",orders,0,5\n"a ""b"", c",orders,1,7\n' == text
    assert [['a "b", c', "orders", "0", "5"], ['a "b", c', "orders", "1", "7"]] == list(csv.reader(io.StringIO(text)))
