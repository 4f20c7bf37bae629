"""How much compaction may explain: of a side at most as many records as its ranges have holes.

`alignment.py` looks at one key and cannot know that. Holes are offsets without a record: what the cleaner removed, and
the markers and aborted records of transactions, which cannot be told from it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from kafka_digest.keys.alignment import COMPACTED, DUPLICATE, UNPROVED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

EXPLAINED = (COMPACTED, UNPROVED)
# The side that lacks the record of a difference: 0 source, 1 target.
_LACKING = "if(source_offset is null, 0, 1)"


class Share(NamedTuple):
    """Differences of a unit that compaction explains: which side deleted, their label, and what it would be else."""

    unit: int
    side: int
    label: str
    otherwise: str


def too_many(counts: Mapping[Share, int], holes: Mapping[tuple[int, int], int]) -> dict[Share, int]:
    """Return how many differences compaction cannot explain, because that many records cannot be gone.

    Duplicates come first: a replay of records that the source has deleted since looks like more that it deleted.

    :param holes: by unit and side
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
    """Return differences of which compaction explains no more than the holes allow; the last ones are not explained.

    :param aligned: is read twice, so it should be kept
    """
    from pyspark.sql import Window, functions

    from kafka_digest.keys.align_tasks import PLACES
    from kafka_digest.shell.session import small_table

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
