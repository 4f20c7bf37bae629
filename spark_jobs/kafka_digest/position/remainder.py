"""Reads ranges again without the records that compaction explains, in log order.

The explained offsets are sent to every task as masks of 64 offsets each, so long ranges need little memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pyspark.sql import functions

from kafka_digest.reading.bad_records import Reader
from kafka_digest.reading.windows import SideRange
from kafka_digest.shell.session import small_table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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
