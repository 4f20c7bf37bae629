"""What of a record is hashed, and how: the Spark SQL that both digests are made of.

`xxhash64` skips nulls and folds the headers of a list flat: a null key would equal an absent argument, and
`[(a, null), (b, c)]` would equal `[(a, b), (c, null)]`. So null flags are hashed too, and the values of headers also as
JSON, which tells each from the next and null from any value. (A lambda that gives their lengths says as much, but Spark
interprets lambdas, and cuts the code that it generates for the whole pass in two at each.)
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
_ROW_NUMBER_MASK = (1 << 33) - 1
RANK = f"monotonically_increasing_id() & {_ROW_NUMBER_MASK}L"

BYTES = "coalesce(octet_length(key), 0) + coalesce(octet_length(value), 0)"


def hash_of(*parts: str, rank: str | None = None) -> str:
    """Return the SQL of the 64-bit hash of parts of a record, with its rank where order counts."""
    ranked = "" if rank is None else f"{rank}, "
    return f"xxhash64({ranked}{', '.join(_PARTS[part] for part in parts)})"
