"""Rules of putting groups on the target back to where they stood before the cutover."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_migration.core.kafka.cluster import GroupDescription, GroupState
from kafka_migration.core.kafka.offsets import CommittedOffset, TopicPartition
from kafka_migration.core.rollback.rollback_rules import MovedGroup, restored
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


SAVED = {P0: CommittedOffset(2, "text")}


@pytest.mark.parametrize(
    ("group", "is_removed", "proposed", "staying"),
    [
        pytest.param(MOVED, True, {}, 0, id="had no offsets"),
        pytest.param(
            replace(MOVED, present={**MOVED.present, P2: CommittedOffset(1)}), True, {}, 0, id="has committed since"
        ),
        pytest.param(replace(MOVED, present={}), True, {}, 0, id="gone already"),
        pytest.param(replace(MOVED, has_others=True), False, {}, 2, id="has offsets of other topics"),
        pytest.param(replace(MOVED, before=SAVED), False, SAVED, 1, id="had an offset of one partition"),
    ],
)
def test_group_is_deleted_only_if_it_had_no_offsets(
    group: MovedGroup, is_removed: bool, proposed: dict[TopicPartition, CommittedOffset], staying: int
) -> None:
    """Saved offsets are restored; offsets that would go with others are left, each with a warning."""
    plan = restored(group, {})

    assert (is_removed, proposed) == (plan.is_removed, plan.proposed)
    assert ["OFFSET_STAYS"] * staying == [finding.code for finding in plan.warnings if "STAYS" in finding.code]
    assert is_removed or staying == len(plan.warnings)
