"""Examines the buckets that differ: reads their keys again, and labels every difference of every key.

The second read only hashes payloads of the keys in question, sorts them by key, and aligns key by key (`alignment.py`).
Records that are missing on one side and extra on the other are then compared across keys and partitions, because a
record with an altered key or another partition belongs to another key there.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial, reduce

from pyspark.sql import Column, DataFrame, SparkSession, Window, functions

from kafka_digest.keys.align_tasks import (
    DIFFERENCES,
    NO_CIRCUMSTANCES,
    PLACES,
    SOURCE_BEFORE,
    Circumstances,
    differences,
)
from kafka_digest.keys.alignment import ALTERED, EXTRA, FIELDS, MISSING, MOVED
from kafka_digest.keys.frames import KeyedSide, key_hash
from kafka_digest.keys.key_digest import BUCKET_BITS, NULL_BUCKET
from kafka_digest.reading.hashing import CONTENT, NOTHING, PAYLOAD, hash_of
from kafka_digest.reading.kafka_clusters import with_null_timestamps
from kafka_digest.runtime.session import small_table

# The parts in which the two records of a group differ; two records without a key have equal keys, and a timestamp that
# the source lacks is not compared.
_NOT_COMPARED = {"key": "every(keyless)", "timestamp": f"bool_or(label = '{MISSING}' and timestamp = {NOTHING})"}
_DIFFERING = "filter(array({}), name -> name is not null)".format(
    ", ".join(
        f"if(min({name}) <> max({name}) and not {_NOT_COMPARED.get(name, 'false')}, '{name}', null)"
        for name in ("key", *FIELDS)
    )
)


@dataclass(frozen=True)
class Suspects:
    """The buckets to examine, and where their records may be.

    :param topics: the number of the topic by unit; a record may have moved within a topic
    :param untimed: units of which the source has records without a timestamp
    """

    buckets: Collection[int]
    topics: dict[int, int]
    circumstances: Circumstances = NO_CIRCUMSTANCES
    untimed: Collection[int] = ()


def aligned_keys(
    session: SparkSession,
    sides: Sequence[KeyedSide],
    suspects: Suspects,
    *,
    null_keys_have_order: bool,
    tasks: int,
) -> DataFrame:
    """Return the differences of the keys in the suspect buckets: `align_tasks.DIFFERENCES` with the topic's number.

    :param sides: source and target, limited to the units in question, and other data that explains differences
    """
    reader = partial(_hashed, session, suspects=suspects)
    hashed = [reader(side, null_keys_have_order=null_keys_have_order) for side in sides]
    rows = reduce(DataFrame.unionByName, hashed).repartition(tasks, "unit", "key")
    in_order = rows.sortWithinPartitions("unit", "key", "side", "partition", "offset")
    found = in_order.mapInArrow(partial(differences, circumstances=suspects.circumstances), DIFFERENCES)
    topics = small_table(session, suspects.topics.items(), "unit int, topic int")
    return found.join(functions.broadcast(topics), "unit")


def _hashed(session: SparkSession, side: KeyedSide, suspects: Suspects, *, null_keys_have_order: bool) -> DataFrame:
    places = [(*_place(name), unit) for name, unit in side.units.items()]
    units = functions.broadcast(small_table(session, places, "topic string, partition int, unit int"))
    key = key_hash(null_keys_have_order=null_keys_have_order)
    keyed = with_null_timestamps(side.frame).withColumn("key_hash", functions.expr(key))
    keyless = "false" if null_keys_have_order else "key is null"
    wanted = functions.broadcast(small_table(session, ([b] for b in suspects.buckets), "bucket bigint"))
    keyed = keyed.withColumn("bucket", functions.expr(_bucket("key_hash", keyless)))
    # Select the records first, then hash them: most records are not needed.
    rows = keyed.join(wanted, "bucket", "left_semi").join(units, ["topic", "partition"])
    record, content = hash_of(*PAYLOAD), hash_of(*CONTENT)
    is_untimed = f"unit in ({', '.join(map(str, suspects.untimed)) or 'null'})"
    hashed = rows.selectExpr(
        "unit",
        # Records without a key have no order: each is compared with those that are identical, or may be its copies. It
        # is hashed twice: a record of nothing but a value has the hash of a key with the same bytes.
        f"if({keyless}, xxhash64(if({is_untimed}, {content}, {record})), key_hash) as key",
        f"{side.number} as side",
        "partition",
        "offset",
        f"{record} as record",
        f"{content} as content",
        *(f"{hash_of(name)} as {name}" for name in FIELDS),
        # Records that compaction may remove without keeping a newer one; it keeps no record without a key.
        "value is null or key is null as tombstone",
        f"{keyless} as keyless",
    )
    return hashed if side.number < SOURCE_BEFORE else _newest(hashed)


def _newest(rows: DataFrame) -> DataFrame:
    """Return the newest record of each key, as a tombstone if any of them is one."""
    row = functions.max_by(functions.struct(*rows.drop("tombstone").columns), "offset").alias("row")
    found = rows.groupBy("unit", "key").agg(row, functions.bool_or("tombstone").alias("tombstone"))
    return found.select("row.*", "tombstone")


def _bucket(key: str, keyless: str) -> str:
    """Return the SQL of `key_digest.buckets_of`, including the bucket of records without a key."""
    return f"if({keyless}, {NULL_BUCKET}L, shiftrightunsigned({key}, {64 - BUCKET_BITS}))"


def _place(name: str) -> tuple[str, int]:
    topic, _, partition = name.rpartition("/")
    return topic, int(partition)


def explained_buckets(aligned: DataFrame) -> dict[int, set[int]]:
    """Return, per unit, the buckets with a known difference."""
    found: dict[int, set[int]] = {}
    for unit, number in aligned.selectExpr("unit", f"{_bucket('key', 'keyless')} as bucket").distinct().collect():
        found.setdefault(unit, set()).add(number)
    return found


def reconciled(found: DataFrame) -> DataFrame:
    """Pair records that are missing in one place and extra in another: they were moved or altered.

    A record without a key is only paired by its content: all of it if the key was lost or added, else its value, else
    its timestamp.

    :param found: is read several times, so it should be cached
    """
    labels = {row["label"] for row in found.select("label").distinct().collect()}
    if not {MISSING, EXTRA} <= labels:
        return found
    keyless = functions.col("keyless")
    for label, by, among in (
        (MOVED, ["topic", "key", "record"], ~keyless),
        (ALTERED, ["topic", "record"], functions.lit(True)),
        (ALTERED, ["topic", "value"], keyless),
        (ALTERED, ["topic", "timestamp"], keyless),
    ):
        found = _paired(found, label, by, among & functions.col("label").isin(MISSING, EXTRA))
    return found


def _paired(found: DataFrame, label: str, by: Sequence[str], among: Column) -> DataFrame:
    """Merge each missing record with an extra record that is equal in these columns, first with first."""
    numbered = found.where(among).withColumn(
        "number", functions.row_number().over(Window.partitionBy("label", *by).orderBy(*PLACES))
    )
    is_pair, of_source = functions.expr("count(*) = 2"), functions.col("label") == MISSING
    fields = functions.when(is_pair, functions.expr(_DIFFERING)).otherwise(functions.max_by("fields", of_source))
    single = [name for name in found.columns if name not in {*by, *PLACES, "label", "fields"}]
    pairs = numbered.groupBy(*by, "number").agg(
        *(functions.max_by(name, of_source).alias(name) for name in single),
        functions.when(is_pair, label).otherwise(functions.max("label")).alias("label"),
        fields.alias("fields"),
        *(functions.max(name).alias(name) for name in PLACES),
    )
    return found.where(~among).unionByName(pairs.drop("number"))
