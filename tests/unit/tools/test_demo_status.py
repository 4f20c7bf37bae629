"""Rules of what the demo shows of a run."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from sandbox.airflow_api import DagRun, TaskState, _log_line, _sorted
from sandbox.demo.display import PlainDisplay, draw
from sandbox.demo.status import RunStatus, new_lines, newest_progress, task_words


def _status(elapsed_s: float, watch: str | None, progress: str = "", sent_records: int | None = None) -> RunStatus:
    tasks = (TaskState("plan", "success", 1, 2.0), TaskState("watch_lag", watch, 1 if watch else 0, 4.4))
    return RunStatus(DagRun("dag", "run", "running", tasks), elapsed_s, progress, sent_records)


def test_newest_progress_is_the_last_line_that_is_one() -> None:
    """Time stamps before it and other lines after it are left out; a log without one gives nothing."""
    log = "t info Copy: 1/9\nt info Copy: 5/9 55.6%\nt info something else"

    assert newest_progress(log) == "Copy: 5/9 55.6%"
    assert newest_progress(f"{log}\nt info State: waiting, x; Copy: 5/9") == "State: waiting, x; Copy: 5/9"
    assert newest_progress("t info something else") == ""


def test_first_status_tells_what_has_begun() -> None:
    """Tasks that only wait get no line."""
    assert new_lines(None, _status(3, None)) == ["   3 s  plan             success after 2 s"]


def test_only_changes_are_told() -> None:
    """A task gets a line when its state changes, progress when its text does."""
    before, now = _status(3, None), _status(5, "deferred", "Copy: 1/9", 300)

    assert new_lines(before, now) == [
        "   5 s  watch_lag        deferred for 4 s",
        "   5 s  Copy: 1/9; Sent meanwhile: 300",
    ]
    assert new_lines(now, _status(6, "deferred", "Copy: 1/9", 400)) == []


@pytest.mark.parametrize(
    ("task", "words"),
    [
        (TaskState("a", None, 0, None), "waiting"),
        (TaskState("a", "queued", 1, None), "queued"),
        (TaskState("a", "running", 1, 3.2), "running for 3 s"),
        (TaskState("a", "failed", 1, 3.2), "failed after 3 s"),
    ],
)
def test_states_have_words(task: TaskState, words: str) -> None:
    """A running task says how long it runs, an ended one how long it took."""
    assert task_words(task) == words


def test_plain_lines_hold_back_frequent_progress(capsys: pytest.CaptureFixture[str]) -> None:
    """Outside a terminal progress comes every few seconds only, task changes at once."""
    with PlainDisplay().run_view() as view:
        for elapsed_s, watch, progress in ((0, "deferred", "Copy: 1"), (2, "deferred", "Copy: 2"), (6, "success", "")):
            view.show(_status(elapsed_s, watch, progress or "Copy: 3"))

    printed = capsys.readouterr().out

    assert all(text in printed for text in ("Copy: 1", "Copy: 3", "watch_lag        success"))
    assert "Copy: 2" not in printed


def test_terminal_shows_tasks_progress_and_traffic() -> None:
    """The drawn status has every task, the progress line, and the records that were sent meanwhile."""
    screen = io.StringIO()
    Console(file=screen, width=100).print(draw(_status(61, "deferred", "Copy: 1/9", 1_234)))
    drawn = screen.getvalue()

    assert all(text in drawn for text in ("plan", "deferred for 4 s", "Copy: 1/9", "1,234 records sent", "61 s"))


def test_tasks_come_in_the_order_of_the_graph() -> None:
    """Each task comes after its upstream tasks, whatever the order of the answer."""
    tasks = [
        {"task_id": "finish", "downstream_task_ids": []},
        {"task_id": "stop", "downstream_task_ids": ["finish"]},
        {"task_id": "start", "downstream_task_ids": ["stop", "finish"]},
    ]

    assert _sorted(tasks) == ("start", "stop", "finish")


def test_log_events_become_lines() -> None:
    """A structured event becomes `time level text`, text stays text, and missing parts are left out."""
    assert _log_line({"timestamp": "12:00", "level": "info", "event": "Copy: 1"}) == "12:00 info Copy: 1"
    assert _log_line({"event": "::group::x", "sources": []}) == "::group::x"
    assert _log_line("as it is") == "as it is"
