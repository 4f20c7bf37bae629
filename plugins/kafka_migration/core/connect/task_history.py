"""What the tasks of a connector did, from the rows of the workers' status topic.

A worker writes a row when a task starts, fails or has ended; the end is written after the task's last records and
positions. The leader removes the rows of tasks that no longer exist. Seen on Kafka 3.9.1. Anyone with write permission
may write to the topic: a row that no worker would write is ignored.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from kafka_migration.core.kafka.offsets import Offsets
from kafka_migration.core.kafka.records import LogRow
from kafka_migration.core.text.terminal_text import storable_document

LONGEST_TRACE = 131_072
LONGEST_WORKER = 300


class LifeState(StrEnum):
    """How far a life of a task is; `lost`: another life began, and nothing shows the end of this one."""

    RUNNING = "running"
    ENDED = "ended"
    FAILED = "failed"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class TaskLife:
    """One run of a task on one worker, from its start to its end; `trace` is that of a failure."""

    task: int
    worker: str
    state: LifeState
    trace: str = ""

    @property
    def is_over(self) -> bool:
        """Whether its worker has said that it is over."""
        return self.state in (LifeState.ENDED, LifeState.FAILED)


@dataclass(frozen=True, slots=True)
class TaskHistory:
    """The lives of a connector's tasks, in the order of their starts; `is_whole`: no row was missing."""

    lives: tuple[TaskLife, ...] = ()
    is_whole: bool = True

    @property
    def tasks(self) -> frozenset[int]:
        """The numbers of the tasks that ever ran."""
        return frozenset(life.task for life in self.lives)

    @property
    def failed(self) -> tuple[TaskLife, ...]:
        """The lives that ended with a failure."""
        return tuple(life for life in self.lives if life.state is LifeState.FAILED)

    @property
    def unproved(self) -> tuple[TaskLife, ...]:
        """The lives of which no worker has said that they are over."""
        return tuple(life for life in self.lives if not life.is_over)

    @property
    def resent(self) -> bool:
        """Whether a task started more than once; if rows are missing, that is unknown and counts as well."""
        return not self.is_whole or len(self.tasks) < len(self.lives)

    @property
    def is_orderly(self) -> bool:
        """Whether each task ran once and has ended in order."""
        return not self.resent and all(life.state is LifeState.ENDED for life in self.lives)

    def trouble(self) -> str:
        """Return why the generation cannot continue; empty if every task runs since its start."""
        if not self.is_whole:
            return "rows of the workers' status topic are missing, so restarts of tasks cannot be seen"
        for number in sorted(self.tasks):
            if said := _trouble(number, [life for life in self.lives if life.task == number]):
                return said
        return ""


def _trouble(number: int, lives: Sequence[TaskLife]) -> str:
    first, last = lives[0], lives[-1]
    if failed := next((life for life in lives if life.state is LifeState.FAILED), None):
        return f"task {number} failed on worker {failed.worker}"
    if len(lives) > 1 and first.worker != last.worker:
        return f"task {number} was moved from worker {first.worker} to {last.worker}"
    if len(lives) > 1:
        return f"task {number} was restarted on worker {last.worker}"
    return f"worker {last.worker} ended task {number}" if last.is_over else ""


def task_history(rows: Iterable[LogRow], connector: str, start: Offsets | None) -> TaskHistory:
    """Return what the tasks of a connector did.

    `start` are the offsets at which the rows should begin; `None`: unknown, so the history is not whole. Rows of other
    connectors only count for whether a row is missing, as it is after a compaction.
    """
    expected = dict(start or {})
    is_whole, lives = start is not None, dict[int, list[TaskLife]]()
    order: list[tuple[int, int]] = []
    for row in rows:
        is_whole &= expected.get(row.partition) == row.offset
        expected[row.partition] = row.offset + 1
        for life in _life(row, connector):
            known = lives.setdefault(life.task, [])
            if _took(known, life):
                order.append((life.task, len(known) - 1))
    return TaskHistory(tuple(lives[task][number] for task, number in order), is_whole)


def _took(known: list[TaskLife], life: TaskLife) -> bool:
    """Add what a row says to the lives of its task; return whether a new life began."""
    if life.state is LifeState.RUNNING:
        if known and not known[-1].is_over:
            known[-1] = replace(known[-1], state=LifeState.LOST)
        known.append(life)
        return True
    for place in range(len(known) - 1, -1, -1):
        if known[place].worker == life.worker and not known[place].is_over:
            known[place] = life
            return False
    # Its start is among the rows that are missing.
    known.append(life)
    return True


_STATES: Mapping[str, LifeState] = {
    "RUNNING": LifeState.RUNNING,
    "UNASSIGNED": LifeState.ENDED,
    "FAILED": LifeState.FAILED,
}


def _life(row: LogRow, connector: str) -> Iterator[TaskLife]:
    """Yield what a row says of a task of this connector; nothing for other rows and for those of other states."""
    number = (row.key or b"").removeprefix(f"status-task-{connector}-".encode())
    if row.value is None or not number.isdigit() or len(number) > 6 or number == row.key:
        return
    try:
        document = storable_document(json.loads(row.value))
        state, worker, trace = _STATES.get(document["state"]), document["worker_id"], document.get("trace") or ""
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return
    if state is not None and isinstance(worker, str) and isinstance(trace, str):
        yield TaskLife(int(number), worker[:LONGEST_WORKER], state, trace[:LONGEST_TRACE])
