"""Rules of the plan of the groups' offsets, in both directions: its document, its digest and its text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_migration.core.cutover.not_moved import not_moved
from kafka_migration.core.cutover.plan_page import findings_list, render_plan
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.group_rules import plan_groups
from kafka_migration.core.groups.offsets_plan import GroupPlan, OffsetsMove, OffsetsPlan, Proof, TargetOnly
from kafka_migration.core.groups.selection import OtherGroups
from kafka_migration.core.kafka.offsets import CommittedOffset, TopicPartition
from kafka_migration.core.migration.settings import Mode
from tests.markdown_text import blocks, read
from tests.unit.groups.copied_partition import DENSE, MEMBER, committed, moved
from tests.unit.partitions import P0, P1

OFFSET = moved(5, 3, Proof.RECORD, before=1)
LEFT_OUT = DENSE.plan(11, name="late")
PLAN = OffsetsPlan(
    at="2026-01-01T00:00:00+00:00",
    mode=Mode.CUTOVER,
    topics=("orders",),
    source_end_offsets={P0: 10},
    mirror_positions={P0: 10},
    target_end_offsets={P0: 8},
    groups=(GroupPlan("billing", (OFFSET,), unset=(P1,)), LEFT_OUT),
)


def _with(move: OffsetsMove) -> OffsetsPlan:
    return replace(PLAN, groups=(replace(PLAN.groups[0], moves=(move,)), LEFT_OUT))


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(replace(PLAN, source_end_offsets={P0: 11}), id="record on the source"),
        pytest.param(replace(PLAN, target_end_offsets={P0: 9}), id="record on the target"),
        pytest.param(_with(moved(6, 3, Proof.RECORD, before=1)), id="commit"),
        pytest.param(_with(moved(5, 4, Proof.RECORD, before=1)), id="translation"),
        pytest.param(_with(moved(5, 3, Proof.RECORD, before=1, metadata="other")), id="metadata"),
        pytest.param(_with(moved(5, 3, Proof.RECORD, partition=P1)), id="partition"),
        pytest.param(replace(PLAN, groups=(replace(PLAN.groups[0], unset=()), LEFT_OUT)), id="commit where none was"),
        pytest.param(replace(PLAN, groups=(replace(PLAN.groups[0], group="x"), LEFT_OUT)), id="name"),
        pytest.param(replace(PLAN, groups=PLAN.groups[:1]), id="group no longer left out"),
        pytest.param(replace(PLAN, mode=Mode.REHEARSE), id="mode"),
        pytest.param(replace(PLAN, topics=("audit", "orders")), id="topic"),
        pytest.param(replace(PLAN, groups=(replace(PLAN.groups[0], is_removed=True), LEFT_OUT)), id="deletion"),
        pytest.param(
            replace(PLAN, groups=(PLAN.groups[0], DENSE.plan(5, name="late", target_members=[MEMBER]))),
            id="left out for another reason",
        ),
    ],
)
def test_digest_changes_with_what_is_approved(changed: OffsetsPlan) -> None:
    """Everything that an approval is bound to is in the digest."""
    assert changed.digest != PLAN.digest


@pytest.mark.parametrize(
    "same",
    [
        pytest.param(_with(moved(5, 3, Proof.RECORD, before=7)), id="present offset on the target"),
        pytest.param(replace(PLAN, at="later"), id="time"),
        pytest.param(
            replace(PLAN, groups=(*PLAN.groups, DENSE.plan(5, name="x", target_members=[]))[:2]), id="same groups"
        ),
        pytest.param(
            replace(
                PLAN,
                groups=(*plan_groups([committed({}, name="archive")], DENSE.translated(), is_final=True), *PLAN.groups),
            ),
            id="group that never committed, which Kafka forgets by itself",
        ),
    ],
)
def test_digest_stays_with_what_is_not_approved(same: OffsetsPlan) -> None:
    """The digest leaves out offsets that the plan itself changes, and groups that Kafka removes by itself."""
    assert same.digest == PLAN.digest


HOSTILE = [
    "a|b`c`",
    "<script>alert(1)</script>",
    "two\nlines\r\n# head",
    '"quoted", and ü',
    "[x](http://e.vil)",
    "\u202egnp",
]


def test_document_has_the_digest() -> None:
    """The document of a plan holds the digest that an approval is bound to."""
    assert PLAN.digest == PLAN.to_document()["digest"]


def test_text_shows_what_is_approved() -> None:
    """The text has all offsets, reasons, the digest, the last reversible step and the DAG that reverts the cutover."""
    text = read(render_plan(PLAN, "shop"))

    for part in (
        "| `orders` 0 | 5 | 1 | 3 | 5 | 0 | same record |",
        "| `billing` | ready | 1 | 1 | 0 |",
        *("### Left out", "OFFSET_BEYOND_END", PLAN.digest, "last step before anything changes"),
        "`kafka_rollback__shop`: mode `fail_back`",
    ):
        assert part in text
    assert "A rehearsal" in render_plan(replace(PLAN, mode=Mode.REHEARSE), "shop")


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_no_markup(name: str) -> None:
    """A name makes no line, no cell, no link and no HTML."""
    plain = render_plan(replace(PLAN, groups=(DENSE.plan(5, name="billing"), DENSE.plan(11, name="late"))), "shop")
    text = render_plan(replace(PLAN, groups=(DENSE.plan(5, name=name), DENSE.plan(11, name=name))), "shop")

    assert plain.count("\n") == text.count("\n")
    assert blocks(plain) == blocks(text)


def plan_of(groups: int, partitions: int) -> OffsetsPlan:
    """Return a plan of so many groups that committed on so many partitions each."""
    offsets = tuple(moved(5, 3, Proof.RECORD, partition=TopicPartition("orders", n)) for n in range(partitions))
    return replace(PLAN, groups=tuple(GroupPlan(f"group-{n}", offsets) for n in range(groups)))


def test_text_of_many_partitions_is_bounded() -> None:
    """The text is short enough to load, and counts what it leaves out."""
    text = render_plan(plan_of(groups=300, partitions=400), "shop")

    assert len(text) < 100_000
    assert "and 350 more partitions" in text
    assert "and 100 more groups" in text


def test_records_after_the_fence_are_named() -> None:
    """Records that the source receives after the copy are a finding: no consumer would read them."""
    (finding,) = replace(PLAN, source_end_offsets={P0: 12}).uncopied_findings()

    assert (Code.FENCE_MOVING, "orders[0]", "source end 12") == (finding.code, finding.subject, finding.found)
    assert () == PLAN.uncopied_findings()


NEVER = Finding(Code.OFFSET_NEVER_COMMITTED, "group late", "nothing", "an offset", "Look.")


def test_every_group_that_is_not_moved_is_listed() -> None:
    """Groups left out, not named or of another kind, and partitions without a commit, are listed with the reason."""
    left_out = GroupPlan("late", refusals=(NEVER,), left=(P0, P1))
    nothing = GroupPlan("empty", refusals=(NEVER,))
    planned = GroupPlan("billing", (OFFSET,), unset=(P1,))
    others = OtherGroups({"a|b": ("orders",)}, {"shared": "share"})
    plan = replace(PLAN, groups=(planned, left_out, nothing), others=others)

    assert [
        ("late", "orders", (0, 1)),
        ("empty", "", ()),
        ("billing", "orders", (1,)),
        ("a|b", "orders", ()),
        ("shared", "", ()),
    ] == [(row.group, row.topic, row.partitions) for row in not_moved(plan)]
    assert all(row.reason for row in not_moved(plan))
    text = read(render_plan(plan, "shop"))
    assert "| `late` | `orders` | 0, 1 | OFFSET_NEVER_COMMITTED |" in text
    assert "| a\\|b | `orders` | – | not named by cutover.groups" in text


SAVED = OffsetsMove("orders", {}, {P0: 5}, {P0: CommittedOffset(2, "old")}, Proof.SAVED)
BACK = replace(
    PLAN,
    mode=Mode.RESTORE,
    groups=(GroupPlan("billing", (SAVED,)), GroupPlan("gone", is_removed=True), GroupPlan("same")),
    target_only=(TargetOnly("orders", {P0: 8}, 3, is_exact=False),),
)


def test_text_of_a_rollback_names_the_cluster_that_is_written() -> None:
    """Both directions share one text: what is written where, present and proposed offsets, what stays on the target."""
    fail_back = read(render_plan(replace(PLAN, mode=Mode.FAIL_BACK), "shop"))
    restore = read(render_plan(BACK, "shop"))

    assert "## Rollback of migration `shop`" in fail_back
    assert "on the **source**" in fail_back
    assert "| Partition | Target committed | Source before | Source proposed |" in fail_back
    assert "No record was written to the target after the copy." in fail_back
    assert "groups on the **target** back" in restore
    assert "| `orders` 0 | – | 5 | 2 | not known | not known | as before the cutover |" in restore
    assert "| `gone` | ready | all deleted |" in restore
    assert "| `same` | nothing to do | 0 |" in restore
    assert "| `orders` | at most 3 | 0: 8 |" in restore
    assert "Groups to change: 2, not changed: 0" in restore


def test_rollback_is_approved_as_a_whole() -> None:
    """A saved offset, its metadata, a deletion and the direction are in the digest."""
    others = (
        replace(BACK, groups=(GroupPlan("billing", (replace(SAVED, proposed={P0: CommittedOffset(3, "old")}),)),)),
        replace(BACK, groups=(GroupPlan("billing", (replace(SAVED, proposed={P0: CommittedOffset(2)}),)),)),
        replace(BACK, groups=(BACK.groups[0], replace(BACK.groups[1], is_removed=False), BACK.groups[2])),
        replace(BACK, mode=Mode.FAIL_BACK),
    )

    assert BACK.digest not in {other.digest for other in others}
    written = GroupPlan("billing", (replace(SAVED, before={}),))
    assert BACK.digest == replace(BACK, groups=(written, *BACK.groups[1:])).digest


def test_groups_without_a_section_are_counted() -> None:
    """If the tables of the first groups fill the page, it counts the groups that it does not show in detail."""
    text = render_plan(plan_of(groups=8, partitions=60), "shop")

    assert "### `group-5`" in text
    assert "### `group-6`" not in text
    assert "and 2 more groups with their offsets and warnings" in text


def test_partitions_of_topics_that_are_not_shown_are_counted() -> None:
    """A topic that is translated as a whole counts with all of its partitions."""

    def whole(topic: str) -> OffsetsMove:
        commits = {TopicPartition(topic, number): CommittedOffset(1) for number in range(4)}
        return OffsetsMove(topic, commits, {}, commits, Proof.COPIES, unread=1)

    text = render_plan(replace(PLAN, groups=(GroupPlan("g", tuple(whole(f"t{n}") for n in range(53))),)), "shop")

    assert "and 12 more partitions" in text


def test_a_finding_of_a_group_is_a_list_of_its_sentences() -> None:
    """An approver reads what happened, why it matters and what to do below code and subject, without markup."""
    told = replace(NEVER, code=Code.GROUP_ACTIVE, happened="It *has* members.", matters="It stays.")

    shown = "- **GROUP_ACTIVE** · group late\n    - It `*has*` members.\n    - It stays.\n    - Look."
    assert shown == findings_list((told,))


def test_partition_numbers_of_findings_are_readable() -> None:
    """A finding names a partition as it is, also where a person reads the page as a file."""
    finding = Finding(Code.GAP, "orders[3]", "f", "e", "Run `cmd`.", happened="Offsets of orders[3] are gone.")

    page = findings_list((finding,))

    assert "· orders[3]\n    - Offsets of orders[3] are gone.\n    - Run `cmd`." in page
