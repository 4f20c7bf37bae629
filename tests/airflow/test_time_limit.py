"""Rules of the time limit on work that a task waits for."""

from __future__ import annotations

import threading

import pytest

from kafka_migration.orchestration.task import time_limit
from kafka_migration.orchestration.task.time_limit import stopping_after


def test_work_within_its_time_is_not_stopped() -> None:
    """Before the limit, or without one, nothing is stopped."""
    stops: list[str] = []
    for limit_s in (60.0, None):
        with stopping_after(limit_s, lambda: stops.append("stop")) as is_over:
            assert not is_over.is_set()

    assert [] == stops


def test_work_that_takes_too_long_is_stopped_until_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work that takes too long is stopped again and again until it ends, as a stop may come too early or fail."""
    monkeypatch.setattr(time_limit, "STOP_AGAIN_S", 0.01)
    stops: list[str] = []
    is_stopped = threading.Event()

    def stop() -> None:
        stops.append("stop")
        if len(stops) < 3:
            raise RuntimeError("not yet")
        is_stopped.set()

    with stopping_after(0.01, stop) as is_over:
        assert is_stopped.wait(30)

    assert is_over.is_set()
    assert len(stops) >= 3
