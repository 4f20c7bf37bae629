"""Waiting on conditions, the only way in which tests wait."""

from __future__ import annotations

import time
from collections.abc import Callable

INTERVAL_S = 0.2
# A question to Airflow costs it much more than one to the system.
ASKING_AIRFLOW_S = 1.0
# A bound for what takes a moment on a quiet machine; a busy one may take long.
TIMEOUT_S = 180.0


def wait_until(
    condition: Callable[[], object],
    timeout_s: float = TIMEOUT_S,
    what: str = "the condition",
    every_s: float = INTERVAL_S,
) -> None:
    """Return as soon as the condition is true; `AssertionError` when it is not within the time."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not come true within {timeout_s:.0f} s"
        time.sleep(every_s)
