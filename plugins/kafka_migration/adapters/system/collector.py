"""Python's collector of reference cycles, which walks through all objects of the process."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock


@dataclass(slots=True)
class _Pause:
    """How many bodies run without collections, and whether collections ran before the first of them."""

    lock: Lock = field(default_factory=Lock)
    bodies: int = 0
    was_enabled: bool = False


_PAUSE = _Pause()


@contextmanager
def without_collections() -> Iterator[None]:
    """Let no collection run in the body, which makes many objects at once and no cycles.

    Python collects after a number of new objects. In a process of Airflow, which has some 500,000, one collection takes
    longer than reading the names of 20,000 topics. Reference counts still free what is no longer used. Bodies in
    several threads share one pause, which the last of them ends.
    """
    with _PAUSE.lock:
        if not _PAUSE.bodies:
            _PAUSE.was_enabled = gc.isenabled()
            gc.disable()
        _PAUSE.bodies += 1
    try:
        yield
    finally:
        with _PAUSE.lock:
            _PAUSE.bodies -= 1
            if not _PAUSE.bodies and _PAUSE.was_enabled:
                gc.enable()
