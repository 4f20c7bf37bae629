"""Arrow schemas made from Spark's column lists, so that Spark and the Python tasks use the same schema."""

from __future__ import annotations

import pyarrow as pa

_TYPES = {
    "int": pa.int32(),
    "bigint": pa.int64(),
    "boolean": pa.bool_(),
    "string": pa.string(),
    "array<string>": pa.list_(pa.string()),
}


def schema_of(columns: str) -> pa.Schema:
    """Return the schema of columns like `unit int, key bigint`. Raises `KeyError` for a type that no task uses."""
    return pa.schema([(name, _TYPES[kind]) for name, kind in (column.split() for column in columns.split(", "))])
