"""Rules of how much compaction may explain."""

from __future__ import annotations

import pytest

from kafka_digest.keys.alignment import COMPACTED, DUPLICATE, EXTRA, MISSING, UNPROVED
from kafka_digest.keys.compaction import Share, too_many

LOST = Share(0, 1, COMPACTED, MISSING)
AGAIN, FOREIGN = Share(0, 0, COMPACTED, DUPLICATE), Share(0, 0, COMPACTED, EXTRA)


@pytest.mark.parametrize(
    ("counts", "holes", "expected"),
    [
        pytest.param({LOST: 3}, {(0, 1): 3}, {}, id="as many as holes"),
        pytest.param({LOST: 3}, {(0, 1): 2}, {LOST: 1}, id="one more than holes"),
        pytest.param({LOST: 3}, {(0, 0): 9, (1, 1): 9}, {LOST: 3}, id="holes of the other side, and of another unit"),
        pytest.param({AGAIN: 2, FOREIGN: 2}, {(0, 0): 2}, {AGAIN: 2}, id="duplicates first"),
        pytest.param({AGAIN: 2, FOREIGN: 2}, {(0, 0): 1}, {AGAIN: 2, FOREIGN: 1}, id="then the others"),
        pytest.param(
            {LOST: 1, LOST._replace(label=UNPROVED): 2},
            {(0, 1): 1},
            {LOST: 1, LOST._replace(label=UNPROVED): 1},
            id="what is unproved needs holes too",
        ),
    ],
)
def test_no_more_is_explained_than_can_be_gone(
    counts: dict[Share, int], holes: dict[tuple[int, int], int], expected: dict[Share, int]
) -> None:
    """Regression: records lost from, or sent twice to, a log without holes counted as compacted."""
    assert expected == too_many(counts, holes)
