"""Rules of the pages in Airflow's UI, without a browser: what they show, and to whom."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from starlette.applications import Starlette
from starlette.routing import Mount

from kafka_migration.adapters.store.digest_keeper import KEY
from kafka_migration.adapters.store.document_files import rooted
from kafka_migration.adapters.store.ledger_store import LedgerStore
from kafka_migration.adapters.store.run_status_store import NewsStore
from kafka_migration.airflow_adapters import airflow_settings as settings
from kafka_migration.core.ledger.chain import Head
from kafka_migration.core.ledger.cutovers import Reserved
from kafka_migration.orchestration.report_link import URL_PREFIX
from kafka_migration.page import kept_in_airflow, known_ledgers, screen
from kafka_migration.page.kept_in_airflow import KnownDag, TaskTimes, dags_of
from kafka_migration.page.routes import application
from tests.airflow.visiting import visitor
from tests.airflow.world import World
from tests.contract.memory_anchor import MemoryAnchor
from tests.unit.partitions import P0

DAG, NIGHTLY = "kafka_migration__shop", "kafka_nightly_sync__shop"
PAGE, RUN_PAGE = f"/dag/{DAG}", f"/run/{DAG}/manual__1"


def head_of(root: Path) -> Head:
    """Return the head of the ledger as it is."""
    head = Head()
    for name in sorted((root / "shop" / "ledger").glob("*.json")):
        head = head.after(name.read_bytes())
    return head


@pytest.fixture
def times() -> list[TaskTimes]:
    """The tasks of each run in Airflow."""
    return []


@pytest.fixture
def shown(world: World, times: list[TaskTimes], monkeypatch: pytest.MonkeyPatch) -> World:
    """A migration whose evidence root the API server reads; Airflow keeps the head of its ledger and its digests."""

    def stored(dag_id: str, run_id: str) -> list[Any]:
        kept = world.task_instance.kept.xcoms
        return [value for (run, _, key), value in kept.items() if run == f"{dag_id} {run_id}" and key == KEY]

    monkeypatch.setattr(kept_in_airflow, "stored_by_tasks", stored)
    monkeypatch.setattr(kept_in_airflow, "task_times", lambda *_: list(times))
    states = {"manual__1": "success", "manual__2": "running", "scheduled__1": "success", "a/b": "success"}
    monkeypatch.setattr(kept_in_airflow, "run_state", lambda _, run_id: states.get(run_id))
    monkeypatch.setattr("kafka_migration.page.pages.known_dags", lambda: [KnownDag(DAG, "shop", None)])
    monkeypatch.setattr(settings, "evidence_root", lambda: rooted(world.root))
    monkeypatch.setattr(settings, "migrations_folder", lambda: world.file.parent)
    monkeypatch.setattr(known_ledgers, "PATIENCE_S", 600)
    head: list[Head] = []
    monkeypatch.setattr(screen, "database_anchor", lambda _: MemoryAnchor(head[0] if head else head_of(world.root)))
    monkeypatch.setattr(World, "forget_head", lambda self: head.append(head_of(self.root)), raising=False)
    return world


def copy_once(world: World) -> World:
    """Copy and prove five records in a run that ends."""
    for number in range(5):
        world.source.produce("orders", 0, (b"k%d" % number, b"v"))
    world.params = {"mode": "sync"}
    world.copy_and_judge({P0: 5})
    world.finish(preflight="success")
    return world


@pytest.fixture
def ended(shown: World) -> World:
    """A run that copied and proved five records."""
    return copy_once(shown)


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """A user who may read the runs of the migration's DAG for people."""
    with visitor(monkeypatch, DAG) as client:
        yield client


def words(html: str) -> str:
    """Return the text of a page."""
    return unescape(" ".join(re.sub(r"<[^>]*>", " ", html).split()))


def test_page_answers_from_the_run_and_the_ledger(ended: World, client: TestClient) -> None:
    """The page of a proved copy says so first, and has the topics, the readiness and what happened."""
    page = client.get(PAGE)
    text = words(page.text)

    assert 200 == page.status_code
    assert "The copy is proved" in text
    assert "Consumer groups This run has no plan of its groups." in text
    assert "kafka-migration plan shop --mode cutover" in text
    assert "May the source be switched off? No : not all topics are cut over." in text
    for heading in ("What it does now", "Topics, the worst first", "May the migration be cut over?", "What happened"):
        assert heading in text
    assert "MirrorMaker's generation 1 was started" in text


def test_copy_that_differs_comes_first(shown: World, client: TestClient) -> None:
    """A copy that differs is the first sentence; its topic is the first one, and what to do next is there."""
    shown.source.produce("orders", 0, (b"k", b"v"))
    shown.params = {"mode": "sync"}
    shown.copy({P0: 1})
    shown.validated(equal=False)
    shown.refuses("judge")
    shown.finish_fails(preflight="success", judge="failed")
    text = words(client.get(PAGE).text)

    assert "The copy differs from the source." in text
    assert text.index("The copy differs") < text.index("What to do next") < text.index("Topics, the worst first")
    assert re.search(r"Because audit FAIL .* orders FAIL", text)
    assert "wrong" in words(client.get("/").text)


def test_pages_run_no_inline_script_and_ask_no_other_host(ended: World, client: TestClient) -> None:
    """No page has an inline script, a style attribute or an absolute address, and its headers forbid all of them."""
    for address in (PAGE, RUN_PAGE, "/", f"/topic/{DAG}/orders", "/dag/unknown"):
        page = client.get(address)
        policy = page.headers["content-security-policy"]
        assert not re.search(r"<script(?![^>]*\bsrc=)|\bstyle=|\bon\w+=|(?:src|href)=\"(?:[a-z]+:)?//", page.text)
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy


@pytest.mark.parametrize("prefix", ["", "/team/airflow"])
@pytest.mark.parametrize(
    ("address", "root"), [("/", "./"), (PAGE, "../"), (RUN_PAGE, "../../"), (f"/run/{DAG}/a%2Fb", "../../")]
)
def test_addresses_are_relative_to_any_prefix(
    ended: World, monkeypatch: pytest.MonkeyPatch, prefix: str, address: str, root: str
) -> None:
    """From each page the assets and Airflow's own pages are reached by relative addresses, below any path prefix."""
    with visitor(monkeypatch, DAG) as client:
        outer = Starlette(routes=[Mount(f"{prefix}{URL_PREFIX}", client.app)])
        page = TestClient(outer).get(f"{prefix}{URL_PREFIX}{address}")

    assert 200 == page.status_code
    assert f'href="{root}asset/page.css"' in page.text


def routes_of(pages: FastAPI) -> list[str]:
    """Return an address for every registered route."""
    paths = [str(route.path) for route in pages.routes if hasattr(route, "path")]
    return [re.sub(r"\{run_id:path\}", "manual__1", re.sub(r"\{(dag_id)\}", DAG, path)) for path in paths]


def test_every_route_needs_a_login(ended: World) -> None:
    """Each registered route denies a request without a login, assets included."""
    pages = application()
    addresses = [re.sub(r"\{\w+\}", "page.css", address) for address in routes_of(pages)]
    visitor = TestClient(pages)

    assert 7 == len(addresses)
    assert {401} == {visitor.get(address).status_code for address in addresses}
    assert all("Sign in again" in visitor.get(address).text for address in addresses)


def test_no_page_of_a_migration_for_others(ended: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user without the right on the DAG gets no page of it, whatever other id the address has, and an empty list."""
    with visitor(monkeypatch, "etl") as client:
        for address in routes_of(application()):
            if "dag_id" not in address and DAG in address:
                for spoofed in ("", "?dag_id=etl", f"?dag_id={DAG}&dag_id=etl"):
                    assert 403 == client.get(address.replace("{topic}", "orders") + spoofed).status_code
        assert "shop" not in client.get("/").text


def test_run_of_another_dag_needs_its_right_too(ended: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever may not read the runs of the nightly DAG sees the migration without such a run."""
    news = NewsStore(rooted(ended.root), "shop")
    news.tell_last_run({**(news.last_run() or {}), "run": f"{NIGHTLY}/scheduled__1#1"})

    with visitor(monkeypatch, DAG) as client:
        assert "Open the run in Airflow" not in client.get(PAGE).text
        assert 403 == client.get(f"/run/{NIGHTLY}/scheduled__1").status_code
    with visitor(monkeypatch, DAG, NIGHTLY) as client:
        assert "Open the run in Airflow" in client.get(PAGE).text
    with visitor(monkeypatch, NIGHTLY) as client:
        assert 403 == client.get(f"/run/{NIGHTLY}/scheduled__1").status_code


def test_dag_of_another_package_has_one_line(shown: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a DAG that is no migration the page says so, and leads to the list."""
    with visitor(monkeypatch, "etl") as client:
        page = client.get("/dag/etl")

    assert 200 == page.status_code
    assert "not one of a Kafka migration" in page.text
    assert "All migrations" in page.text


def test_migration_without_a_run_is_shown_from_its_file(shown: World, client: TestClient) -> None:
    """Before the first run the page says what the file copies, and what comes first."""
    text = words(client.get(PAGE).text)

    assert "No run yet." in text
    assert "from source to target" in text or "Its file copies" in text
    assert "kafka-migration preflight shop" in text
    assert "no run yet" in client.get("/").text


@pytest.mark.parametrize("forge", ["entry", "changed", "deleted"])
def test_forged_ledger_is_never_shown_as_proved(ended: World, client: TestClient, forge: str) -> None:
    """A ledger that is not the one that Airflow keeps gives no verdict and no readiness."""
    ended.forget_head()  # type: ignore[attr-defined]
    folder = ended.root / "shop" / "ledger"
    *_, before, newest = sorted(folder.glob("*.json"))
    match forge:
        case "entry":
            LedgerStore(ended.root, "shop").append(Reserved("stranger", "2031-01-01T00:00:00+00:00").to_document())
        case "changed":
            assert '"PASS"' in before.read_text()
            before.write_text(before.read_text().replace("PASS", "WARN"))
        case "deleted":
            newest.unlink()

    for address in (PAGE, f"/topic/{DAG}/orders"):
        page = client.get(address)
        assert "The copy is proved" not in page.text
        assert "PASS" not in page.text
        assert page.status_code in {200, 409}
    assert ">proved<" not in client.get("/").text


def test_forged_result_of_a_run_is_named(ended: World, client: TestClient) -> None:
    """A changed `run.json` is the first line of the page, and nothing of it is shown."""
    path = Path(str(ended.run.evidence.folder / "run.json"))
    document = json.loads(path.read_text()) | {"next_steps": ["Cut over at once."]}
    path.write_text(json.dumps(document))
    text = words(client.get(PAGE).text)

    assert "The documents of the run are not shown." in text
    assert "Nothing needs a person" not in text
    assert "Cut over at once" not in text


WRONG = ['{"half', "[]", "7", '{"at": "nonsense"}', '{"run": 5}', '{"run": "x", "at": "2030-01-01T00:00:00"}']
BEGIN = '{"run": "x", "at": "2030-01-01T00:00:00+00:00", "step": "watch_lag", '
HUGE = f'{BEGIN}"copied": {10**400}, "total": 1, "lag": 1}}'


@pytest.mark.parametrize("text", [*WRONG, HUGE, f'{BEGIN}"rate": NaN}}'])
@pytest.mark.parametrize("name", ["progress.json", "last-run.json", "progress-series.json", "ledger"])
def test_corrupt_evidence_is_explained(ended: World, client: TestClient, name: str, text: str) -> None:
    """Half-written or odd evidence gives a page that explains it, never an error of the server."""
    first = sorted((ended.root / "shop" / "ledger").glob("*.json"))[0]
    (first if name == "ledger" else ended.root / "shop" / name).write_text(text)

    for address in (PAGE, RUN_PAGE, "/", f"/series/{DAG}"):
        page = client.get(address)
        assert page.status_code in {200, 409}
        assert "Traceback" not in page.text


HOSTILE = "<script>alert(1)</script>"


def test_hostile_texts_stay_text(ended: World, client: TestClient) -> None:
    """Names, reasons and lines that anyone may write to the evidence root are never markup."""
    NewsStore(rooted(ended.root), "shop").tell_progress(
        {
            "schema": 1,
            "run": f"{DAG}/manual__2#1",
            "step": "watch_lag",
            "mode": HOSTILE,
            "at": datetime.now(UTC).isoformat(),
            "stage": f"{HOSTILE}\x1b[2J",
            "silent": [{"party": HOSTILE, "since": "now", "reason": "\u202e" + HOSTILE}],
            "behind": [{"topic": HOSTILE, "lag": 5}],
        }
    )

    for address in (PAGE, "/"):
        page = client.get(address)
        assert 200 == page.status_code
        assert "<script>alert" not in page.text
        assert not {"\x1b", "\u202e"} & set(page.text)
    assert "&lt;script&gt;" in client.get(PAGE).text


@pytest.mark.parametrize(
    "address",
    [
        "/asset/../pages.py",
        "/asset/%2e%2e%2fpages.py",
        "/asset/page.py",
        "/asset/",
        "/topic/kafka_migration__shop/none",
        "/static/page.css",
        "/run",
        "/dag/",
    ],
)
def test_only_pages_and_assets_are_served(ended: World, client: TestClient, address: str) -> None:
    """Any other address is not found."""
    assert 404 == client.get(address).status_code


def test_poll_of_nothing_new_reads_no_ledger(ended: World, client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that has not changed is not made again; after news it is."""
    tag = client.get(PAGE).headers["etag"]
    monkeypatch.setattr(LedgerStore, "read", lambda _: pytest.fail("the ledger was read"))
    assert 304 == client.get(PAGE, headers={"If-None-Match": tag}).status_code
    monkeypatch.undo()


def test_news_change_the_page(ended: World, client: TestClient) -> None:
    """A poll after news gets the page, with a banner if the news are old."""
    tag = client.get(PAGE).headers["etag"]
    at = datetime.now(UTC) - timedelta(minutes=10)
    NewsStore(rooted(ended.root), "shop").tell_step(f"{DAG}/manual__2#1", "watch_lag", at.isoformat())
    page = client.get(PAGE, headers={"If-None-Match": tag})

    assert 200 == page.status_code
    assert "Check that the run and the triggerer are still running" in page.text


def test_run_that_airflow_has_ended_is_not_active(ended: World, client: TestClient) -> None:
    """Progress of a run that ended in Airflow without its result is a problem, and asks nothing of a person."""
    news = NewsStore(rooted(ended.root), "shop")
    news.tell_progress({"schema": 1, "run": f"{DAG}/manual__1#2", "step": "judge", "at": datetime.now(UTC).isoformat()})
    text = words(client.get(PAGE).text)

    assert "the run ended in Airflow (success) without its result" in text
    assert "A run is active" not in text
    assert "Nothing needs a person" not in text


def test_run_that_airflow_does_not_know_has_no_page(ended: World, client: TestClient) -> None:
    """No text in the address becomes a run."""
    for run_id in ("Call%20the%20hotline", "a%00b"):
        assert 404 == client.get(f"/run/{DAG}/{run_id}").status_code
    assert 403 == client.get("/dag/a%00b").status_code


def test_missing_or_older_last_result_makes_readiness_unknown(ended: World, client: TestClient) -> None:
    """Anyone may delete the last result or put back an older one, so neither says that no run failed since."""
    path = ended.root / "shop" / "last-run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"at": "2020-01-01T00:00:00+00:00"}))
    assert 2 == words(client.get(PAGE).text).count("older than the newest entry of the ledger")

    path.unlink()
    assert 2 == words(client.get(PAGE).text).count("(last-run.json) is missing")


def test_state_of_a_task_changes_the_page(ended: World, times: list[TaskTimes], client: TestClient) -> None:
    """A poll after a task of the run has changed its state in Airflow gets the page."""
    tag = client.get(PAGE).headers["etag"]
    times.append(TaskTimes("judge", "failed", None, None))

    assert 200 == client.get(PAGE, headers={"If-None-Match": tag}).status_code


def test_migrations_are_known_by_their_dags() -> None:
    """A migration is known by its DAG for people; its nightly DAG says when it runs next, unless it is paused."""
    at = datetime(2030, 1, 1, tzinfo=UTC)
    rows = [
        (DAG, False, None),
        (NIGHTLY, False, at),
        ("kafka_migration__b", True, None),
        ("kafka_migration__", False, at),
    ]

    assert [KnownDag("kafka_migration__b", "b", None), KnownDag(DAG, "shop", at)] == dags_of(rows)
    assert [KnownDag(DAG, "shop", None)] == dags_of([(DAG, False, None), (NIGHTLY, True, at)])


def test_vendored_files_are_unchanged() -> None:
    """uPlot is what its project published as version 1.6.32."""
    folder = Path(screen.__file__).parent / "assets"
    assert {
        "uPlot.iife.min.js": "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
        "uPlot.min.css": "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
        "uPlot.LICENSE": "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
    } == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("uPlot*")}


def test_assets_are_small() -> None:
    """All assets together have at most 120 KB."""
    assert 120_000 >= sum(path.stat().st_size for path in (Path(screen.__file__).parent / "assets").iterdir())
