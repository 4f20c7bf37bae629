"""The copier: the connector of the newest generation, as Connect shows it, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kafka_migration.adapters.connect.connect_rest import ConnectRest
from kafka_migration.adapters.connect.task_watch import TaskWatch
from kafka_migration.core.connect.connect_config import (
    BARRED,
    DIGEST,
    GENERATION,
    HOLDER,
    REACHED,
    Config,
    digest_of,
    number_of,
    status_from,
    without_logins,
)
from kafka_migration.core.connect.task_history import TaskHistory
from kafka_migration.core.mirror.connect_reply import ConnectReply, RunningTask
from kafka_migration.core.mirror.mirror_process import ProcessState
from kafka_migration.core.text.shortened import some

RUNNING, STOPPED, FAILED = "RUNNING", "STOPPED", "FAILED"


@dataclass(frozen=True)
class Copier:
    """The copier at one moment. `config` is `None` if it does not exist; then it has no state and no tasks.

    `busy` are the workers that may still run a task of a copier that was told to stop.
    """

    name: str
    config: Config | None
    state: str = ""
    trace: str = ""
    history: TaskHistory = field(default_factory=TaskHistory)
    tasks: tuple[RunningTask, ...] | None = None
    lost: tuple[str, ...] = ()
    busy: tuple[str, ...] = ()

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
    def is_told_to_stop(self) -> bool:
        """Whether Connect calls it stopped, which proves no end, or it does not exist."""
        return self.config is None or self.state == STOPPED

    @property
    def is_idle(self) -> bool:
        """Whether it never runs, and stands for a generation of which every task was proved to have ended."""
        return BARRED in (self.config or {})

    @property
    def runs(self) -> str:
        """What runs, or may run, in a few words."""
        busy = f"; it was told to stop, but it may still run on worker {some(self.busy)}" if self.busy else " runs"
        return f"generation {self.generation}{busy}"

    @property
    def is_stopped(self) -> bool:
        """Whether it was told to stop, and no worker may still run a task of it."""
        return self.is_told_to_stop and not self.busy

    @property
    def holder(self) -> str:
        """The run that created it."""
        return (self.config or {}).get(HOLDER, "")

    @property
    def reached(self) -> tuple[str, ...]:
        """The workers that answered Airflow at their own addresses before it was created."""
        return tuple(filter(None, (self.config or {}).get(REACHED, "").split(",")))

    @property
    def change(self) -> str:
        """What a person or another program did to it; empty if nothing."""
        if self.config is None:
            return "was deleted"
        if self.config.get(DIGEST) != digest_of(self.config):
            return "has another configuration than this package gave it"
        return "" if self.state in ("", RUNNING, STOPPED, FAILED) else f"is in state {self.state}"

    @property
    def trouble(self) -> str:
        """Why the generation cannot continue; empty if it runs as it was started."""
        if self.state == FAILED:
            return "the connector failed"
        said = self.history.trouble()
        return said or next((f"worker {worker} does not run any more" for worker in self.lost), "")

    @property
    def traces(self) -> str:
        """The traces of its failures, one after the other."""
        return "\n".join(filter(None, (self.trace, *(life.trace for life in self.history.failed))))

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
    status = rest.status(name) or {}
    connector = _object(status.get("connector"))
    state, trace = str(connector.get("state", "")), str(connector.get("trace") or "")
    if not number_of(config, GENERATION):
        return Copier(name, config, state, trace)
    found = Copier(name, config, state, trace, watch.history(name, status_from(config, watch.status_topic)))
    if state == STOPPED and not found.is_idle:
        return replace(found, busy=tuple(watch.busy(name, found.history.lives, found.reached)))
    if state != RUNNING:
        return found
    return replace(found, tasks=_tasks(rest, name), lost=tuple(watch.lost(name, found.history.lives, found.reached)))


def _tasks(rest: ConnectRest, name: str) -> tuple[RunningTask, ...] | None:
    """Return the tasks with their partitions, `None` before there are any."""
    found = []
    for each in rest.tasks(name) or ():
        number = _object(each.get("id")).get("task")
        if isinstance(number, int):
            found.append(RunningTask(number, str(_object(each.get("config")).get("task.assigned.partitions", ""))))
    return tuple(found) or None


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
