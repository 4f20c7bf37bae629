"""`kafka-migration stop`: asks the active run to stop mirroring."""

from __future__ import annotations

import getpass
import os
import time
from argparse import Namespace
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from kafka_migration.adapters.system.this_machine import SystemClock
from kafka_migration.cli.runs.stopping_now import stopped_now
from kafka_migration.cli.shell.arguments import Verbs, add_output, add_verb
from kafka_migration.cli.shell.evidence_access import opened
from kafka_migration.cli.shell.output import ExitCode, JsonObject, aligned, is_json, respond, say
from kafka_migration.cli.shell.progress_line import working
from kafka_migration.core.clock import Clock
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, MigrationError, Refused
from kafka_migration.core.ledger.generations import Generation, StopCertificate
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import Mode, WatchSettings
from kafka_migration.core.run.stop_request import StopRequest, what_follows
from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.core.text.terminal_text import duration
from kafka_migration.migration_file.loading import load_migration
from kafka_migration.steps.answers.kept_migration import MigrationStore

STOP_SCHEMA = 1
MAX_REASON = 500
# How often `--wait` reads the ledger.
LOOK_EVERY_S = 2.0
# How long to wait for the stop certificate after MirrorMaker has ended.
CERTIFICATE_WAIT_S = 60.0
_NO_CERTIFICATE = (
    "its stop certificate is not written yet, because that needs both clusters. "
    "If this run cannot write it, the next run does."
)
# Errors while reading optional details. The request remains valid without them.
_UNREADABLE = (MigrationError, OSError, LookupError, TypeError, ValueError, AttributeError, RecursionError)


def add_stop(verbs: Verbs) -> None:
    """Add the verb `stop`."""
    verb = add_verb(verbs, stop, "stop", 'stop demo --reason "maintenance" --wait')
    verb.add_argument("--reason", type=_reason, default="", metavar="TEXT", help="kept in the evidence")
    verb.add_argument("--wait", action="store_true", help="wait for the stop certificate; validation comes later")
    verb.add_argument(
        "--now",
        action="store_true",
        help="stop MirrorMaker from here, without waiting for a run: for when none is active",
    )
    verb.add_duration("--timeout", "how long --wait waits; the request remains afterwards", "10m")
    add_output(verb)


def stop(arguments: Namespace) -> int:
    """Write the stop request, print what happens next, and with `--wait` wait for the stop certificate.

    A JSON document is printed once, after the wait.
    """
    store, clock = opened(arguments.evidence_root, arguments.name), SystemClock()
    generation = open_generation(store)
    now = clock.now().isoformat(timespec="seconds")
    mine = StopRequest(generation.number, generation.start.run, now, login_name(), arguments.reason)
    standing = store.stop_requests.request(mine)
    if not is_json(arguments):
        say(asked_lines(store, standing, is_new=standing == mine))
    ended = _ended(arguments, store, generation, clock)
    respond(arguments, _document(store, standing, ended, is_new=standing == mine), aligned(ended.rows))
    return ended.exit_code


def _ended(arguments: Namespace, store: MigrationStore, generation: Generation, clock: Clock) -> StopOutcome:
    """Do what the options say beside the request."""
    if arguments.now:
        manner = stopped_now(store, generation).manner
        row = ("Stopped", f"from here ({manner}); the next run writes the stop certificate")
        return StopOutcome("stopped_without_certificate", ExitCode.PARTLY_DONE, (row,))
    return _awaited(store, generation.number, arguments.timeout, clock) if arguments.wait else StopOutcome("asked")


class StopOutcome(NamedTuple):
    """What became of a request: `asked`, `stopped`, `stopped_without_certificate` or `not_stopped`."""

    state: str
    exit_code: ExitCode = ExitCode.DONE
    rows: tuple[tuple[str, str], ...] = ()
    certificate: StopCertificate | None = None


def _awaited(store: MigrationStore, generation: int, timeout_s: float, clock: Clock) -> StopOutcome:
    """Wait for the stop certificate of a generation; return what was there at the end."""
    working("Waiting for the stop certificate")
    certificate = wait_for_stop(store, generation, timeout_s, clock, time.sleep)
    if certificate is not None:
        return StopOutcome(
            "stopped", ExitCode.DONE, (("Stopped", f"{certificate.at}, {certificate.manner}"),), certificate
        )
    if stopped_at := stopped_without_certificate(store, generation):
        row = ("Stopped", f"{stopped_at}, MirrorMaker has ended; {_NO_CERTIFICATE}")
        return StopOutcome("stopped_without_certificate", ExitCode.PARTLY_DONE, (row,))
    rows = (("Waited", _not_stopped_words(timeout_s)), _ledger_row(store))
    return StopOutcome("not_stopped", ExitCode.NOT_READY, rows)


def _document(store: MigrationStore, request: StopRequest, ended: StopOutcome, *, is_new: bool) -> JsonObject:
    return {
        "schema": STOP_SCHEMA,
        "migration": store.name,
        "mode": mode_of(store, request.run),
        "request": request.to_document(),
        "is_new": is_new,
        "state": ended.state,
        "certificate": ended.certificate and ended.certificate.to_document(),
    }


def open_generation(store: MigrationStore) -> Generation:
    """Return the open generation; raises `Refused` (`NOTHING_TO_STOP`) if there is none."""
    ledger = store.ledger.read()
    if ledger.open_generation is None:
        raise Refused([_nothing_to_stop(store, ledger)])
    return ledger.open_generation


def asked_lines(store: MigrationStore, request: StopRequest, *, is_new: bool) -> list[str]:
    """Return the lines on the request, its run and what happens next."""
    mode, watch = mode_of(store, request.run), _watch_settings(store, request.run)
    within = "at its next poll" if watch is None else f"within {duration(promised_s(watch))}"
    subject = f"generation {request.generation} of {store.name}"
    rows = [
        ("Asked", f"{subject} to stop mirroring" if is_new else f"{subject} was asked before"),
        ("Run", request.run if mode is None else f"{request.run}, mode {mode}"),
        ("Request", str(request)),
        ("Next", f"the run sees the request {within}, then stops MirrorMaker; {what_follows(mode)}"),
        _ledger_row(store),
    ]
    return aligned(rows)


def wait_for_stop(
    store: MigrationStore, generation: int, timeout_s: float, clock: Clock, sleep: Callable[[float], None]
) -> StopCertificate | None:
    """Return the stop certificate of a generation as soon as it is in the ledger, unless Airflow does not confirm it.

    Returns `None` after the timeout, or one minute after MirrorMaker has ended: an unreachable cluster delays the
    certificate.
    """
    deadline_s, has_ended = clock.monotonic_s() + timeout_s, False
    while True:
        certificate = _certificate(store, generation)
        now_s = clock.monotonic_s()
        if certificate is not None or now_s >= deadline_s:
            return certificate
        if not has_ended and stopped_without_certificate(store, generation):
            deadline_s, has_ended = min(deadline_s, now_s + CERTIFICATE_WAIT_S), True
        sleep(min(LOOK_EVERY_S, deadline_s - now_s))


def stopped_without_certificate(store: MigrationStore, generation: int) -> str:
    """Return the time at which the run found MirrorMaker ended; empty while unknown."""
    with suppress(*_UNREADABLE):
        stopped = (store.news.progress() or {}).get("stopped") or {}
        return str(stopped["at"]) if stopped.get("generation") == generation else ""
    return ""


def promised_s(watch: WatchSettings) -> float:
    """Return the longest time until the run acts on a request.

    The current poll may already have checked for requests. A pause and a second poll follow; after it the run acts.
    """
    return 2 * watch.poll_limit_s + watch.poll_interval_s


def mode_of(store: MigrationStore, holder: str) -> Mode | None:
    """Return the mode of a run from its preflight document; `None` if it cannot be read."""
    with suppress(*_UNREADABLE):
        preflight = store.evidence_of(holder).newest(Stored.PREFLIGHT)
        return None if preflight is None else preflight.mode
    return None


def login_name() -> str:
    """Return the login name of the user, or the user id if it has no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user id {os.getuid()}"


def _watch_settings(store: MigrationStore, holder: str) -> WatchSettings | None:
    with suppress(*_UNREADABLE):
        text = store.evidence_of(holder).frozen_migration()
        return load_migration(text, where=f"{store.name} (frozen)").watch
    return None


def _certificate(store: MigrationStore, generation: int) -> StopCertificate | None:
    found = next((g.stop for g in store.ledger.read().generations if g.number == generation), None)
    return None if found is None or store.confirmation().not_confirmed else found


def _ledger_row(store: MigrationStore) -> tuple[str, str]:
    try:
        return "Ledger", str(store.confirmation())
    except _UNREADABLE as error:
        return "Ledger", f"not compared with Airflow: {error}"


def _nothing_to_stop(store: MigrationStore, ledger: Ledger) -> Finding:
    last = ledger.last_stop
    found = "MirrorMaker was never started" if last is None else f"generation {last.generation} stopped at {last.at}"
    return Finding(
        Code.NOTHING_TO_STOP,
        f"migration {store.name}",
        f"{found}; ledger: {_ledger_row(store)[1]}",
        "a running generation of MirrorMaker",
        "If a run has not started MirrorMaker yet, mark it failed in Airflow. Otherwise nothing has to be done.",
        happened=f"No generation of MirrorMaker runs for migration {store.name}: {found} (ledger: "
        f"{_ledger_row(store)[1]}).",
        matters="A request to stop would have no effect, so none was written.",
    )


def _not_stopped_words(timeout_s: float) -> str:
    return (
        f"{duration(timeout_s)} without a stop certificate; the request remains valid. Check that the run is still "
        "active. Without an active run, MirrorMaker on a host ends when its lease expires; `kafka-migration stop NAME "
        "--now` ends it at once. The next run writes the certificate."
    )


def _reason(text: str) -> str:
    """Return the text as one line of printable characters."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())[:MAX_REASON]
