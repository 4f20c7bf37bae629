"""The digest `partition-position-xxhash64/2`: its definition, and the Spark SQL that computes it.

Input are frames with the columns of Spark's Kafka source, read with headers. A *rank* is the number of a
record among the visible records of its window, from 0: offsets have holes (aborted transactions, markers)
that close up on the target, ranks do not.

- position hash `x = xxhash64(rank, key, key is null, value, value is null, headers' values as JSON, headers,
  timestamp)`; `hashing.py` gives the reasons. The JSON is a list without spaces, of base64 strings or `null`:
  `["YQ==",null]`; it is left out if a record has no headers
- block `b` = the records with `rank div block_records = b`; its digest is (count, sum of the low 32 bits of
  all x, sum of the high 32 bits of all x)
- digest of a window = the sum of all its x, modulo 2^64; it follows from the sums of its blocks of any length

`xxhash64` of several arguments is XXH64 of the bytes of each, seeded with the hash of the one before it, and first with
42. Nulls are skipped; a list is its elements in their order. Booleans (1 or 0) have
four bytes, a rank and a timestamp (in µs) eight, all of them little-endian; text is UTF-8. The digest by key takes
two hashes of a record: of its key `xxhash64(key, key is null)`, and of the rest, the arguments of h from value on.

Two windows are equal if all their blocks are. The rank in the hash makes the order significant, and makes equal records
at two places differ, so that they cannot cancel. There are two halves because 32 bits of up to 2^31 records fit into a
`bigint`, so the sums cannot overflow (Spark 4 raises on overflow). A changed window stays undetected with probability
2^-64.

Not part of the digest: the kind of timestamp (create or append time), record batches, leader epochs, and
bytes of a header's *key* that are not UTF-8 (Spark's source replaces them on both sides).

The rank is the number of a row within its task (`hashing.RANK`). It is the rank of the record only where one task reads
one whole Kafka partition; `blocks.check_blocks` and `kafka_source` guard that.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, functions

from kafka_digest.reading.hashing import BYTES, CONTENT, RANK, RECORD, UNTIMED, hash_of
from kafka_digest.reading.kafka_clusters import with_null_timestamps

DIGEST = "partition-position-xxhash64/2"
_BLOCK_COLUMNS = (
    "count(*) as records",
    "sum(x & 4294967295L) as low_sum",
    "sum(shiftrightunsigned(x, 32)) as high_sum",
    "sum(cast(bytes as bigint)) as key_value_bytes",
    "min(offset) as first_offset",
    "max(offset) as last_offset",
    "count_if(untimed) as untimed",
)


def block_rows(frame: DataFrame, side: str, block_records: int, tasks: int) -> DataFrame:
    """Return one row per block: side, topic, partition, and the fields of `blocks.Block` in their order.

    :param tasks: the number of reading tasks; ranks are counted before partitions are combined, so they stay correct
    """
    ranked = frame.selectExpr("*", f"{RANK} as rank")
    hashed = ranked.selectExpr(
        "topic",
        "partition",
        "offset",
        f"rank div {block_records} as block",
        f"{BYTES} as bytes",
        f"{hash_of(*RECORD, rank='rank')} as x",
        f"{UNTIMED} as untimed",
    )
    blocks = hashed.coalesce(tasks).groupBy("topic", "partition", "block").agg(*map(functions.expr, _BLOCK_COLUMNS))
    return blocks.selectExpr(f"'{side}' as side", "*")


def record_hashes(frame: DataFrame, side: str) -> DataFrame:
    """Return one row per record: side, topic, partition, rank (from 0), offset, and the hashes record, content, key,
    value, headers, timestamp.
    """
    return with_null_timestamps(frame).selectExpr(
        f"'{side}' as side",
        "topic",
        "partition",
        f"{RANK} as rank",
        "offset",
        f"{hash_of(*RECORD)} as record",
        f"{hash_of('key', *CONTENT)} as content",
        *(f"{hash_of(part)} as {part}" for part in RECORD),
    )
