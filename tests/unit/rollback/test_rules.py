"""Rules of putting groups on the target back to where they stood before the cutover."""

from __future__ import annotations

from dataclasses import replace

from kafka_migration.core.kafka.cluster import CommittedOffset, GroupDescription, GroupState
from kafka_migration.core.rollback.rules import MovedGroup, restored
from tests.unit.partitions import P0, P1, P2

MOVED = MovedGroup(
    description=GroupDescription("billing", GroupState.EMPTY),
    written={P0: 5, P1: 3},
    before={},
    present={P0: CommittedOffset(5), P1: CommittedOffset(3)},
    has_others=False,
    source_before={},
    source_present={},
)


def test_group_that_had_nothing_is_taken_away() -> None:
    """Also with what it has committed since on another partition of these topics, and when it is gone already."""
    more = replace(MOVED, present={**MOVED.present, P2: CommittedOffset(1)})

    for group in (MOVED, more, replace(MOVED, present={})):
        plan = restored(group, {})
        assert (True, {}, ()) == (plan.is_removed, plan.proposed, tuple(f for f in plan.warnings if "STAYS" in f.code))


def test_group_with_offsets_of_other_topics_is_never_deleted() -> None:
    """Its offsets elsewhere would go with it: those that the cutover wrote stay, and that is told."""
    plan = restored(replace(MOVED, has_others=True), {})

    assert (False, {}, ["OFFSET_STAYS"] * 2) == (plan.is_removed, plan.proposed, [f.code for f in plan.warnings])


def test_saved_offsets_are_written_and_nothing_is_deleted() -> None:
    """Where one partition had an offset before, that is put back, and the other stays."""
    plan = restored(replace(MOVED, before={P0: CommittedOffset(2, "text")}), {})

    assert (False, {P0: CommittedOffset(2, "text")}) == (plan.is_removed, plan.proposed)
    assert ["OFFSET_STAYS"] == [finding.code for finding in plan.warnings]
