"""The question whether the producers of a cutover have stopped: when it is asked, and what its answer does."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import datetime

from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.run.stop_request import StopRequest
from kafka_migration.core.stored.stored_documents import MirrorStarted, Stored
from kafka_migration.core.watching.producers_question import (
    ABORT,
    ProducersAsk,
    StopProducers,
    aborted,
)
from kafka_migration.core.watching.watch import Announced, WatchEnded
from kafka_migration.steps.run.alert_sending import stop_producers
from kafka_migration.steps.run.migration_run import MigrationRun

log = logging.getLogger(__name__)


def ask_about_producers(run: MigrationRun) -> StopProducers:
    """Record that the run asks whether the producers have stopped; return which. An earlier answer is discarded."""
    asked = _asked(run)
    run.evidence.write(Stored.PRODUCERS, asked)
    return stop_producers(run, datetime.fromisoformat(asked.announced_at))


def known_answer(run: MigrationRun) -> ProducersAsk | None:
    """Return the answer that this attempt received before the task was retried.

    Airflow retries a task if the answer arrives while Airflow is still recording the question. Raises `Refused` if the
    answer aborts the cutover.
    """
    asks = run.evidence.of_attempt(Stored.PRODUCERS)
    answered = asks[-1] if asks and asks[-1].chosen is not None else None
    if answered is not None and answered.chosen == ABORT:
        _end_mirroring(run, str(answered.by))
        raise Refused([aborted(answered)])
    return answered


def take_answer(run: MigrationRun, chosen: str, by: str, at: datetime) -> ProducersAsk:
    """Record and return an answer. Raises `Refused` if it aborts the cutover."""
    if chosen == ABORT:
        # First, because every later step may fail.
        _end_mirroring(run, by)
    answered = replace(_asked(run), chosen=chosen, answered_at=at.isoformat(timespec="seconds"), by=by)
    run.evidence.write(Stored.PRODUCERS, answered)
    if chosen == ABORT:
        raise Refused([aborted(answered)])
    return answered


def _asked(run: MigrationRun) -> ProducersAsk:
    """Return the question for the newest announcement of the run, possibly from an earlier attempt."""
    watch = run.evidence.of_run(Stored.WATCH)
    announced_at = [document.announced_at for document in watch if isinstance(document, Announced)][-1]
    until = stop_producers(run, datetime.fromisoformat(announced_at)).until
    return ProducersAsk(announced_at, until.isoformat(timespec="seconds"))


def _end_mirroring(run: MigrationRun, by: str) -> None:
    """Ask this run's watch to end, like `kafka-migration stop`, even if the ledger cannot be read."""

    def ask(number: int, holder: str) -> None:
        run.stop_requests.request(StopRequest(number, holder, run.now(), by, ABORT))

    try:
        generation = run.ledger.read().open_generation_of(run.identity)
    except Exception:
        start = run.evidence.newest(Stored.START)
        if isinstance(start, MirrorStarted):
            ask(start.generation, run.identity.holder)
        raise
    if generation is not None:
        ask(generation.number, generation.start.run)


def was_announced(run: MigrationRun) -> bool | None:
    """Return whether the attempt's watch announced that the producers must stop; `None` while it still may."""
    try:
        run.evidence.look_again()
        watch = run.evidence.of_attempt(Stored.WATCH)
    except Exception:
        # The store may raise anything; an unreadable store is no reason to give up.
        log.warning("The evidence cannot be read now.", exc_info=True)
        return None
    if any(isinstance(document, Announced) for document in watch):
        return True
    return False if has_ended(run) else None


def has_ended(run: MigrationRun) -> bool:
    """Return whether the attempt's watch is known to be over."""
    try:
        # Either proves it: the watch of a MirrorMaker that was already dead leaves no stop document.
        ended = any(isinstance(document, WatchEnded) for document in run.evidence.of_attempt(Stored.WATCH))
        return ended or bool(run.evidence.of_attempt(Stored.STOP))
    except Exception:
        log.warning("The evidence cannot be read now.", exc_info=True)
        return False
