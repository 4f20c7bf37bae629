"""The status of a run, and its plain-text form. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.airflow_api import DagRun, TaskState

PROGRESS_MARK = "Copy: "
# States in which nothing has happened to a task yet.
_WAITING = frozenset({None, "none", "scheduled", "queued"})


@dataclass(frozen=True, slots=True)
class RunStatus:
    """A run at a moment: MirrorMaker's newest progress line, and records sent by the live traffic if there is any."""

    run: DagRun
    elapsed_s: float
    progress: str = ""
    sent_records: int | None = None


def newest_progress(log: str) -> str:
    """Return the last progress line in a task log without its log prefix; empty if there is none."""
    lines = (line for line in reversed(log.splitlines()) if PROGRESS_MARK in line)
    line = next(lines, "")
    # A line without a known lag begins with its reason.
    start = line.find("State: ") if "State: " in line else len(line)
    return line[min(start, line.index(PROGRESS_MARK)) :].strip() if line else ""


def task_words(task: TaskState) -> str:
    """Return a task's state as text, for example `success after 4 s`."""
    if task.state in _WAITING or task.duration_s is None:
        return task.state or "waiting"
    verb = "for" if task.state in {"running", "deferred"} else "after"
    return f"{task.state} {verb} {task.duration_s:.0f} s"


def new_lines(before: RunStatus | None, now: RunStatus) -> list[str]:
    """Return a line for each task whose state has changed, and one when the progress has."""
    known = {task.task_id: task.state for task in before.run.tasks} if before else {}
    lines = [
        f"{now.elapsed_s:4.0f} s  {task.task_id:<16} {task_words(task)}"
        for task in now.run.tasks
        if task.state not in _WAITING and known.get(task.task_id) != task.state
    ]
    if now.progress and (before is None or before.progress != now.progress):
        lines.append(f"{now.elapsed_s:4.0f} s  {now.progress}{_traffic(now)}")
    return lines


def _traffic(status: RunStatus) -> str:
    return "" if status.sent_records is None else f"; Sent meanwhile: {status.sent_records:,}"
