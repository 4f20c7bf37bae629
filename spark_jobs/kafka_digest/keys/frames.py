"""The per-key digest in Spark: the JVM hashes, Python aggregates inside the task, and one small shuffle compares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce

from pyspark.sql import DataFrame

from kafka_digest.keys.key_digest import NULL_KEY
from kafka_digest.keys.key_tasks import COMPARED, PARTIAL, compare, roll_up
from kafka_digest.reading.hashing import BYTES, PAYLOAD, RANK, UNTIMED, hash_of

# The keys of one range that a task keeps, 24 bytes each: about 100 MB, twice that while it grows.
MAX_KEYS = 4_000_000


@dataclass(frozen=True)
class KeyedSide:
    """One side of a comparison: its records from Spark's Kafka source, and the unit of each partition.

    :param number: 0 source, 1 target; when differences are examined also another number of `align_tasks`
    :param units: the number of the unit by `topic/partition`
    """

    number: int
    frame: DataFrame
    units: Mapping[str, int]


def key_hash(*, null_keys_have_order: bool) -> str:
    """Return the SQL of a record's key hash."""
    hashed = hash_of("key")
    return hashed if null_keys_have_order else f"if(key is null, {NULL_KEY}L, {hashed})"


def record_rows(frame: DataFrame, *, null_keys_have_order: bool) -> DataFrame:
    """Return the columns that tasks send to Python, `key_tasks.RECORDS`, in log order.

    Only the first record of each partition has its name: a string per record would cost more than the hashes.
    """
    return frame.selectExpr(
        f"{key_hash(null_keys_have_order=null_keys_have_order)} as key",
        f"{hash_of(*PAYLOAD)} as record",
        "offset",
        f"{BYTES} as bytes",
        f"if({RANK} = 0, concat(topic, '/', partition), null) as place",
        f"coalesce({UNTIMED}, false) as untimed",
    )


def compared_rows(
    sides: Sequence[KeyedSide],
    *,
    null_keys_have_order: bool,
    tasks: int,
    max_keys: int = MAX_KEYS,
) -> DataFrame:
    """Return the rows `key_tasks.COMPARED` of both sides, read in one Spark job.

    :param null_keys_have_order: whether records without a key are compared in log order, as one key, or without order
    :param tasks: the number of tasks that read each side, and that compare. A Python task for each of a thousand nearly
        empty partitions would cost more than all their records. Ranks are counted before, so they stay correct
    """
    partial_rows = [
        record_rows(side.frame, null_keys_have_order=null_keys_have_order)
        .coalesce(tasks)
        .mapInArrow(partial(roll_up, units=dict(side.units), max_keys=max_keys), PARTIAL)
        .selectExpr("*", f"{side.number} as side")
        for side in sides
    ]
    rows = reduce(DataFrame.unionByName, partial_rows).repartition(tasks, "unit", "bucket")
    in_order = rows.sortWithinPartitions("unit", "kind", "side", "partition", "key", "first_offset")
    return in_order.mapInArrow(compare, COMPARED)
