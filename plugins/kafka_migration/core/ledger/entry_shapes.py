"""The expected types of the ledger's fields; a value of another type is reported instead of being misread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# The form of a field: a type, `[form]` for a list, `{"of": form}` for an object with such values, or a tuple of
# alternatives.
_OFFSETS = {"of": {"of": int}}
_RUN = {"run": str, "at": str}
SHAPES: Mapping[str, Mapping[str, Any]] = {
    "reserved": {**_RUN, "taken_over_from": (str, None)},
    "topics-created": {"topics": {"of": {"of": object}}},
    "settings-restored": {"topics": [str]},
    "settings-frozen": {"topics": [str]},
    "generation-started": {
        **_RUN,
        "generation": int,
        "mirror_positions": _OFFSETS,
        "target_end_offsets": _OFFSETS,
        "source_topic_ids": {"of": str},
    },
    "generation-stopped": {
        **_RUN,
        "generation": int,
        "graceful": bool,
        "exit_code": (int, None),
        "reason": str,
        "mirror_positions": _OFFSETS,
        "target_end_offsets": _OFFSETS,
        "ahead_records": _OFFSETS,
        "gone": {"of": [str]},
    },
    "judged": {
        **_RUN,
        "whole": bool,
        "generations": [int],
        "topics": {"of": str},
        "source_records": {"of": int},
        "digest": (str, None),
    },
    "cut-over": {
        **_RUN,
        "groups": [str],
        "topics": [str],
        "partly": bool,
        "remaining": [str],
        "left": {"of": [str]},
        "evidence": {"of": str},
    },
    "rolled-back": {
        **_RUN,
        "mode": str,
        "topics": [str],
        "groups": [str],
        "left": [str],
        "target_only": {"of": int},
    },
    "bounds-resolved": {**_RUN, "bounds": {"of": _OFFSETS}, "source_log_start": _OFFSETS},
    "interval-answered": {**_RUN, "start": str, "end": str, "topics": {"of": {"of": object}}},
}


def require_shape(entry: Mapping[str, Any]) -> None:
    """Raise `TypeError` for a field of a wrong type, and `KeyError` for an unknown kind."""
    for name, shape in SHAPES[entry["kind"]].items():
        if name in entry and not _fits(entry[name], shape):
            raise TypeError(f"the field {name} of an entry of kind {entry['kind']} has the wrong type")


def _fits(value: Any, shape: Any) -> bool:
    if shape is None or shape is object:
        return shape is object or value is None
    if isinstance(shape, tuple):
        return any(_fits(value, each) for each in shape)
    if isinstance(shape, list):
        return isinstance(value, list) and all(_fits(each, shape[0]) for each in value)
    if isinstance(shape, dict):
        return isinstance(value, dict) and all(_fits(each, shape["of"]) for each in value.values())
    # In Python, booleans are integers.
    return isinstance(value, shape) and (shape is bool or not isinstance(value, bool))
