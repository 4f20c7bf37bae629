"""What the ledgers answer, kept in the API server: reading that of a large migration takes seconds of its processor.

A page during a run is made again every few seconds, while the ledger gets an entry only a few times per run. A thread
of its own reads a ledger; no page waits long for it.
"""

from __future__ import annotations

import threading
import traceback
import zlib
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, replace
from datetime import datetime

from kafka_migration.adapters.store.document_files import collector_paused, listed
from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.ledger.cutovers import Rehearsed
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.run.run_names import run_names
from kafka_migration.core.text.shortened import some
from kafka_migration.core.text.terminal_text import counted
from kafka_migration.core.validation.coverage_rules import coverage_of
from kafka_migration.steps.answers.kept_migration import MigrationStore
from kafka_migration.steps.answers.status_answer import StatusAnswer, VerdictAnswer, ledger_status, ledger_verdict

# So often a ledger is read again, even if it seems to be the same; and one that could not be read.
READ_AGAIN_S, FAILED_AGAIN_S = 3600, 60
# So long a page waits for a ledger.
PATIENCE_S = 1.0
_MOST_EVENTS = 20
_MOST_LEDGERS = 1000


class LedgerBeingRead(Exception):
    """A page cannot wait until the ledger of a migration is read; `is_first`: this process has not read it before."""

    def __init__(self, migration: str, entries: int, is_first: bool) -> None:
        count = f"{entries:,} {'entry' if entries == 1 else 'entries'}"
        first = "It is read for the first time since the api-server was started."
        self.sentences = (
            f"Airflow reads the ledger of {migration}. It has {count}.",
            first if is_first else "It has changed since it was read last.",
        )
        super().__init__(" ".join(self.sentences))


@dataclass(frozen=True, slots=True)
class KnownLedger:
    """What a ledger answers: status and verdicts without partitions, the newest rehearsal, and the newest entries.

    `events` has the time (ISO 8601) and the text of each entry.
    """

    status: StatusAnswer
    proved: VerdictAnswer
    rehearsal: Rehearsed | None
    events: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, store: MigrationStore) -> KnownLedger:
        """Read a ledger."""
        with collector_paused():
            ledger = store.ledger.read()
            covered = coverage_of(ledger)
            proved = ledger_verdict(store, ledger, covered)
            topics = {topic: replace(found, flaws=(), partitions={}) for topic, found in proved.topics.items()}
            status = ledger_status(store, ledger, covered)
            return cls(status, replace(proved, topics=topics), ledger.rehearsal, tuple(events_of(ledger)))


@dataclass(frozen=True, slots=True)
class _Reading:
    """A reading of a ledger since a moment, while it had this head in Airflow and so many entries."""

    store: MigrationStore
    state: tuple[str, int]
    at: datetime
    found: Future[KnownLedger] = field(default_factory=Future[KnownLedger])

    @property
    def place(self) -> str:
        return _place(self.store)

    def is_old(self, now: datetime) -> bool:
        """Whether the ledger is to be read again."""
        every = FAILED_AGAIN_S if self.found.exception() else READ_AGAIN_S
        return _period(self.store, self.at, every) != _period(self.store, now, every)

    def run(self) -> None:
        """Read the ledger."""
        try:
            with _few:
                # Neither the reading nor an error keeps the ledger itself in memory.
                self.found.set_result(KnownLedger.of(replace(self.store)))
        except BaseException as error:
            traceback.clear_frames(error.__traceback__)
            self.found.set_exception(error)
        with _all:
            del _running[self.place]
            if not isinstance(self.found.exception(), TransientError):
                _ended[self.place] = self
            while len(_ended) > _MOST_LEDGERS:
                _ended.pop(next(iter(_ended)))


_ended: dict[str, _Reading] = {}
_running: dict[str, _Reading] = {}
# More at a time would only need more memory.
_all, _few = threading.Lock(), threading.Semaphore(2)


def known_ledger(store: MigrationStore, now: datetime, patience_s: float | None = None) -> KnownLedger:
    """Return what the ledger of a migration answers; a thread reads it if it has changed, or after an hour.

    Raises `LedgerBeingRead` if the ledger has changed and is not read in time, and what the reading raised.
    """
    state = _state(store)
    with _all:
        last = _ended.get(_place(store))
        is_known = last is not None and last.state == state
        if last and is_known and not last.is_old(now):
            return last.found.result()
        reading = _running.get(_place(store)) or _begun(_Reading(store, state, now))
    if last and is_known:
        return last.found.result()
    wait([reading.found], PATIENCE_S if patience_s is None else patience_s)
    if reading.found.done() and reading.state == state:
        return reading.found.result()
    raise LedgerBeingRead(store.name, state[1], is_first=last is None)


def _begun(reading: _Reading) -> _Reading:
    # A daemon: the end of the API server does not wait for it.
    threading.Thread(target=reading.run, name=f"ledger of {reading.store.name}", daemon=True).start()
    return _running.setdefault(reading.place, reading)


def forget() -> None:
    """Forget all ledgers, as a new process."""
    with _all:
        _ended.clear()


def ledger_state(store: MigrationStore, now: datetime) -> str:
    """Return a text that changes with the ledger and when it was read again, without its entries being read."""
    state, last = _state(store), _ended.get(_place(store))
    at = last.at if last and last.state == state else now
    return f"{state} {_period(store, at, READ_AGAIN_S)}"


def _state(store: MigrationStore) -> tuple[str, int]:
    anchor = store.find_anchor(store.name)
    return anchor.head().to_text() if anchor else "", len(listed(store.ledger.folder))


def _place(store: MigrationStore) -> str:
    return f"{store.root}/{store.name}"


def _period(store: MigrationStore, moment: datetime, every_s: int) -> int:
    # Each migration at another moment of the hour, so that not all are read at once.
    return (int(moment.timestamp()) + zlib.crc32(store.name.encode())) // every_s


def events_of(ledger: Ledger) -> list[tuple[str, str]]:
    """Return the newest entries of the ledger, the newest first: when, and what happened."""
    runs = [generation.start.run for generation in ledger.generations]
    runs += [judged.run for judged in ledger.judgements]
    runs += [each.run for each in (*ledger.cutovers, *ledger.rollbacks, ledger.rehearsal) if each]
    return sorted(_events(ledger, run_names(runs)), reverse=True)[:_MOST_EVENTS]


def _events(ledger: Ledger, names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for generation in ledger.generations:
        start, stop = generation.start, generation.stop
        yield start.at, f"MirrorMaker's generation {start.generation} was started by {names[start.run]}"
        if stop:
            yield stop.at, f"MirrorMaker's generation {stop.generation} ended: {stop.manner}"
    for judged in ledger.judgements:
        bad = [f"{topic} {verdict}" for topic, verdict in judged.topics.items() if not verdict.is_good]
        found = some(bad) if bad else "all good"
        yield judged.at, f"{counted(len(judged.topics), 'topic')} judged by {names[judged.run]}: {found}"
    yield from ((each.at, f"{some(each.topics)} cut over by {names[each.run]}") for each in ledger.cutovers)
    yield from ((each.at, f"{some(each.topics)} rolled back by {names[each.run]}") for each in ledger.rollbacks)
    if rehearsal := ledger.rehearsal:
        against = counted(len(rehearsal.against), "reason") if rehearsal.against else "nothing"
        yield rehearsal.at, f"rehearsed by {names[rehearsal.run]}: {against} against a cutover"
