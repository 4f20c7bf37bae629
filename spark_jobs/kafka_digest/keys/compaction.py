"""Limits what compaction may explain: at most as many records of a side as its ranges have offsets without a record.

`alignment.py` sees only one key and cannot know the limit. Offsets without a record come from the cleaner, but also
from transaction markers and aborted records, which look the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from pyspark.sql import DataFrame, Window, functions

from kafka_digest.keys.align_tasks import PLACES
from kafka_digest.keys.alignment import COMPACTED, DUPLICATE, UNPROVED
from kafka_digest.runtime.session import small_table

EXPLAINED = (COMPACTED, UNPROVED)
# The side that lacks the record of a difference: 0 source, 1 target.
_LACKING = "if(source_offset is null, 0, 1)"


class Share(NamedTuple):
    """Differences of a unit that compaction explains: the side that deleted, their label and their label otherwise."""

    unit: int
    side: int
    label: str
    otherwise: str


def too_many(counts: Mapping[Share, int], holes: Mapping[tuple[int, int], int]) -> dict[Share, int]:
    """Return how many differences compaction cannot explain, because more records differ than can be deleted.

    Duplicates come first: a replay of records that the source has since deleted looks like further deletions.

    :param holes: the offsets without a record, by unit and side
    """
    excess: defaultdict[tuple[int, int], int] = defaultdict(int)
    for share, count in counts.items():
        excess[share.unit, share.side] += count
    excess.update({place: count - holes.get(place, 0) for place, count in excess.items()})
    found: dict[Share, int] = {}
    for share, count in sorted(counts.items(), key=lambda item: (item[0].otherwise != DUPLICATE, item[0])):
        taken = min(count, max(excess[share.unit, share.side], 0))
        excess[share.unit, share.side] -= taken
        if taken:
            found[share] = taken
    return found


def within_holes(aligned: DataFrame, holes: Mapping[tuple[int, int], int]) -> DataFrame:
    """Return the differences, with no more explained by compaction than the limit; the last ones stay unexplained.

    :param aligned: is read twice, so it should be cached
    """
    by = list(Share._fields)
    numbered = aligned.withColumn("side", functions.expr(_LACKING))
    rows = numbered.where(functions.col("label").isin(*EXPLAINED)).groupBy(*by).count().collect()
    excess = too_many({Share(*row[:4]): row[4] for row in rows}, holes)
    if not excess:
        return aligned
    limits = small_table(
        aligned.sparkSession,
        [(*share, count) for share, count in excess.items()],
        "unit int, side int, label string, otherwise string, excess bigint",
    )
    number = functions.row_number().over(Window.partitionBy(*by).orderBy(*(functions.desc(name) for name in PLACES)))
    is_too_much = number <= functions.col("excess")
    label = functions.when(is_too_much, functions.col("otherwise")).otherwise(functions.col("label"))
    return numbered.join(functions.broadcast(limits), by, "left").withColumn("label", label).select(aligned.columns)
