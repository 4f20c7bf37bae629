"""Which comparisons a run makes that was asked for a sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256

from kafka_migration.core.validation import Window

Comparison = tuple[str, int | None]


def sampled(windows: Sequence[Window], percent: int, *, seed: str, by_key: bool) -> tuple[Window, ...]:
    """Return about so many in a hundred of the windows: whole partitions of each topic, by key whole topics.

    What is chosen depends on the seed and the names alone, so that a run which is repeated reads the same. At least one
    partition of each topic is, by key at least one topic.
    """
    read = [window for window in windows if not window.is_empty]
    draws = {comparison: _draw(seed, comparison) for comparison in {_comparison(w, by_key=by_key) for w in read}}
    luckiest: dict[str, Comparison] = {}
    for comparison in sorted(draws, key=lambda one: (draws[one], one), reverse=True):
        luckiest["" if by_key else comparison[0]] = comparison
    chosen = {one for one, draw in draws.items() if draw % 100 < percent} | set(luckiest.values())
    # A comparison without anything to read was not drawn, and costs nothing.
    return tuple(w for w in windows if (one := _comparison(w, by_key=by_key)) in chosen or one not in draws)


def left_out(windows: Sequence[Window], chosen: Sequence[Window]) -> dict[str, int]:
    """Return per topic how many windows with offsets were not chosen."""
    rest = Counter(w.topic for w in windows if not w.is_empty)
    rest.subtract(Counter(w.topic for w in chosen if not w.is_empty))
    return {topic: count for topic, count in sorted(rest.items()) if count}


def _comparison(window: Window, *, by_key: bool) -> Comparison:
    return window.topic, None if by_key else window.partition


def _draw(seed: str, comparison: Comparison) -> int:
    return int.from_bytes(sha256(f"{seed}/{comparison}".encode()).digest()[:8])
