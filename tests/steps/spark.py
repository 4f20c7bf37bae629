"""What Spark writes in the small world."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kafka_migration.core.validation.validation_contract import KEY_DIGEST, TopicResult, ValidationRequest, empty_result


def validation_result(request: ValidationRequest, equal: bool) -> dict[str, Any]:
    """Return the result of a validation that finds all windows equal, or none."""
    result = empty_result(replace(request, windows=()), "t").to_document()
    side = {"records": 1, "key_value_bytes": 2, "first_offset": 0, "last_offset": 0, "untimed": 0}
    result["partitions"] = [
        {
            "window": window.to_document(),
            "source": side,
            "target": side,
            "equal": equal,
            "blocks": 1,
            "differing_blocks": int(not equal),
            "source_unreadable": None,
            "target_unreadable": None,
            "source_digest": "0a",
            "target_digest": "0a" if equal else "0b",
            "first_difference": None,
            "differences": None,
            "rest_in_order": None,
            "has_bad_record": False,
        }
        for window in request.windows
    ]
    result |= {"source_records": len(request.windows), "target_records": len(request.windows)}
    if request.digest == KEY_DIGEST:
        units = {(window.generation, window.topic) for window in request.windows}
        result["topics"] = [_topic_result(*unit, equal=equal) for unit in units]
    return result


def _topic_result(generation: int, topic: str, *, equal: bool) -> dict[str, Any]:
    found = TopicResult(generation, topic, topic, equal, int(not equal), 1, 1, "00", "00" if equal else "01")
    return found.to_document()
