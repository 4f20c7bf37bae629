"""Rules of a job that ends with its task: it sees the task's process, and mistakes no other one for it."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_digest.runtime import waiting
from kafka_digest.runtime.waiting import Ending, task_process
from kafka_migration.adapters.system.this_machine import own_process
from tests.waiting import wait_until


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at the task without a pause."""
    monkeypatch.setattr(waiting, "EVERY_S", 0.01)


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set once the job would have ended its process."""
    event = threading.Event()
    monkeypatch.setattr("kafka_digest.runtime.waiting.os._exit", lambda _: event.set())
    return event


def test_job_outlives_no_killed_task(ended: threading.Event) -> None:
    """A job whose task was killed without a word cancels its work, also while the dead process is not collected."""
    cancelled = threading.Event()
    session: Any = SimpleNamespace(sparkContext=SimpleNamespace(cancelAllJobs=cancelled.set))
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as task:
        start = Path(f"/proc/{task.pid}/stat").read_text().rpartition(")")[2].split()[19]
        over = task_process(f"{task.pid}:{start}")
        assert "" == over()
        with Ending(over, session).watched():
            task.kill()
            assert cancelled.wait(60)

    assert not ended.is_set()


def test_driver_without_a_session_is_ended(ended: threading.Event) -> None:
    """A driver that still waits for a cluster has no work to cancel, so its process ends."""
    with Ending(lambda: "gone").watched():
        assert ended.wait(60)


def test_waiting_task_is_left_alone(ended: threading.Event) -> None:
    """While the task's process runs, nothing ends."""
    asked = []
    over = task_process(own_process())
    with Ending(lambda: asked.append(over()) or "").watched():  # type: ignore[func-returns-value]
        wait_until(lambda: len(asked) > 3)

    assert {""} == set(asked)
    assert not ended.is_set()


@pytest.mark.parametrize("identity", ["", "0:0", "999999999:1", "1:0", "word"])
def test_process_that_was_never_seen_ends_nothing(identity: str) -> None:
    """A job that runs on another machine than its task, or by hand, waits for no process."""
    assert "" == task_process(identity)()


def test_another_process_with_the_same_number_is_not_the_task() -> None:
    """The start tells a process from a later one that got its number."""
    pid, _, start = own_process().partition(":")

    assert waiting._runs(pid, start)
    assert not waiting._runs(pid, str(int(start) + 1))
