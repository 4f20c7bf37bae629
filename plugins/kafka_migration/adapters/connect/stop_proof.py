"""The proof that a copier has stopped: what Connect says of it, the rows of its tasks, and its workers' own answers."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

from kafka_migration.adapters.connect.connect_rest import PAUSE_S, ConnectRest
from kafka_migration.adapters.connect.copier import Copier, read_copier
from kafka_migration.adapters.connect.task_watch import SETTLED_S, TaskWatch
from kafka_migration.core.connect.connect_words import not_stopped
from kafka_migration.core.findings.errors import MirrorFailed

# A stop that nothing proves within this time is unknown.
STOP_S = 90.0
_CLUSTER = "the Connect cluster"


@dataclass
class StopProof:
    """Tells a copier to stop, and finds out whether each of its tasks has ended; for one stop."""

    name: str
    rest: ConnectRest
    watch: TaskWatch
    _told: str | None = field(default=None, init=False)
    _told_at: float = field(default=0.0, init=False)
    _tasks: int = field(default=1, init=False)

    def awaited(self) -> Copier:
        """Return the copier once each task has ended. Raises `MirrorFailed` if that stays unknown for `STOP_S`."""
        end = time.monotonic() + STOP_S
        while True:
            copier = self._stopping()
            unproved = self._unproved(copier)
            if not unproved:
                return replace(copier, is_proved=True)
            if time.monotonic() >= end:
                raise MirrorFailed([not_stopped(self.name, unproved)])
            time.sleep(PAUSE_S)

    def _stopping(self) -> Copier:
        """Read the copier, tell it to stop unless it was told before, and return it.

        If nothing says which generation it is, its history is that of all generations.
        """
        copier = read_copier(self.name, self.rest, self.watch)
        if copier.config is not None and copier.creation != self._told:
            self._tell(copier)
        return replace(copier, history=self.watch.whole_history(self.name)) if copier.is_unknown else copier

    def _tell(self, copier: Copier) -> None:
        # After the stop Connect lists no tasks.
        self._tasks = max(1, len(self.rest.tasks(self.name) or ()))
        # A worker that has not heard of the connector yet says that there is none.
        if copier.is_told_to_stop or self.rest.stop(self.name):
            self._told, self._told_at = copier.creation, time.monotonic()

    def _unproved(self, copier: Copier) -> list[str]:
        """Return what shows no end yet."""
        if copier.is_idle:
            return []
        found = self.watch.still_unproved(self.name, copier.history, copier.reached)
        if copier.config is None or found:
            return found
        if copier.is_unseen:
            return [f"topic {self.watch.status_topic} (mirror.connect.status_topic), which has no row of it"]
        is_quiet = copier.creation == self._told and not self.rest.tasks(self.name)
        return [] if is_quiet and self._is_settled(copier) else [_CLUSTER]

    def _is_settled(self, copier: Copier) -> bool:
        """Whether no task can start any more: a worker may have been given one right before the stop.

        The worker of the connector itself may be gone; then Connect does not show the stop for some minutes.
        """
        is_shown = copier.is_told_to_stop and len(copier.history.tasks) >= self._tasks
        return is_shown or time.monotonic() - self._told_at >= SETTLED_S
