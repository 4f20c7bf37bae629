"""The process of an engine on Kafka Connect: its reservation and its generations are connectors there.

Connect has no compare-and-set except the creation of a connector, and even there two creations at the same moment may
both be accepted. So each creation is read back, and every acting step reads the holder again.
"""

from __future__ import annotations

import time
import uuid
from contextlib import suppress
from typing import Any, NoReturn

from kafka_migration.adapters.connect.connect_rest import ConnectRest
from kafka_migration.adapters.connect.copier import STOPPED, Copier, read_copier, with_workers
from kafka_migration.adapters.connect.stop_proof import StopProof
from kafka_migration.adapters.connect.task_watch import TaskWatch
from kafka_migration.adapters.system.deadlines import at_most, time_left
from kafka_migration.core.connect.connect_config import (
    BARRED,
    CHANGE,
    CREATION,
    GENERATION,
    HOLDER,
    REACHED,
    STATUS_FROM,
    STATUS_TOPIC,
    Config,
    ConnectLaunch,
    copier_name,
    idle_config,
    reservation_name,
    status_from_text,
    with_digest,
)
from kafka_migration.core.connect.connect_words import refusal, unseen
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import MirrorFailed, Refused, TransientError
from kafka_migration.core.mirror.connect_reply import ConnectReply
from kafka_migration.core.mirror.mirror_process import ProcessState

# A creation is certain once it was read back twice, this far apart: until then another one may replace it.
CONFIRM_S = 1.0
# Tasks start some seconds after their connector. A connector that has none by then is watched like one that stalls.
START_S = 60.0
# A poll has other things to ask, too: asking here takes half of its time at most.
POLL_S = 60.0


class ConnectProcess:
    """A `MirrorProcess` whose generations are connectors of one Connect cluster. Not thread-safe."""

    def __init__(self, migration: str, rest: ConnectRest, watch: TaskWatch) -> None:
        self.migration = migration
        self._rest = rest
        self._watch = watch
        self._name, self._reservation = copier_name(migration), reservation_name(migration)

    def reserve(self, holder: str, take_over_from: str | None = None) -> ConnectReply:
        """See `MirrorProcess.reserve`. A reservation without a holder was changed by others: it is taken."""
        reservation = self._rest.config(self._reservation)
        present = (reservation or {}).get(HOLDER, "")
        if present not in {"", holder, take_over_from}:
            self._refuse(Code.RESERVED_BY, present)
        if present != holder:
            self._delete_reservation(reservation)
            own = idle_config({HOLDER: holder, CREATION: uuid.uuid4().hex})
            self._rest.create(self._reservation, own, is_running=False)
        self._confirm(holder)
        return self._present().reply(holder)

    def release(self, holder: str) -> ConnectReply:
        """See `MirrorProcess.release`."""
        reservation = self._rest.config(self._reservation)
        self._require_not_held_by_another(holder, reservation)
        copier = self._present()
        if reservation is not None and not copier.is_stopped:
            self._refuse(Code.ALREADY_RUNNING, copier.runs)
        self._delete_reservation(reservation)
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
        with at_most(time_left(POLL_S) / 2):
            self._require_holder(holder)
            copier = self._present()
        if copier.config is None and not generation:
            return copier.reply(holder)
        if not copier.change and copier.generation != generation:
            self._refuse(Code.GENERATION_UNEXPECTED, f"the last generation there is {copier.generation}")
        return copier.reply(holder, **_changed(copier, generation))

    def status(self) -> ConnectReply:
        """See `MirrorProcess.status`."""
        return self._present().reply(self._holder())

    def stop(self, holder: str, generation: int | None, grace_s: int) -> ConnectReply:
        """See `MirrorProcess.stop`; `grace_s` has no meaning, because nothing can be ended by force.

        A copier that does not exist, or that others changed so that nothing says which generation it is, may have been
        this one: only rows of its tasks tell whether it ever ran.
        """
        present = self._require_not_held_by_another(holder, self._rest.config(self._reservation))
        copier = StopProof(self._name, self._rest, self._watch).awaited()
        barred = copier.generation if generation is None else generation
        if copier.is_unknown and barred:
            return self._stop_unknown(holder, present, copier, barred)
        if barred > copier.barred or not copier.is_told_to_stop or (copier.history.unproved and not copier.is_idle):
            self._bar(holder, copier, {GENERATION: str(copier.generation), BARRED: str(max(barred, copier.barred))})
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
        return with_workers(read_copier(self._name, self._rest, self._watch), self._rest, self._watch)

    def _holder(self) -> str:
        """Return the holder of the reservation, empty without one."""
        return (self._rest.config(self._reservation) or {}).get(HOLDER, "")

    def _delete_reservation(self, present: Config | None) -> None:
        """Delete the reservation that was read. Raises `Refused` (`RESERVED_BY`) if another run has taken it by now."""
        if present is not None and not self._rest.delete(self._reservation, present):
            self._refuse(Code.RESERVED_BY, self._holder())

    def _confirm(self, holder: str) -> None:
        """Read the reservation back, twice. Raises `Refused` (`RESERVED_BY`) if another run has it."""
        for pause_s in (0.0, CONFIRM_S):
            time.sleep(pause_s)
            self._rest.wait(lambda: bool(self._holder()), "the reservation")
            if (found := self._holder()) != holder:
                self._refuse(Code.RESERVED_BY, found)

    def _create(self, holder: str, generation: int, launch: ConnectLaunch, before: Copier) -> None:
        """Create the copier of a generation in place of the one before, and read it back."""
        own = {HOLDER: holder, GENERATION: str(generation), CREATION: uuid.uuid4().hex, **self._rows_from_now()}
        # The workers took their time to answer.
        self._require_holder(holder)
        if not self._replaced(before, {**launch.config, **own}, is_running=True):
            self._require_holder(holder)
            self._refuse(Code.ALREADY_RUNNING, "another generation was started, or told to stop, at the same moment")
        if self._holder() != holder:
            # Another run has taken over meanwhile, so this generation must not run.
            self._rest.stop(self._name)
            self._require_holder(holder)

    def _rows_from_now(self) -> Config:
        """Return where the rows of the next creation begin, and which workers Airflow reaches now."""
        reached = ",".join(self._watch.reached())
        topic, ends = self._watch.place()
        return {STATUS_TOPIC: topic, STATUS_FROM: status_from_text(ends), REACHED: reached}

    def _replaced(self, before: Copier, config: Config, *, is_running: bool) -> bool:
        """Replace the copier `before` by a connector; return whether Connect then has this one and no other."""
        if before.config is not None and not self._rest.delete(self._name, before.config):
            return False
        self._rest.create(self._name, with_digest(config), is_running=is_running)
        self._rest.wait(lambda: self._rest.config(self._name) is not None, "the creation of the connector")
        return (self._rest.config(self._name) or {}).get(CREATION) == config[CREATION]

    def _begun(self, holder: str, *, adopted: bool = False) -> ConnectReply:
        """Wait until every task runs. Raises `MirrorFailed` (`MIRROR_DEAD`) if the connector or a task fails."""
        with suppress(TransientError):
            self._rest.wait(self._is_decided, "the start of the tasks", START_S)
        copier = self._present()
        if copier.is_unseen and copier.said != STOPPED:
            self._rest.stop(self._name)
            raise Refused([unseen(self._name, self._watch.status_topic)])
        if copier.traces:
            raise MirrorFailed([refusal(Code.MIRROR_DEAD, self.migration, f"{copier.trouble}: {copier.traces}")])
        return copier.reply(holder, adopted=adopted)

    def _is_decided(self) -> bool:
        copier = self._present()
        tasks = {task.number for task in copier.tasks or ()}
        return bool(copier.trouble) or (bool(tasks) and tasks <= copier.history.tasks)

    def _stop_unknown(self, holder: str, present: str, copier: Copier, generation: int) -> ConnectReply:
        """Bar a generation of which only the rows of its tasks are known. If rows are missing, it may have run."""
        ran = copier.config is not None or bool(copier.history.lives) or not copier.history.is_whole
        last, change = (generation, copier.change) if ran else (0, "")
        self._bar(holder, copier, {GENERATION: str(last), BARRED: str(generation), CHANGE: change})
        return copier.reply(present, resent=True, **_changed(copier, generation)) if ran else copier.reply(present)

    def _bar(self, holder: str, copier: Copier, own: Config) -> None:
        """Leave a connector that never runs in place of the copier, once all tasks have ended.

        No late start creates a barred generation, and what workers answered about its end need not be asked again.
        Raises `TransientError` if a late start was faster.
        """
        known = {} if copier.is_unknown else copier.config or {}
        kept = {key: known[key] for key in (STATUS_TOPIC, STATUS_FROM, REACHED) if key in known}
        config = idle_config({HOLDER: holder, CREATION: uuid.uuid4().hex, **kept, **own})
        if not self._replaced(copier, config, is_running=False):
            raise TransientError(f"connector {self._name} was created by another one while it was stopped")

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
