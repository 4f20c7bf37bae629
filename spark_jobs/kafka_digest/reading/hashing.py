"""The Spark SQL that hashes records, for both digests.

`xxhash64` skips nulls and flattens lists of headers: a null key would equal an absent argument, and
`[(a, null), (b, c)]` would equal `[(a, b), (c, null)]`. So null flags are hashed too, and header values are also hashed
as JSON, which separates values from each other and from null. (A lambda that returns their lengths would also work, but
Spark interprets lambdas and splits the generated code at each of them.)
"""

from __future__ import annotations

# A part of a record as arguments of `xxhash64`.
_PARTS = {
    "key": "key, key is null",
    "value": "value, value is null",
    "headers": "if(size(headers) > 0, to_json(headers.value), null), headers",
    "timestamp": "timestamp",
}
PAYLOAD = ("value", "headers", "timestamp")
RECORD = ("key", *PAYLOAD)
# The number of a record within its task. The id begins with the number of the task, from the 34th bit on.
RANK = "(monotonically_increasing_id() - shiftleft(cast(spark_partition_id() as bigint), 33))"

BYTES = "coalesce(octet_length(key), 0) + coalesce(octet_length(value), 0)"


def hash_of(*parts: str, rank: str | None = None) -> str:
    """Return the SQL of the 64-bit hash of parts of a record, with its rank if order counts."""
    ranked = "" if rank is None else f"{rank}, "
    return f"xxhash64({ranked}{', '.join(_PARTS[part] for part in parts)})"
