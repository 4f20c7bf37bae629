"""Rules of the pages while a thread reads the ledger, which takes long if the ledger is large."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from fastapi.testclient import TestClient

from kafka_migration.adapters.store.ledger_store import LedgerStore
from kafka_migration.core.findings.errors import Refused, TransientError
from kafka_migration.core.ledger.chain import broken
from kafka_migration.core.ledger.cutovers import Reserved
from kafka_migration.page import known_ledgers, screen
from kafka_migration.page.known_ledgers import KnownLedger, LedgerBeingRead, known_ledger, ledger_state
from kafka_migration.steps.answers.kept_migration import MigrationStore
from tests.airflow.test_pages import DAG, PAGE, RUN_PAGE, client, ended, shown, times, words
from tests.airflow.world import World

__all__ = ["client", "ended", "shown", "times"]

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
# Longer than any outcome is kept.
LATER = NOW + timedelta(hours=1)


@dataclass
class Readings:
    """Readings of ledgers, which wait until they are let go; the next ones fail with `error`, if there is one."""

    count: int = 0
    error: Exception | None = None
    go: threading.Event = field(default_factory=threading.Event)

    def of(self, read: Callable[[MigrationStore], KnownLedger], store: MigrationStore) -> KnownLedger:
        """Read like `KnownLedger.of`."""
        self.count += 1
        assert self.go.wait(600)
        if self.error:
            raise self.error
        return read(store)

    def end(self) -> None:
        """Let all readings go, wait for their end, and hold the next ones."""
        self.go.set()
        for thread in threading.enumerate():
            if thread.name.startswith("ledger of "):
                thread.join()
        self.go.clear()


@pytest.fixture
def readings(ended: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[Readings]:
    """Readings that are held, and pages that do not wait for them."""
    readings = Readings()
    monkeypatch.setattr(KnownLedger, "of", partial(readings.of, KnownLedger.of))
    monkeypatch.setattr(known_ledgers, "PATIENCE_S", 0)
    yield readings
    readings.end()


@pytest.fixture
def store(ended: World) -> MigrationStore:
    """The evidence of the migration."""
    found = screen.opened("shop")
    assert found
    return found


def refused() -> Refused:
    """Return the error of a ledger that was changed."""
    return Refused([broken("ledger/000002.json", "another entry", "the entry that Airflow keeps")])


def test_page_says_that_the_ledger_is_being_read(readings: Readings, client: TestClient) -> None:
    """A page does not wait long: it says that the ledger is being read, asks again, and then shows the migration."""
    page = client.get(PAGE)
    text = words(page.text)

    assert (202, None) == (page.status_code, page.headers.get("etag"))
    assert "Airflow reads the ledger of shop. It has 8 entries." in text
    assert "for the first time since the api-server was started" in text
    assert 'data-poll="5"' in page.text
    assert "proved" not in text

    readings.end()
    page = client.get(PAGE)
    assert 200 == page.status_code
    assert "The copy is proved" in words(page.text)
    assert 304 == client.get(PAGE, headers={"If-None-Match": page.headers["etag"]}).status_code


def test_pages_share_one_reading(readings: Readings, client: TestClient) -> None:
    """All pages of a migration together read its ledger once."""
    for address in (PAGE, RUN_PAGE, PAGE, "/"):
        assert client.get(address).status_code in {200, 202}
    readings.end()
    assert 200 == client.get(PAGE).status_code

    assert 1 == readings.count


def test_list_says_which_ledger_is_being_read(readings: Readings, client: TestClient) -> None:
    """The list of all migrations does not wait either, and a poll gets the row as soon as the ledger is read."""
    page = client.get("/")
    assert (200, None) == (page.status_code, page.headers.get("etag"))
    assert "shop being read Airflow reads the ledger of shop. It has 8 entries." in words(page.text)

    readings.end()
    page = client.get("/")
    assert "being read" not in page.text
    assert "PASS" in page.text
    assert page.headers["etag"]


def test_older_ledger_is_not_shown_as_the_current_one(ended: World, readings: Readings, client: TestClient) -> None:
    """While a ledger with a new entry is being read, the verdict of the earlier one is not shown."""
    client.get(PAGE)
    readings.end()
    assert "The copy is proved" in words(client.get(PAGE).text)
    LedgerStore(ended.root, "shop").append(Reserved(f"{DAG}/manual__2#1", NOW.isoformat()).to_document())
    text = words(client.get(PAGE).text)

    assert "It has 9 entries. It has changed since it was read last." in text
    assert "proved" not in text


def test_entry_during_a_reading_is_read_too(ended: World, readings: Readings, store: MigrationStore) -> None:
    """What a reading found that began before the newest entry is not shown; one more reading follows."""
    with pytest.raises(LedgerBeingRead):
        known_ledger(store, NOW)
    LedgerStore(ended.root, "shop").append(Reserved(f"{DAG}/manual__2#1", NOW.isoformat()).to_document())
    with pytest.raises(LedgerBeingRead):
        known_ledger(store, NOW)
    assert 1 == readings.count
    readings.end()
    with pytest.raises(LedgerBeingRead):
        known_ledger(store, NOW)
    readings.end()

    assert 9 == known_ledger(store, NOW).status.ledger.entries
    assert 2 == readings.count


def test_reading_that_fails_is_explained(readings: Readings, client: TestClient) -> None:
    """What makes a ledger unreadable is on the page after the reading, and in the list."""
    readings.error = refused()
    assert 202 == client.get(PAGE).status_code
    readings.end()
    page = client.get(PAGE)

    assert 409 == page.status_code
    assert "The evidence cannot be shown" in words(page.text)
    assert "evidence unreadable" in words(client.get("/").text)
    assert 1 == readings.count


def test_failed_reading_is_repeated(readings: Readings, store: MigrationStore) -> None:
    """An error is shown until the ledger was read again, which happens after a minute."""
    readings.error = refused()
    with pytest.raises(LedgerBeingRead):
        known_ledger(store, NOW)
    readings.end()
    readings.error = None
    for moment in (NOW, LATER):
        with pytest.raises(Refused):
            known_ledger(store, moment)
    readings.end()

    assert known_ledger(store, LATER).proved.standing == "PASS"
    assert 2 == readings.count


def test_airflow_that_did_not_answer_is_not_kept(readings: Readings, store: MigrationStore) -> None:
    """A reading that failed because Airflow did not answer says nothing of the ledger, so the next page reads it."""
    readings.error = TransientError("Airflow did not answer")
    with pytest.raises(LedgerBeingRead):
        known_ledger(store, NOW)
    readings.end()
    readings.error = None
    with pytest.raises(LedgerBeingRead):
        known_ledger(store, NOW)
    readings.end()

    assert known_ledger(store, NOW).proved.standing == "PASS"


def test_same_ledger_is_shown_while_it_is_read_again(readings: Readings, store: MigrationStore) -> None:
    """After an hour the ledger is read again; what is known of the same ledger is shown until then, also to polls."""
    with pytest.raises(LedgerBeingRead):
        known_ledger(store, NOW)
    readings.end()
    state = ledger_state(store, NOW)
    readings.error = refused()

    assert known_ledger(store, LATER).proved.standing == "PASS"
    assert 2 == readings.count
    assert state == ledger_state(store, LATER)
    readings.end()
    assert state != ledger_state(store, LATER)
    with pytest.raises(Refused):
        known_ledger(store, LATER)
