"""`kafka-migration stop`: asks the run that mirrors now to end mirroring."""

from __future__ import annotations

import getpass
import os
import time
from argparse import Namespace
from collections.abc import Callable
from contextlib import suppress

from kafka_migration.adapters.clock import SystemClock
from kafka_migration.cli.output import ExitCode, aligned, say
from kafka_migration.cli.status import stopped_words
from kafka_migration.cli.store import MigrationStore
from kafka_migration.core.clock import Clock
from kafka_migration.core.codes import Code
from kafka_migration.core.errors import Finding, MigrationError, Refused
from kafka_migration.core.evidence import Kind
from kafka_migration.core.generations import Generation, StopCertificate
from kafka_migration.core.ledger import Ledger
from kafka_migration.core.migration import Mode
from kafka_migration.core.progress import duration
from kafka_migration.core.stop_request import StopRequest, what_follows
from kafka_migration.spec.loading import load_migration

# How often `--wait` looks into the ledger.
LOOK_EVERY_S = 2.0
# What is only said beside the answer; when it cannot be told, the request stands all the same.
_UNTOLD = (MigrationError, OSError, LookupError, TypeError, ValueError)


def stop(arguments: Namespace) -> int:
    """Ask, say what happens next, and with `--wait` wait for the stop certificate."""
    store, clock = MigrationStore.open(arguments.evidence_root, arguments.name), SystemClock()
    generation = open_generation(store)
    mine = StopRequest(generation.number, generation.start.run, _text(clock), login_name(), arguments.reason)
    standing = store.stop_requests.request(mine)
    say(asked_lines(store, standing, is_new=standing == mine))
    if not arguments.wait:
        return ExitCode.DONE
    certificate = wait_for_stop(store, generation.number, arguments.timeout, clock, time.sleep)
    if certificate is None:
        say(aligned([("Waited", _not_stopped_words(arguments.timeout))]))
        return ExitCode.NOT_READY
    say(aligned([("Stopped", stopped_words(certificate.to_document()))]))
    return ExitCode.DONE


def open_generation(store: MigrationStore) -> Generation:
    """Return the generation that was started and not stopped; `Refused` (`NOTHING_TO_STOP`) when there is none."""
    ledger = store.ledger.read()
    if ledger.open_generation is None:
        raise Refused([_nothing_to_stop(store.name, ledger)])
    return ledger.open_generation


def asked_lines(store: MigrationStore, request: StopRequest, *, is_new: bool) -> list[str]:
    """Return what was asked, of whom, and what happens next."""
    mode, poll_interval_s = mode_of(store, request.run), _poll_interval_s(store, request.run)
    within = "at its next poll" if poll_interval_s is None else f"within about {duration(poll_interval_s)}"
    subject = f"generation {request.generation} of {store.name}"
    rows = [
        ("Asked", f"{subject} to end mirroring" if is_new else f"{subject} was asked already"),
        ("Run", request.run if mode is None else f"{request.run}, mode {mode}"),
        ("Request", str(request)),
        ("Next", f"mirroring ends {within}; {what_follows(mode)}"),
    ]
    return aligned(rows)


def wait_for_stop(
    store: MigrationStore, generation: int, timeout_s: float, clock: Clock, sleep: Callable[[float], None]
) -> StopCertificate | None:
    """Return the stop certificate of a generation once the ledger has it; `None` when the time is over."""
    deadline_s = clock.monotonic_s() + timeout_s
    while True:
        certificate = _certificate(store, generation)
        left_s = deadline_s - clock.monotonic_s()
        if certificate is not None or left_s <= 0:
            return certificate
        sleep(min(LOOK_EVERY_S, left_s))


def mode_of(store: MigrationStore, holder: str) -> Mode | None:
    """Return the mode that a run was checked for; `None` where its evidence does not tell."""
    with suppress(*_UNTOLD):
        preflight = store.evidence_of(holder).newest(Kind.PREFLIGHT)
        return None if preflight is None else Mode(preflight["mode"])
    return None


def login_name() -> str:
    """Return who asks; a user id where the system knows no name for it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user id {os.getuid()}"


def _poll_interval_s(store: MigrationStore, holder: str) -> float | None:
    with suppress(*_UNTOLD):
        text = store.evidence_of(holder).frozen_migration()
        return load_migration(text, where=f"{store.name} (frozen)").watch.poll_interval_s
    return None


def _certificate(store: MigrationStore, generation: int) -> StopCertificate | None:
    return next((g.stop for g in store.ledger.read().generations if g.number == generation), None)


def _nothing_to_stop(name: str, ledger: Ledger) -> Finding:
    last = ledger.last_stop
    found = "MirrorMaker was never started" if last is None else f"generation {last.generation} stopped at {last.at}"
    return Finding(
        Code.NOTHING_TO_STOP,
        f"migration {name}",
        found,
        "a generation of MirrorMaker that was started and not stopped",
        "Nothing was asked. A run that has not started MirrorMaker yet is stopped by marking it failed.",
    )


def _not_stopped_words(timeout_s: float) -> str:
    return (
        f"{duration(timeout_s)}, and there is no stop certificate yet; the request stands. Is the run still going on? "
        "Without one the host stops MirrorMaker when its lease is over, and the next run certifies it."
    )


def _text(clock: Clock) -> str:
    return clock.now().isoformat(timespec="seconds")
