"""Rules of partitions on which a group never committed, of topics on which it did."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import pytest

from kafka_migration.core.cutover.not_moved import not_moved
from kafka_migration.core.cutover.plan_page import render_plan
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.groups.group_rules import Accepted, plan_groups
from kafka_migration.core.groups.offsets_plan import GroupPlan, OffsetsPlan, Proof
from kafka_migration.core.groups.uncommitted import UncommittedRule, place_words
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.migration.settings import Mode, Uncommitted
from kafka_migration.core.translation.by_partition import Position, translate
from tests.unit.groups.copied_partition import DENSE, committed
from tests.unit.partitions import AUDIT, P0, P1

# The source has deleted the first two records of each partition; the copy begins at target offset 0 and ends at 8.
END = 8
NOTHING_ACCEPTED = Accepted()


def plan(
    rule: Uncommitted = "unset",
    readable: Collection[TopicPartition] = (),
    target: Mapping[TopicPartition, int] | None = None,
    accepted: Accepted = NOTHING_ACCEPTED,
) -> GroupPlan:
    """Plan a group that committed 5 on P0 and nothing on P1; it does not read the topic of AUDIT."""
    copies = {P0: DENSE.copy, P1: DENSE.copy, AUDIT: DENSE.copy}
    begin = Position(P1, 0)
    translated = DENSE.translated(5)
    translated = replace(
        translated,
        copies=copies,
        translations={**translated.translations, **translate(copies, [begin], {})},
        rule=UncommittedRule(rule, frozenset(readable)),
    )
    (found,) = plan_groups([committed({P0: 5}, target=target)], translated, is_final=True, accepted=accepted)
    return found


def offset_of(found: GroupPlan) -> tuple[int, Proof] | None:
    """Return what is planned for P1, with the proof."""
    return next(((m.proposed[P1].offset, m.proof) for m in found.moves if P1 in m.proposed), None)


@pytest.mark.parametrize("rule", ["unset", "refuse", "earliest", "latest"])
def test_group_starts_at_the_end_of_the_copy_if_the_source_has_no_record(rule: Uncommitted) -> None:
    """Regression: left unset, a group with `auto.offset.reset=latest` skipped what was written before it read there."""
    found = plan(rule)

    assert (END, Proof.END) == offset_of(found)
    assert ((), (), ()) == (found.unset, found.warnings, found.refusals)


@pytest.mark.parametrize(("rule", "expected"), [("earliest", 0), ("latest", END)])
def test_file_decides_if_the_source_has_a_record(rule: Uncommitted, expected: int) -> None:
    """`earliest` is the begin of the copy, `latest` its end; the plan says that the file decided."""
    found = plan(rule, [P0, P1])

    assert (expected, Proof.RULE) == offset_of(found)
    assert {P0, P1} == found.proposed.keys()
    assert "cutover.uncommitted |" in render_plan(OffsetsPlan("t", Mode.CUTOVER, ("orders",), (found,), {}), "shop")


def test_partition_that_stays_unset_is_named_with_what_the_group_may_miss() -> None:
    """Plan and evidence say what may be missed, and that the consumers start first."""
    found = plan("unset", [P1])
    whole = OffsetsPlan("t", Mode.CUTOVER, ("orders",), (found,), {})
    words = (
        "With `auto.offset.reset=latest` group billing may miss records that are written to orders[1] before it reads "
        "there. Start the group's consumers before the producers."
    )

    assert ((P1,), [P0]) == (found.unset, list(found.proposed))
    assert [Code.OFFSET_NEVER_COMMITTED] == [warning.code for warning in found.warnings]
    assert words in " ".join(found.warnings[0].sentences)
    assert [f"OFFSET_NEVER_COMMITTED: {words}"] == [row.reason for row in not_moved(whole)]
    assert words in render_plan(whole, "shop")


def test_group_is_left_out_if_the_file_says_so() -> None:
    """`refuse` holds for a copy that keeps partitions too."""
    found = plan("refuse", [P1])

    assert [(Code.OFFSET_NEVER_COMMITTED, "group billing, orders[1]")] == [(f.code, f.subject) for f in found.refusals]


@pytest.mark.parametrize(
    ("readable", "present", "codes"),
    [
        ([P1], 3, [Code.STALE_TARGET_OFFSET]),
        ([], 3, [Code.STALE_TARGET_OFFSET]),
        ([], END, []),
        ([], END + 1, [Code.OFFSETS_REWOUND]),
    ],
    ids=["unset", "planned later", "planned there", "planned before"],
)
def test_offset_on_the_target_alone_is_not_passed_over(
    readable: Collection[TopicPartition], present: int, codes: list[Code]
) -> None:
    """A group is not moved past an offset that only the target has; the same plan may be written again."""
    assert codes == [finding.code for finding in plan("unset", readable, {P1: present}).refusals]


def test_group_may_be_set_back_by_name() -> None:
    """An accepted rewind holds for a partition without a commit as well."""
    assert (END, Proof.END) == offset_of(plan(target={P1: END + 1}, accepted=Accepted(may_rewind=["billing"])))


def test_many_partitions_are_counted() -> None:
    """A topic with many partitions makes a short text."""
    assert "orders" == place_words("orders", ())
    assert "orders[7]" == place_words("orders", (7,))
    assert "orders, partitions 1, 2" == place_words("orders", (1, 2))
    assert place_words("orders", range(1000)).endswith("18, 19 and 980 more")
