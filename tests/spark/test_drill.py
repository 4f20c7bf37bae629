"""Rules of the look into a differing block, on frames as the second reading gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from kafka_digest.position.blocks import DrillRange
from kafka_digest.position.classify import Difference
from kafka_digest.position.locate_differences import LOOK_AHEAD_RECORDS, DrillCase, first_differences
from tests.spark.conftest import FramesMaker, KafkaRecord

# pyspark leaves its sockets to the garbage collector
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::ResourceWarning")]

Pairs = Mapping[int, tuple[Sequence[KafkaRecord], Sequence[KafkaRecord]]]
Drilled = Callable[[Pairs], dict[int, Difference]]
SOURCE = [KafkaRecord(key=b"%d" % n, value=b"v%d" % n, timestamp_ms=n) for n in range(1000)]
TARGET_OFFSET = 5000


@pytest.fixture
def drilled(kafka_frames: FramesMaker) -> Drilled:
    """Return the differences of partitions `{number: (source, target)}` that were read from rank 100 on."""

    def drill(pairs: Pairs) -> dict[int, Difference]:
        sides = [{("orders", number): pair[side] for number, pair in pairs.items()} for side in (0, 1)]
        cases = [
            DrillCase(n, ("orders", n), ("orders", n), _range(s), _range(t), 100 + len(s), 100 + len(t))
            for n, (s, t) in pairs.items()
        ]
        source, target = (
            kafka_frames(side, first_offset=n * TARGET_OFFSET) if any(side.values()) else None
            for n, side in enumerate(sides)
        )
        return first_differences(source, target, cases)

    return drill


def _range(records: Sequence[KafkaRecord]) -> DrillRange | None:
    return DrillRange(100, 0, len(records)) if records else None


def test_each_partition_gets_its_own_difference(drilled: Drilled) -> None:
    """Partitions read in one frame are told apart, and an equal one has no difference."""
    found = drilled(
        {
            0: (SOURCE[:20], SOURCE[:9] + SOURCE[10:20]),
            1: (SOURCE[:20], SOURCE[:20]),
            2: (SOURCE[:20], [*SOURCE[:20], SOURCE[19]]),
            3: (SOURCE[:20], [*SOURCE[:3], KafkaRecord(b"3", b"other", None, 3), *SOURCE[4:20]]),
        }
    )

    assert {n: d.kind for n, d in found.items()} == {0: "missing", 2: "duplicate", 3: "altered"}
    assert (found[0].source_offset, found[0].target_offset) == (9, TARGET_OFFSET + 9)
    assert (found[2].source_offset, found[2].target_offset) == (None, TARGET_OFFSET + 20)
    assert found[3].fields == ("value",)


def test_one_side_may_be_empty(drilled: Drilled) -> None:
    """Where a side has nothing to read, all records of the other are missing or extra."""
    assert drilled({0: (SOURCE[:3], [])})[0].kind == "missing"
    assert drilled({0: ([], SOURCE[:3])})[0].kind == "extra"


@pytest.mark.parametrize("count", [LOOK_AHEAD_RECORDS - 1, LOOK_AHEAD_RECORDS, LOOK_AHEAD_RECORDS + 100])
def test_a_batch_longer_than_the_look_ahead(drilled: Drilled, count: int) -> None:
    """A batch left out or copied twice is named, also if it is longer than what the driver gets to see."""
    lost = SOURCE[:50] + SOURCE[50 + count :]
    twice = SOURCE[: 50 + count] + SOURCE[50:]
    found = drilled({0: (SOURCE, lost), 1: (SOURCE, twice)})

    assert (found[0].kind, found[0].source_offset, found[0].target_offset) == ("missing", 50, TARGET_OFFSET + 50)
    assert ("duplicate", 50 + count) == (found[1].kind, found[1].source_offset)


def test_a_record_moved_far_is_reordered(drilled: Drilled) -> None:
    """A record that comes only hundreds of records later was moved."""
    moved = [*SOURCE[:50], *SOURCE[51:700], SOURCE[50], *SOURCE[700:]]

    assert drilled({0: (SOURCE, moved)})[0].kind == "reordered"
