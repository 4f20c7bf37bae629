"""How long the calls of this thread may take together, so that a poll ends in time whatever is silent."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# What a call gets where the time is over already: enough for one that answers at once.
SHORTEST_S = 0.5
_end_s: ContextVar[float | None] = ContextVar("end_s", default=None)


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Let the calls made in this block take this long together; a limit around it holds as well."""
    end_s, outer = time.monotonic() + seconds, _end_s.get()
    token = _end_s.set(end_s if outer is None else min(end_s, outer))
    try:
        yield
    finally:
        _end_s.reset(token)


@contextmanager
def no_limit() -> Iterator[None]:
    """Give the calls made in this block their usual time, whatever limit is around it."""
    token = _end_s.set(None)
    try:
        yield
    finally:
        _end_s.reset(token)


def time_left(usual_s: float) -> float:
    """Return how long one call may take: its usual time-out, or what is left where that is less."""
    end_s = _end_s.get()
    return usual_s if end_s is None else min(usual_s, max(SHORTEST_S, end_s - time.monotonic()))
