"""Rules of offsets that the source deleted before a group read them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_migration.core.cutover.plan_page import render_plan
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.groups.group_rules import Translated, plan_groups
from kafka_migration.core.groups.offsets_plan import GroupPlan, OffsetsPlan
from kafka_migration.core.groups.purged import purged_offsets
from kafka_migration.core.ledger.generations import Window
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.translation.by_partition import Position, translate
from kafka_migration.core.translation.copies import PartitionCopy
from tests.unit.groups.copied_partition import committed
from tests.unit.partitions import P0


def windows(*ranges: tuple[int, int, int, int]) -> tuple[Window, ...]:
    """Return windows, given as source start and end, target start and end."""
    return tuple(Window(n, "orders", "orders", 0, *each) for n, each in enumerate(ranges, 1))


def count(copy: PartitionCopy, at: int, *, by_topic: tuple[str, ...] = ()) -> int:
    """Return the number of offsets that a group with one commit has lost."""
    return purged_offsets(committed({P0: at}), {P0: copy}, by_topic).get(P0, 0)


# The source had deleted 50 offsets before the copy began, and deleted up to 70 after 90 were copied.
COPY = PartitionCopy(windows((50, 90, 0, 40)), source_log_start=70, source_end=90)


@pytest.mark.parametrize(("at", "expected"), [(10, 40), (49, 1), (50, 0), (60, 0), (90, 0)])
def test_what_was_deleted_before_it_was_copied_is_lost(at: int, expected: int) -> None:
    """Regression: a commit of 10 with a log start of 50 moved, and 40 offsets were not mentioned."""
    assert expected == count(COPY, at)


def test_what_was_lost_between_two_generations_counts() -> None:
    """Offsets that no generation copied are on neither cluster; those that were copied twice count once."""
    gap = PartitionCopy(windows((0, 20, 0, 20), (15, 30, 20, 35), (40, 60, 35, 55)), 60, 60)

    assert (10, 10, 5) == (count(gap, 0), count(gap, 25), count(gap, 35))


@pytest.mark.parametrize(("target_log_start", "expected"), [(0, 0), (10, 10), (20, 20), (40, 20)])
def test_what_both_clusters_deleted_is_lost(target_log_start: int, expected: int) -> None:
    """A copy that the target deleted too cannot be read; target partitions of another copy are not compared."""
    copy = replace(COPY, target_log_start=target_log_start)

    assert expected == count(copy, 50)
    assert 0 == count(copy, 50, by_topic=("orders",))


@settings(max_examples=300)
@given(data=st.data())
def test_count_is_exact_where_each_offset_is_a_record(data: st.DataObject) -> None:
    """For random windows without holes the count is that of brute force, and an upper bound if the target deleted."""
    a, b, c, d = sorted(data.draw(st.lists(st.integers(0, 30), min_size=4, max_size=4)))
    size = b - a
    made = windows((a, b, 0, size), (c, d, size, size + d - c))
    log_start, at = data.draw(st.integers(0, 30)), data.draw(st.integers(0, 30))
    target_log_start = data.draw(st.integers(0, size + 3))
    copied = [*range(a, b), *range(c, d)]

    lost = [offset for offset in range(at, log_start) if offset not in copied]
    gone = [offset for offset in copied[:target_log_start] if at <= offset < log_start]
    copy = PartitionCopy(made, log_start, 30)
    assert len(lost) == count(copy, at)
    assert len(lost) + len(gone) <= count(replace(copy, target_log_start=target_log_start), at)


def plan(at: int) -> GroupPlan:
    """Plan a group that has read everything but what was deleted."""
    position = Position(P0, at)
    copy = replace(COPY, source_log_start=90)
    translated = Translated({P0: copy}, translate({P0: copy}, [position], {}), {}, {}, {})
    (found,) = plan_groups([committed({P0: at})], translated, is_final=True)
    return found


def test_plan_says_what_the_source_deleted() -> None:
    """The headline claims nothing about records that no cluster has, and the group has a warning with the numbers."""
    found = plan(10)
    text = render_plan(OffsetsPlan("t", Mode.CUTOVER, ("orders",), (found,), {}), "shop")

    assert ({P0: 40}, [Code.UNREAD_RECORDS_DELETED]) == (found.purged, [f.code for f in found.warnings])
    assert "the source deleted 40 offsets (at most) before group billing read them" in found.warnings[0].found
    assert "- Skipped records: 0 of those that are left on a cluster, proved for every offset" in text
    assert "- Deleted on the source before they were read: 40 offsets at most, of 1 groups" in text
    assert "**UNREAD_RECORDS_DELETED** · group billing, orders" in text
    assert GroupPlan.from_document(found.to_document()) == found


def test_plan_without_loss_says_nothing_of_it() -> None:
    """Records that the source deleted and that the copy holds are not lost."""
    text = render_plan(OffsetsPlan("t", Mode.CUTOVER, ("orders",), (plan(60),), {}), "shop")

    assert "- Skipped records: 0, proved" in text
    assert "Deleted" not in text
