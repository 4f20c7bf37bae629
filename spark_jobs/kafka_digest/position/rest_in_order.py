"""Reads ranges again without some records, in log order: those that compaction explains, or those after the first ones.

The explained offsets are sent to every task as masks of 64 offsets each, so long ranges need little memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame, functions

from kafka_digest.reading.hashing import RANK
from kafka_digest.reading.isolation import Reader
from kafka_digest.reading.read_windows import SideRange
from kafka_digest.runtime.session import small_table

# About 100 MB in the driver and in each executor.
MAX_MASKS = 2_000_000
_MASK_BITS = 64


def masks_of(explained: DataFrame, side: str) -> DataFrame:
    """Return the offsets of a side's records among these differences as masks, by unit and slot."""
    offset = f"{side}_offset"
    bits = explained.where(f"{offset} is not null").selectExpr(
        "unit", f"{offset} div {_MASK_BITS} as slot", f"shiftleft(1L, cast({offset} % {_MASK_BITS} as int)) as bit"
    )
    return bits.groupBy("unit", "slot").agg(functions.expr("bit_or(bit) as mask"))


def without_explained(
    read: Reader, masks: Mapping[str, DataFrame], units: Mapping[tuple[str, str, int], int]
) -> Reader:
    """Return a reader that leaves out the masked offsets and keeps the order of each partition.

    :param units: the unit by side, topic and partition
    """

    def reader(side: str, ranges: Sequence[SideRange]) -> DataFrame | None:
        frame = read(side, ranges)
        if frame is None:
            return None
        places = [(*place, unit) for (of_side, *place), unit in units.items() if of_side == side]
        named = small_table(frame.sparkSession, places, "topic string, partition int, unit int")
        slotted = frame.join(functions.broadcast(named), ["topic", "partition"]).withColumn(
            "slot", functions.expr(f"offset div {_MASK_BITS}")
        )
        masked = slotted.join(functions.broadcast(masks[side]), ["unit", "slot"], "left")
        bit = f"shiftleft(1L, cast(offset % {_MASK_BITS} as int))"
        return masked.where(f"mask is null or mask & {bit} = 0").select(frame.columns)

    return reader


def first_records(read: Reader, limits: Mapping[tuple[str, int], int]) -> Reader:
    """Return a reader that reads at most the first records of each source partition, by topic and partition."""

    def reader(side: str, ranges: Sequence[SideRange]) -> DataFrame | None:
        frame = read(side, ranges)
        if frame is None or side != "source":
            return frame
        rows = [(*place, limit) for place, limit in limits.items()]
        limited = small_table(frame.sparkSession, rows, "topic string, partition int, most bigint")
        # Ranks are counted before anything is joined: then they are those of the log.
        ranked = frame.withColumn("rank", functions.expr(RANK))
        joined = ranked.join(functions.broadcast(limited), ["topic", "partition"])
        return joined.where("rank < most").select(frame.columns)

    return reader
