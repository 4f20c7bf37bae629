"""The Spark SQL that hashes records, for both digests.

`xxhash64` skips nulls and flattens lists of headers: a null key would equal an absent argument, and
`[(a, null), (b, c)]` would equal `[(a, b), (c, null)]`. So null flags are hashed too, and header values are also hashed
as JSON, which separates values from each other and from null. (A lambda that returns their lengths would also work, but
Spark interprets lambdas and splits the generated code at each of them.)

Records of clients before Kafka 0.10 have no timestamp: Spark shows −1 ms. MirrorMaker gives their copies the time of
the copy. So such a record equals its copy whatever the copy's time, and a target record alone does not show whether it
is such a copy. Digests include the timestamps of all records; where they differ and the source has such records,
records are compared one by one, by these rules:

- the hash of a source record without a timestamp is the hash of its *content*, which leaves the timestamp out
- a target record equals a source record if the hash of its record or of its content is the source record's hash
"""

from __future__ import annotations

# A part of a record as arguments of `xxhash64`.
_PARTS = {
    "key": "key, key is null",
    "value": "value, value is null",
    "headers": "if(size(headers) > 0, to_json(headers.value), null), headers",
    "timestamp": "timestamp",
}
CONTENT = ("value", "headers")
PAYLOAD = (*CONTENT, "timestamp")
RECORD = ("key", *PAYLOAD)
# The number of a record within its task. The id begins with the number of the task, from the 34th bit on.
RANK = "(monotonically_increasing_id() - shiftleft(cast(spark_partition_id() as bigint), 33))"

# Whether a record has no timestamp. Null if timestamps are not compared.
UNTIMED = "timestamp = timestamp_millis(-1)"
# The hash of nothing but nulls: of the timestamp of a record that has none.
NOTHING = 42

BYTES = "coalesce(octet_length(key), 0) + coalesce(octet_length(value), 0)"


def hash_of(*parts: str, rank: str | None = None) -> str:
    """Return the SQL of the 64-bit hash of parts of a record, with its rank if order counts."""
    ranked = "" if rank is None else f"{rank}, "
    return f"xxhash64({ranked}{', '.join(_PARTS[part] for part in parts)})"
