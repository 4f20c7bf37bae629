"""Rules of the pages in Airflow's UI if the evidence is in an object store: fsspec's own one in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk.io import attach, store
from fsspec.implementations.memory import MemoryFileSystem  # type: ignore[import-untyped] # fsspec has no types

from kafka_migration.adapters.store.document_files import Folder, rooted
from kafka_migration.adapters.store.run_status_store import NewsStore
from kafka_migration.airflow_adapters import airflow_settings as settings
from kafka_migration.page import kept_in_airflow, pages, report_page
from kafka_migration.page.known_ledgers import forget
from kafka_migration.page.pages import Visit
from tests.airflow.test_pages import DAG, copy_once, shown, times, words
from tests.airflow.world import World
from tests.unit.partitions import P0

__all__ = ["shown", "times"]

NOW = datetime.now(UTC) + timedelta(minutes=1)
ACTIVE = {
    "schema": 1,
    "run": f"{DAG}/manual__1#1",
    "step": "watch_lag",
    "mode": "sync",
    "at": (NOW - timedelta(seconds=9)).isoformat(),
    "step_at": (NOW - timedelta(minutes=3)).isoformat(),
    "copied": 4,
    "total": 5,
    "lag": 1,
    "rate": 0.5,
    "behind": [{"topic": "orders", "lag": 1}],
}


class CountedStore(MemoryFileSystem):  # type: ignore[misc] # fsspec has no types
    """An object store in memory that counts what it is asked."""

    cachable = False

    def __init__(self) -> None:
        super().__init__()
        self.store: dict[str, Any] = {}
        self.pseudo_dirs = [""]
        self.asked: Counter[str] = Counter()

    def __getattribute__(self, name: str) -> Any:
        if name in {"ls", "info", "isdir", "isfile", "exists", "open", "find", "glob", "walk"}:
            self.asked[name] += 1
        return super().__getattribute__(name)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> CountedStore:
    """The store behind `memory://`, empty."""
    monkeypatch.setattr(store, "_STORE_CACHE", {})
    forget()
    found = CountedStore()
    attach("memory", fs=found)
    return found


def uploaded(folder: Path) -> Folder:
    """Return the root of an object store that has the files of a folder."""
    root = settings.folder_at("memory://proofs/kafka")
    for path in folder.rglob("*"):
        if path.is_file():
            place = root / str(path.relative_to(folder))
            place.fs.pipe_file(place.path, path.read_bytes())
    return root


def visit(**known: str) -> Visit:
    """Return a visit of a user who may see all."""
    return Visit(lambda _: True, "./", known.get("known", ""), NOW)


PAGES: dict[str, Callable[[], Any]] = {
    "fleet": lambda: pages.fleet(visit()),
    "migration": lambda: pages.migration(visit(), DAG),
    "run": lambda: pages.migration(visit(), DAG, "manual__1"),
    "topic": lambda: pages.topic(visit(), DAG, "orders"),
    "series": lambda: pages.series(visit(), DAG),
    "report": lambda: report_page.page_of(DAG, "manual__1"),
}


def answers(monkeypatch: pytest.MonkeyPatch, root: Folder) -> dict[str, Any]:
    """Return what each page answers from an evidence root."""
    monkeypatch.setattr(settings, "evidence_root", lambda: root)
    return {name: page() for name, page in PAGES.items()}


def ended(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run has copied and proved five records; a page of it says so."""
    copy_once(world)


def active(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run has proved five records and has not ended."""
    monkeypatch.setattr(kept_in_airflow, "run_state", lambda *_: "running")
    for number in range(5):
        world.source.produce("orders", 0, (b"k%d" % number, b"v"))
    world.copy_and_judge({P0: 5})
    NewsStore(rooted(world.root), "shop").tell_progress(ACTIVE)


def waiting(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """No run has begun."""
    world.root.mkdir(exist_ok=True)


@pytest.mark.parametrize(
    ("begin", "said"),
    [(ended, "The copy is proved"), (active, "A run is active. Wait for it."), (waiting, "No run yet.")],
)
def test_object_store_gives_the_pages_of_a_folder(
    shown: World,
    counted: CountedStore,
    monkeypatch: pytest.MonkeyPatch,
    begin: Callable[[World, pytest.MonkeyPatch], None],
    said: str,
) -> None:
    """Each page has the same text from an object store as from a folder with the same files."""
    begin(shown, monkeypatch)
    folder = answers(monkeypatch, rooted(shown.root))
    found = answers(monkeypatch, uploaded(shown.root))

    assert said in words(folder["migration"].body)
    assert folder == found


def test_poll_asks_the_store_as_often_after_many_runs(
    shown: World, counted: CountedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a poll that finds nothing new asks of the store does not grow with the number of runs."""
    copy_once(shown)
    root = uploaded(shown.root)
    monkeypatch.setattr(settings, "evidence_root", lambda: root)

    def asked() -> Counter[str]:
        tag = pages.migration(visit(), DAG).tag
        counted.asked.clear()
        assert 304 == pages.migration(visit(known=tag), DAG).status
        return Counter(counted.asked)

    before = asked()
    for number in range(30):
        place = root / "shop" / f"run-{number}" / "attempt-1" / "migration.yaml"
        counted.pipe_file(place.path, b"")

    assert before == asked()


def test_store_that_does_not_answer_is_explained(
    shown: World, counted: CountedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the object store refuses every request, each page says so in its client's words."""

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError("AccessDenied")

    copy_once(shown)
    root = uploaded(shown.root)
    for call in ("ls", "exists", "open"):
        monkeypatch.setattr(counted, call, refuse)

    for name, answer in answers(monkeypatch, root).items():
        assert "AccessDenied" in (answer.body if name != "report" else answer.text)


def test_entry_that_vanishes_breaks_the_ledger(
    shown: World, counted: CountedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An entry that is deleted after it was listed is named as the entry that is missing."""
    copy_once(shown)
    root = uploaded(shown.root)
    (first, *_) = sorted(path for path in counted.store if "/ledger/" in path)
    monkeypatch.setattr(counted, "open", partial(open_unless, counted.open, first))
    page = answers(monkeypatch, root)["migration"]

    assert 409 == page.status
    assert first.rpartition("/")[2] in page.body
    assert "FileNotFoundError" in page.body


def open_unless(opened: Callable[..., Any], lost: str, path: str, *arguments: Any, **named: Any) -> Any:
    if path.endswith(lost):
        raise FileNotFoundError(lost)
    return opened(path, *arguments, **named)
