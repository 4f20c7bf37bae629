"""The process of an engine on Kafka Connect: its reservation and its generations are connectors there.

Connect has no compare-and-set except the creation of a connector, and even there two creations at the same moment may
both be accepted. So each creation is read back, and every acting step reads the holder again.
"""

from __future__ import annotations

import time
import uuid
from contextlib import suppress
from dataclasses import replace
from typing import Any, NoReturn

from kafka_migration.adapters.connect.connect_rest import PAUSE_S, ConnectRest
from kafka_migration.adapters.connect.copier import FAILED, Copier, read_copier
from kafka_migration.adapters.connect.task_watch import TaskWatch
from kafka_migration.core.connect.connect_config import (
    BARRED,
    CREATION,
    GENERATION,
    HOLDER,
    REACHED,
    STATUS_FROM,
    Config,
    ConnectLaunch,
    copier_name,
    idle_config,
    reservation_name,
    status_from_text,
    with_digest,
)
from kafka_migration.core.connect.connect_words import not_stopped, refusal
from kafka_migration.core.connect.task_history import TaskHistory
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import MirrorFailed, Refused, TransientError
from kafka_migration.core.mirror.connect_reply import ConnectReply
from kafka_migration.core.mirror.mirror_process import ProcessState

# A creation is certain once it was read back twice, this far apart: until then another one may replace it.
CONFIRM_S = 1.0
# Tasks start some seconds after their connector. A connector that has none by then is watched like one that stalls.
START_S = 60.0
# A stop that nothing proves within this time is unknown.
STOP_S = 90.0


class ConnectProcess:
    """A `MirrorProcess` whose generations are connectors of one Connect cluster. Not thread-safe."""

    def __init__(self, migration: str, rest: ConnectRest, watch: TaskWatch) -> None:
        self.migration = migration
        self._rest = rest
        self._watch = watch
        self._name, self._reservation = copier_name(migration), reservation_name(migration)

    def reserve(self, holder: str, take_over_from: str | None = None) -> ConnectReply:
        """See `MirrorProcess.reserve`."""
        reservation = self._rest.config(self._reservation) or {}
        present = reservation.get(HOLDER, "")
        if present not in {"", holder, take_over_from}:
            self._refuse(Code.RESERVED_BY, present)
        if present and present != holder:
            # Only this one: another run may have put its own in its place meanwhile.
            self._rest.delete(self._reservation, reservation)
        if present != holder:
            config = idle_config({HOLDER: holder, CREATION: uuid.uuid4().hex})
            self._rest.create(self._reservation, config, is_running=False)
        self._confirm(holder)
        return self._present().reply(holder)

    def release(self, holder: str) -> ConnectReply:
        """See `MirrorProcess.release`."""
        reservation = self._rest.config(self._reservation)
        self._require_not_held_by_another(holder, reservation)
        copier = self._present()
        if reservation is not None and not copier.is_stopped:
            self._refuse(Code.ALREADY_RUNNING, copier.runs)
        if reservation is not None:
            self._rest.delete(self._reservation, reservation)
        return copier.reply("")

    def start(self, holder: str, generation: int, launch: ConnectLaunch) -> ConnectReply:
        """See `MirrorProcess.start`; returns once every task runs, or after `START_S`."""
        self._require_holder(holder)
        copier = self._present()
        if not copier.is_stopped:
            is_mine = generation == copier.generation and copier.holder == holder
            if is_mine and not copier.is_told_to_stop and not copier.change:
                return self._begun(holder, adopted=True)
            self._refuse(Code.ALREADY_RUNNING, copier.runs)
        self._require_next(copier, generation)
        self._create(holder, generation, launch, copier)
        return self._begun(holder)

    def renew(self, holder: str, generation: int) -> ConnectReply:
        """See `MirrorProcess.renew`. There is no lease. A copier that others changed counts as stopped."""
        self._require_holder(holder)
        copier = self._present()
        if copier.config is not None and copier.generation != generation:
            self._refuse(Code.GENERATION_UNEXPECTED, f"the last generation there is {copier.generation}")
        if copier.config is None and not generation:
            return copier.reply(holder)
        return copier.reply(holder, **_changed(copier, generation))

    def status(self) -> ConnectReply:
        """See `MirrorProcess.status`."""
        return self._present().reply(self._holder())

    def stop(self, holder: str, generation: int | None, grace_s: int) -> ConnectReply:
        """See `MirrorProcess.stop`; `grace_s` has no meaning, because nothing can be ended by force."""
        present = self._require_not_held_by_another(holder, self._rest.config(self._reservation))
        copier = self._present()
        barred = copier.generation if generation is None else generation
        if copier.config is None:
            return self._stop_vanished(holder, present, barred)
        if not copier.is_told_to_stop:
            self._rest.stop(self._name)
        copier = self._proved()
        if barred > copier.barred or (copier.history.unproved and not copier.is_idle):
            self._bar(holder, copier, max(barred, copier.barred))
        return copier.reply(present)

    def logs(self, generation: int | None, lines: int) -> ConnectReply:
        """See `MirrorProcess.logs`: the workers' logs cannot be read; the traces of failed tasks can."""
        return self.status()

    def clean(self, holder: str, keep: int) -> ConnectReply:
        """See `MirrorProcess.clean`: nothing is kept of older generations."""
        self._require_not_held_by_another(holder, self._rest.config(self._reservation))
        return self.status()

    def close(self) -> None:
        """Close the connection to the Connect cluster; a later call opens it again."""
        self._rest.close()

    def _present(self) -> Copier:
        return read_copier(self._name, self._rest, self._watch)

    def _holder(self) -> str:
        """Return the holder of the reservation, empty without one."""
        return (self._rest.config(self._reservation) or {}).get(HOLDER, "")

    def _confirm(self, holder: str) -> None:
        """Read the reservation back, twice. Raises `Refused` (`RESERVED_BY`) if another run has it."""
        for pause_s in (0.0, CONFIRM_S):
            time.sleep(pause_s)
            self._rest.wait(lambda: bool(self._holder()), "the reservation")
            if (found := self._holder()) != holder:
                self._refuse(Code.RESERVED_BY, found)

    def _create(self, holder: str, generation: int, launch: ConnectLaunch, before: Copier) -> None:
        """Create the copier of a generation in place of the one before, and read it back."""
        own = {
            HOLDER: holder,
            GENERATION: str(generation),
            CREATION: uuid.uuid4().hex,
            STATUS_FROM: status_from_text(self._watch.ends()),
            REACHED: ",".join(self._watch.reached()),
        }
        if before.config is not None:
            self._rest.delete(self._name, before.config)
        self._rest.create(self._name, with_digest({**launch.config, **own}), is_running=True)
        self._rest.wait(lambda: self._rest.config(self._name) is not None, "the creation of the connector")
        if (self._rest.config(self._name) or {}).get(CREATION) != own[CREATION]:
            self._require_holder(holder)
            self._refuse(Code.ALREADY_RUNNING, "another generation was started at the same moment")
        if self._holder() != holder:
            # Another run has taken over meanwhile, so this generation must not run.
            self._rest.stop(self._name)
            self._require_holder(holder)

    def _begun(self, holder: str, *, adopted: bool = False) -> ConnectReply:
        """Wait until every task runs. Raises `MirrorFailed` (`MIRROR_DEAD`) if the connector or a task fails."""
        with suppress(TransientError):
            self._rest.wait(self._is_decided, "the start of the tasks", START_S)
        copier = self._present()
        if copier.state == FAILED or copier.history.failed:
            raise MirrorFailed([refusal(Code.MIRROR_DEAD, self.migration, f"{copier.trouble}: {copier.traces}")])
        return copier.reply(holder, adopted=adopted)

    def _is_decided(self) -> bool:
        copier = self._present()
        tasks = {task.number for task in copier.tasks or ()}
        return bool(copier.trouble) or (bool(tasks) and tasks <= copier.history.tasks)

    def _proved(self) -> Copier:
        """Return the stopped copier once each of its tasks has ended. Raises `MirrorFailed` if that stays unknown."""
        end = time.monotonic() + STOP_S
        while True:
            now = self._present()
            if now.config is None:
                # It was deleted meanwhile, or never existed.
                now = replace(now, history=self._history_of_all())
            lives = () if now.is_idle else now.history.lives
            unproved = self._watch.still_unproved(self._name, lives, now.reached)
            if now.is_stopped and not now.tasks and not unproved:
                return now
            if time.monotonic() >= end:
                raise MirrorFailed([not_stopped(self._name, unproved)])
            time.sleep(PAUSE_S)

    def _stop_vanished(self, holder: str, present: str, generation: int) -> ConnectReply:
        """Bar a generation whose connector does not exist, and return how it ended.

        Only rows of its tasks tell whether it ever ran. If rows are missing, it may have run.
        """
        copier = self._proved()
        if not generation:
            return copier.reply(present)
        self._bar(holder, copier, generation)
        if copier.history.is_whole and not copier.history.lives:
            return copier.reply(present)
        return copier.reply(present, resent=True, **_changed(copier, generation))

    def _history_of_all(self) -> TaskHistory:
        """Return what the tasks of all generations did, as far as the status topic shows it."""
        return self._watch.history(self._name, dict.fromkeys(self._watch.ends(), 0))

    def _bar(self, holder: str, copier: Copier, generation: int) -> None:
        """Leave a connector that never runs in place of the copier, once all tasks have ended.

        No late start creates a barred generation, and what workers answered about its end need not be asked again.
        """
        kept = {key: value for key, value in (copier.config or {}).items() if key in (STATUS_FROM, REACHED)}
        own = {HOLDER: holder, GENERATION: str(copier.generation), BARRED: str(generation), CREATION: uuid.uuid4().hex}
        own |= kept
        self._rest.delete(self._name)
        self._rest.create(self._name, with_digest(idle_config(own)), is_running=False)
        self._rest.wait(lambda: self._rest.config(self._name) is not None, "the mark of the stop")

    def _require_holder(self, holder: str) -> None:
        if (present := self._holder()) != holder:
            self._refuse(Code.NOT_RESERVED, f"the holder of the reservation is {present or 'none'}")

    def _require_not_held_by_another(self, holder: str, reservation: Config | None) -> str:
        """Return the holder of the reservation, which is this run or none."""
        if (present := (reservation or {}).get(HOLDER, "")) not in {"", holder}:
            self._refuse(Code.RESERVED_BY, present)
        return present

    def _require_next(self, copier: Copier, generation: int) -> None:
        """Raise `Refused` unless the generation follows. A cluster without the connector takes the run's count."""
        if generation <= copier.barred:
            self._refuse(Code.GENERATION_STOPPED, f"{copier.barred} was told to stop")
        if generation < 1 or (copier.config is not None and generation != copier.barred + 1):
            self._refuse(Code.GENERATION_UNEXPECTED, f"the last generation there is {copier.generation}")

    def _refuse(self, code: Code, found: str) -> NoReturn:
        raise Refused([refusal(code, self.migration, found)])


def _changed(copier: Copier, generation: int) -> dict[str, Any]:
    """Return the fields of a reply about a copier that others stopped, changed or deleted; else none."""
    change = copier.change or ("was stopped" if copier.is_told_to_stop else "")
    if not change:
        return {}
    said = f"its connector {change}"
    return {"generation": generation, "state": ProcessState.STOPPED, "change": said, "exit_reason": said}
