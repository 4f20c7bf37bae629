"""The copier: the connector of the newest generation, as Connect shows it, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kafka_migration.adapters.connect.connect_rest import ConnectRest
from kafka_migration.adapters.connect.task_watch import TaskWatch
from kafka_migration.core.connect.connect_config import (
    BARRED,
    CHANGE,
    CREATION,
    DIGEST,
    GENERATION,
    HOLDER,
    REACHED,
    STATUS_FROM,
    Config,
    digest_of,
    hidden,
    number_of,
    without_logins,
)
from kafka_migration.core.connect.task_history import UNASSIGNED, TaskHistory
from kafka_migration.core.mirror.connect_reply import ConnectReply, RunningTask
from kafka_migration.core.mirror.mirror_process import ProcessState
from kafka_migration.core.text.shortened import some
from kafka_migration.core.text.terminal_text import storable

RUNNING, STOPPED, FAILED, PAUSED = "RUNNING", "STOPPED", "FAILED", "PAUSED"
MOST_TRACES = 3


@dataclass(frozen=True)
class Copier:
    """The copier at one moment. `config` is `None` if it does not exist; then it has no state and no tasks.

    `said` is the state that REST shows, which may still be that of the connector before it. `busy` are the workers that
    may still run a task of a copier that was told to stop. `is_proved`: all of its tasks were proved to have ended.
    """

    name: str
    config: Config | None = field(repr=False)
    said: str = ""
    trace: str = ""
    history: TaskHistory = field(default_factory=TaskHistory)
    tasks: tuple[RunningTask, ...] | None = None
    lost: tuple[str, ...] = ()
    busy: tuple[str, ...] = ()
    is_proved: bool = False

    @property
    def state(self) -> str:
        """What Connect says of it, if a row since its creation says the same; else empty.

        While it has no worker, as during a rolling restart, it is what the last one said.
        """
        return self.history.connector if self.said in (self.history.connector, UNASSIGNED) else ""

    @property
    def is_unseen(self) -> bool:
        """Whether Connect shows that it has started, but the status topic has no row of it."""
        return self.said not in ("", UNASSIGNED) and not self.history.connector

    @property
    def generation(self) -> int:
        """The last generation that was really started; 0 if none was, or if it is unknown."""
        return number_of(self.config or {}, GENERATION)

    @property
    def barred(self) -> int:
        """The newest generation that may not start any more."""
        running = 0 if self.is_told_to_stop else 1
        return max(self.generation - running, number_of(self.config or {}, BARRED))

    @property
    def creation(self) -> str:
        """The text that no other creation has; empty if it does not exist."""
        return (self.config or {}).get(CREATION, "")

    @property
    def is_told_to_stop(self) -> bool:
        """Whether Connect calls it stopped, which proves no end, or it does not run at all."""
        return self.config is None or self.is_idle or self.state == STOPPED

    @property
    def is_idle(self) -> bool:
        """Whether it never runs, and stands for a generation of which every task was proved to have ended."""
        return BARRED in (self.config or {})

    @property
    def is_unknown(self) -> bool:
        """Whether nothing says which generation it is: it does not exist, or was changed by others."""
        return not self.generation and not self.is_idle

    @property
    def runs(self) -> str:
        """What runs, or may run, in a few words."""
        busy = f"; it was told to stop, but it may still run on worker {some(self.busy)}" if self.busy else " runs"
        return f"generation {self.generation}{busy}"

    @property
    def is_stopped(self) -> bool:
        """Whether it was told to stop, and no worker may still run a task of it."""
        return self.is_proved or (self.is_told_to_stop and not self.busy)

    @property
    def holder(self) -> str:
        """The run that created it."""
        return (self.config or {}).get(HOLDER, "")

    @property
    def reached(self) -> tuple[str, ...]:
        """The URLs of the workers that answered Airflow there before it was created."""
        return tuple(filter(None, (self.config or {}).get(REACHED, "").split(",")))

    @property
    def change(self) -> str:
        """What a person or another program did to it; empty if nothing."""
        if self.config is None:
            return "was deleted"
        if self.config.get(DIGEST) != digest_of(self.config):
            return "has another configuration than this package gave it"
        # A connector that is restarted is in another state for a while.
        return "was paused" if self.state == PAUSED else self.config.get(CHANGE, "")

    @property
    def trouble(self) -> str:
        """Why the generation cannot continue; empty if it runs as it was started."""
        if self.state == FAILED:
            return "the connector failed"
        said = self.history.trouble()
        return said or next((f"worker {worker} does not run any more" for worker in self.lost), "")

    @property
    def traces(self) -> str:
        """The first traces of its failures, one after the other; empty if nothing failed."""
        own = [self.trace or "no trace"] if self.state == FAILED else []
        traces = [*own, *(life.trace or "no trace" for life in self.history.failed)]
        return hidden("\n".join(traces[:MOST_TRACES]), self.config or {})

    def reply(self, holder: str, **more: Any) -> ConnectReply:
        """Return the reply about this generation; `more` are further fields."""
        state = self._process_state()
        fields: dict[str, Any] = {
            "generation": self.generation,
            "state": state,
            "exit_reason": self._exit_reason(state),
            "holder": holder,
            "log": self.traces or None,
            "is_orderly": state is ProcessState.STOPPED and self.history.is_orderly and not self.change,
            "is_lost": bool(self.lost),
            "resent": self.history.resent,
            "tasks": self.tasks,
            "config": without_logins(self.config or {}),
        }
        return ConnectReply(**{**fields, **more})

    def _process_state(self) -> ProcessState:
        if not self.generation:
            return ProcessState.NONE
        if self.is_stopped:
            return ProcessState.STOPPED
        is_dead = self.trouble and not self.is_told_to_stop
        return ProcessState.DEAD if is_dead else ProcessState.RUNNING

    def _exit_reason(self, state: ProcessState) -> str:
        if state is ProcessState.STOPPED:
            return "stopped"
        return self.trouble if state is ProcessState.DEAD else ""


def read_copier(name: str, rest: ConnectRest, watch: TaskWatch) -> Copier:
    """Return the copier as Connect shows it now. Raises like `ConnectRest`, and like a `KafkaCluster`."""
    config = rest.config(name)
    if config is None:
        return Copier(name, None)
    connector = _object((rest.status(name) or {}).get("connector"))
    found = Copier(name, config, _text(connector, "state"), _text(connector, "trace"))
    if found.is_idle and STATUS_FROM not in config:
        return replace(found, history=TaskHistory(is_whole=False))
    return replace(found, history=watch.history(name, config))


def with_workers(copier: Copier, rest: ConnectRest, watch: TaskWatch) -> Copier:
    """Return the copier with what its workers and tasks are doing."""
    asked = (copier.name, copier.history.lives, copier.reached)
    if copier.config is None or copier.is_idle:
        return copier
    if copier.is_told_to_stop:
        return replace(copier, busy=tuple(watch.busy(*asked)))
    return replace(copier, tasks=_tasks(rest, copier.name), lost=tuple(watch.lost(*asked)))


def _tasks(rest: ConnectRest, name: str) -> tuple[RunningTask, ...] | None:
    """Return the tasks with their partitions, `None` before there are any."""
    found = []
    for each in rest.tasks(name) or ():
        number = _object(each.get("id")).get("task")
        if isinstance(number, int):
            found.append(RunningTask(number, _text(_object(each.get("config")), "task.assigned.partitions")))
    return tuple(found) or None


def _text(found: Mapping[str, Any], name: str) -> str:
    value = found.get(name)
    return storable(value) if isinstance(value, str) else ""


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
