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

# A connector or task that no worker has.
UNASSIGNED = "UNASSIGNED"
LONGEST_TRACE = 16_384
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
    """The lives of a connector's tasks, in the order of their starts.

    `connector` is the state in the connector's own newest row, empty if there is none: a worker writes one at every
    start, so a topic without it is not the workers'. That it has no worker for a while is none. `is_whole`: no row was
    missing.
    """

    lives: tuple[TaskLife, ...] = ()
    is_whole: bool = True
    connector: str = ""

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


def task_history(rows: Iterable[LogRow], connector: str, start: Offsets | None, ends: Offsets) -> TaskHistory:
    """Return what the tasks of a connector did.

    `start` are the offsets at which the rows should begin; `None`: unknown, so the history is not whole. `ends` are
    ends of the topic to which the rows should reach at least. Rows of other connectors only count for whether a row is
    missing, as it is after a compaction.
    """
    expected = dict(start or {})
    is_whole, lives, state = start is not None, dict[int, list[TaskLife]](), ""
    order: list[tuple[int, int]] = []
    for row in rows:
        is_whole &= expected.get(row.partition) == row.offset
        expected[row.partition] = row.offset + 1
        state = _connector_state(row, connector, state)
        for life in _life(row, connector):
            known = lives.setdefault(life.task, [])
            if _took(known, life):
                order.append((life.task, len(known) - 1))
    is_whole &= all(expected.get(partition, 0) >= end for partition, end in ends.items())
    return TaskHistory(tuple(lives[task][number] for task, number in order), is_whole, state)


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
    UNASSIGNED: LifeState.ENDED,
    "FAILED": LifeState.FAILED,
}


def _life(row: LogRow, connector: str) -> Iterator[TaskLife]:
    """Yield what a row says of a task of this connector; nothing for other rows and for those of other states."""
    number = (row.key or b"").removeprefix(f"status-task-{connector}-".encode())
    if not number.isdigit() or len(number) > 6 or number == row.key:
        return
    document = _document(row)
    state, worker, trace = (document.get(name) for name in ("state", "worker_id", "trace"))
    if isinstance(state, str) and state in _STATES and isinstance(worker, str) and isinstance(trace, str | None):
        yield TaskLife(int(number), worker[:LONGEST_WORKER], _STATES[state], (trace or "")[:LONGEST_TRACE])


def _connector_state(row: LogRow, connector: str, known: str) -> str:
    """Return the state that a row gives the connector itself, else the known one."""
    state = _document(row).get("state") if row.key == f"status-connector-{connector}".encode() else None
    return state if isinstance(state, str) and state != UNASSIGNED else known


def _document(row: LogRow) -> Mapping[str, object]:
    """Return the JSON object of a row, an empty one if it has none."""
    try:
        document = storable_document(json.loads(row.value or b"null"))
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}
