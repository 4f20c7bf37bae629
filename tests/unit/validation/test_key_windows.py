"""Rules of windows for a comparison by key: all partitions of both sides, generations put together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.ledger.generations import Window
from kafka_migration.core.validation.compared_windows import delta_key_windows, whole_windows
from tests.folded import fold
from tests.unit.ledger.test_generations import ME, started, stopped
from tests.unit.partitions import P0, P1, P2

# One source partition, copied into three of the target.
FIRST = [started(1, {P0: 0}, {P0: 0, P1: 5, P2: 0}), stopped(1, {P0: 10}, {P0: 4, P1: 9, P2: 2}, graceful=False)]
SECOND = [started(2, {P0: 10}, {P0: 4, P1: 9, P2: 2}), stopped(2, {P0: 30}, {P0: 14, P1: 19, P2: 2})]
LATER = [started(2, {P0: 10}, {P0: 5, P1: 9, P2: 2}), stopped(2, {P0: 30}, {P0: 14, P1: 19, P2: 2})]


def ranges(windows: Iterable[Window]) -> list[tuple[int, int, tuple[int, int], tuple[int, int]]]:
    """Return generation, source and target range by partition."""
    return [
        (w.generation, w.partition, (w.source_start, w.source_end), (w.target_start, w.target_end)) for w in windows
    ]


P3 = TopicPartition("orders", 3)
AT_THE_STOP = {P0: 4, P1: 9, P2: 2}
SOURCE_GREW = [started(2, {P0: 10, P1: 0}, AT_THE_STOP), stopped(2, {P0: 30, P1: 8}, {P0: 14, P1: 19, P2: 2})]
TARGET_GREW = [started(2, {P0: 10}, {**AT_THE_STOP, P3: 0}), stopped(2, {P0: 30}, {P0: 14, P1: 19, P2: 2, P3: 9})]


@pytest.mark.parametrize(
    ("later", "expected"),
    [
        pytest.param([], [(1, 0, (0, 10), (0, 4)), (1, 1, (0, 0), (5, 9)), (1, 2, (0, 0), (0, 2))], id="target only"),
        pytest.param(
            SECOND, [(2, 0, (0, 30), (0, 14)), (2, 1, (0, 0), (5, 19)), (2, 2, (0, 0), (0, 2))], id="continued"
        ),
        pytest.param(
            SOURCE_GREW, [(2, 0, (0, 30), (0, 14)), (2, 1, (0, 8), (5, 19)), (2, 2, (0, 0), (0, 2))], id="source grew"
        ),
    ],
)
def test_windows_have_all_partitions_of_both_sides(later: list[Any], expected: list[Any]) -> None:
    """A key may be in any partition of the target; generations that continue each other are one comparison, also after
    an ungraceful end, and a partition that the source got later continues the windows of its topic."""
    assert expected == ranges(delta_key_windows(fold([*FIRST, *later]).pending_for(ME)))


@pytest.mark.parametrize(
    ("later", "generations"),
    [
        pytest.param(LATER, [1, 1, 1, 2, 2, 2], id="the target received other records"),
        pytest.param(TARGET_GREW, [1, 1, 1, 2, 2, 2, 2], id="keys may be in another partition from then on"),
    ],
)
def test_generations_are_compared_apart(later: list[Any], generations: list[int]) -> None:
    """A change of the target between a stop and the next start, or a new target partition, ends the comparison."""
    assert generations == [w.generation for w in delta_key_windows(fold([*FIRST, *later]).pending_for(ME))]


def test_source_partition_that_the_target_had_before_begins_anywhere() -> None:
    """Regression: added with a log start above zero, its window began at offsets that never were there."""
    added = [started(2, {P0: 10, P1: 7}, {P0: 4, P1: 9, P2: 2}), stopped(2, {P0: 30, P1: 9}, {P0: 14, P1: 19, P2: 2})]
    ledger = fold([*FIRST, *added])
    expected = [(2, 0, (0, 30), (0, 14)), (2, 1, (7, 9), (5, 19)), (2, 2, (0, 0), (0, 2))]

    assert expected == ranges(delta_key_windows(ledger.pending_for(ME)))
    assert expected == ranges(whole_windows(ledger, ["orders"], {}, by_key=True))


def test_whole_reading_looks_into_partitions_that_no_generation_knows() -> None:
    """Regression: what others wrote to a new partition of the target was not looked at."""
    foreign = {TopicPartition("orders", 9): 100, TopicPartition("other", 0): 5}
    windows = whole_windows(fold([*FIRST, *SECOND]), ["orders", "other"], foreign, by_key=True)

    assert (2, 9, (0, 0), (0, 100)) == ranges(windows)[-1]
    assert {"orders"} == {w.topic for w in windows}


def test_whole_topic_is_one_comparison() -> None:
    """All that was ever copied, up to the target's present ends."""
    windows = whole_windows(fold([*FIRST, *LATER]), ["orders"], {P0: 14, P1: 25, P2: 2}, by_key=True)

    assert [(2, 0, (0, 30), (0, 14)), (2, 1, (0, 0), (5, 25)), (2, 2, (0, 0), (0, 2))] == ranges(windows)
