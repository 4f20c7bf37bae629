"""What the ledgers answer, kept in the API server: reading that of a large migration takes seconds.

A page during a run is made again every few seconds, while the ledger gets an entry only a few times per run.
"""

from __future__ import annotations

import threading
import zlib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from kafka_migration.adapters.store.document_files import listed
from kafka_migration.core.ledger.cutovers import Rehearsed
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.text.shortened import some
from kafka_migration.core.text.terminal_text import counted
from kafka_migration.core.validation.coverage_rules import coverage_of
from kafka_migration.steps.answers.kept_migration import MigrationStore
from kafka_migration.steps.answers.status_answer import StatusAnswer, VerdictAnswer, ledger_status, ledger_verdict

# So often a ledger is read again, even if it seems to be the same.
READ_AGAIN_S = 3600
_MOST_EVENTS = 20
_MOST_LEDGERS = 1000


@dataclass(frozen=True, slots=True)
class KnownLedger:
    """What a ledger answers: status and verdicts without partitions, the newest rehearsal, and the newest entries."""

    status: StatusAnswer
    proved: VerdictAnswer
    rehearsal: Rehearsed | None
    events: tuple[str, ...]

    @classmethod
    def of(cls, store: MigrationStore) -> KnownLedger:
        """Read a ledger."""
        ledger = store.ledger.read()
        covered = coverage_of(ledger)
        proved = ledger_verdict(store, ledger, covered)
        topics = {topic: replace(found, flaws=(), partitions={}) for topic, found in proved.topics.items()}
        status = ledger_status(store, ledger, covered)
        return cls(status, replace(proved, topics=topics), ledger.rehearsal, tuple(events_of(ledger)))


_known: dict[str, tuple[str, KnownLedger]] = {}
_all, _locks = threading.Lock(), defaultdict[str, threading.Lock](threading.Lock)


def known_ledger(store: MigrationStore, now: datetime) -> KnownLedger:
    """Return what the ledger of a migration answers; it is read only if it has changed."""
    place, state = f"{store.root}/{store.name}", ledger_state(store, now)
    with _all:
        lock = _locks[place]
    # Browsers that ask at the same time wait for one of them.
    with lock:
        known = _known.get(place)
        if known and known[0] == state:
            return known[1]
        found = KnownLedger.of(store)
        _keep(place, state, found)
        return found


def _keep(place: str, state: str, found: KnownLedger) -> None:
    with _all:
        _known[place] = state, found
        while len(_known) > _MOST_LEDGERS:
            _known.pop(next(iter(_known)))


def forget() -> None:
    """Forget all ledgers, as a new process."""
    _known.clear()


def ledger_state(store: MigrationStore, now: datetime) -> str:
    """Return a text that changes with the ledger, without its entries being read."""
    anchor = store.find_anchor(store.name)
    head, entries = anchor.head().to_text() if anchor else "", len(listed(store.ledger.folder))
    # Each migration at another moment of the hour, so that not all are read at once.
    since = (int(now.timestamp()) + zlib.crc32(store.name.encode())) // READ_AGAIN_S
    return f"{head} {entries} {since}"


def events_of(ledger: Ledger) -> list[str]:
    """Return the newest entries of the ledger in words, the newest first."""
    return [f"{at}: {what}" for at, what in sorted(_events(ledger), reverse=True)[:_MOST_EVENTS]]


def _events(ledger: Ledger) -> Iterator[tuple[str, str]]:
    for generation in ledger.generations:
        start, stop = generation.start, generation.stop
        yield start.at, f"MirrorMaker's generation {start.generation} was started by {start.run}"
        if stop:
            yield stop.at, f"MirrorMaker's generation {stop.generation} ended: {stop.words}"
    for judged in ledger.judgements:
        bad = [f"{topic} {verdict}" for topic, verdict in judged.topics.items() if not verdict.is_good]
        found = some(bad) if bad else "all good"
        yield judged.at, f"{counted(len(judged.topics), 'topic')} judged by {judged.run}: {found}"
    yield from ((each.at, f"{some(each.topics)} cut over by {each.run}") for each in ledger.cutovers)
    yield from ((each.at, f"{some(each.topics)} rolled back by {each.run}") for each in ledger.rollbacks)
    if rehearsal := ledger.rehearsal:
        against = counted(len(rehearsal.against), "reason") if rehearsal.against else "nothing"
        yield rehearsal.at, f"rehearsed by {rehearsal.run}: {against} against a cutover"
