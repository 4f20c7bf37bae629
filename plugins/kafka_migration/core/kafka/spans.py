"""Spans of offsets: `[start, end)` of one partition on one cluster, with union and difference."""

from __future__ import annotations

from collections.abc import Iterable

Span = tuple[int, int]


def joined(spans: Iterable[Span]) -> list[Span]:
    """Return the same offsets in as few spans as possible, ascending; empty spans are left out."""
    whole: list[Span] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if whole and start <= whole[-1][1]:
            whole[-1] = (whole[-1][0], max(end, whole[-1][1]))
        else:
            whole.append((start, end))
    return whole


def without(spans: Iterable[Span], others: Iterable[Span]) -> list[Span]:
    """Return the offsets of the spans that are in none of the others, ascending."""
    left = joined(spans)
    for start, end in joined(others):
        pieces = (piece for low, high in left for piece in ((low, min(high, start)), (max(low, end), high)))
        left = [piece for piece in pieces if piece[0] < piece[1]]
    return left
