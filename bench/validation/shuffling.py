"""The data that a comparison shuffles between tasks, from Spark's own counters."""

from __future__ import annotations

import json
import urllib.request

from bench.validation.arms import Arms


def shuffled_bytes(arms: Arms) -> int:
    """Return the bytes that one comparison by key writes for its shuffle."""
    before = _written(arms)
    arms.level_2()
    return _written(arms) - before


def _written(arms: Arms) -> int:
    context = arms.session.sparkContext
    address = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages"
    with urllib.request.urlopen(address, timeout=30) as answer:
        return sum(stage["shuffleWriteBytes"] for stage in json.load(answer))
