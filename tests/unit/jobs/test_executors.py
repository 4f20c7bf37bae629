"""Rules of a job that has work but no executor."""

from __future__ import annotations

from kafka_digest.runtime.executors import Lack


def test_work_without_an_executor_is_over_after_its_time() -> None:
    """Only an uninterrupted time with work and without any executor counts."""
    now = [0.0]
    lack = Lack(60, lambda: now[0])
    for at, executors, stages in ((0, 0, 0), (10, 0, 1), (69, 0, 1), (69.5, 1, 1), (70, 0, 1), (129, 0, 1)):
        now[0] = at
        lack.note(executors, stages)
        assert not lack.is_over
    now[0] = 130
    lack.note(0, 1)

    assert lack.is_over
