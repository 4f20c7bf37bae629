"""Rules of what may be asked about groups' offsets: nothing is said of what cannot be known."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kafka_digest.reading.read_windows import SideRange
from kafka_digest.runtime.job_errors import JobError
from kafka_digest.translate.vectors import TopicCopy

RANGE = SideRange("orders", 0, 2, 9)


@pytest.mark.parametrize(
    ("source", "offset", "found"),
    [
        ([RANGE], 1, r"offset 1 is outside \[2, 9\]"),
        ([RANGE], 10, r"offset 10 is outside \[2, 9\]"),
        ([RANGE.none_of_it("deleted")], 2, "source partition 0: deleted"),
        ([RANGE, RANGE], 2, "requested twice"),
        ([RANGE, SideRange("orders", 1, 0, 1)], 2, r"must name the source partitions \[0, 1\]"),
    ],
)
def test_what_cannot_be_known_is_refused(source: Sequence[SideRange], offset: int, found: str) -> None:
    """A commit outside of the ranges, and a range that is unreadable or requested twice, stop the job."""
    ranges = {"source": source, "target": [RANGE]}
    with pytest.raises(JobError, match=found):
        TopicCopy("orders", "orders", by_key=True, is_compacted=False, ranges=ranges, vectors=[{0: offset}])


def test_compacted_copies_have_the_order_of_keys() -> None:
    """What compaction leaves of a partition has holes that only the keys explain."""
    with pytest.raises(JobError, match="by key"):
        TopicCopy("orders", "orders", by_key=False, is_compacted=True, ranges={"source": [], "target": []}, vectors=[])
