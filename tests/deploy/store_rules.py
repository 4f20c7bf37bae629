"""Rules of the evidence root in an object store, tried by the Airflow that has the store's provider.

`test_store_rules.py` starts the store and runs this file in that Airflow's environment. The roots come as variables:
`STORE_ROOT`, and `REFUSED_ROOT` with credentials that the store refuses, in words that begin as `REFUSAL` says.
`MOST_IN_ONE_REPLY` names are the most that the store returns in one reply.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from kafka_migration.adapters.store.document_files import (
    create_whole,
    is_there,
    listed,
    read_json,
    read_whole,
    write_whole,
)
from kafka_migration.adapters.store.ledger_store import LedgerStore
from kafka_migration.adapters.store.run_status_store import PROGRESS_FILE, NewsStore, StopRequestStore
from kafka_migration.airflow_adapters.airflow_settings import folder_at
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, StoreFailed, TransientError
from kafka_migration.core.ledger.cutovers import CreatedTopic, TopicsCreated
from kafka_migration.core.run.stop_request import StopRequest

STORE_ROOT = os.environ["STORE_ROOT"]
MOST_IN_ONE_REPLY = int(os.environ["MOST_IN_ONE_REPLY"])
WRITER = """\
import sys
from kafka_migration.adapters.store.document_files import write_whole
from kafka_migration.airflow_adapters.airflow_settings import folder_at
for name in sys.argv[3:]:
    write_whole(folder_at(sys.argv[1]) / name, sys.argv[2])
"""


@pytest.fixture
def place() -> str:
    """The address of a folder that no other rule has used."""
    return f"{STORE_ROOT}/{uuid.uuid4().hex}"


@pytest.fixture
def root(place: str) -> Any:
    """This folder."""
    return folder_at(place)


def written_elsewhere(place: str, text: str, *names: str) -> None:
    """Another process, which shares no cache with this one, writes documents."""
    subprocess.run([sys.executable, "-c", WRITER, place, text, *names], check=True, timeout=300)


def entry(name: str) -> dict[str, Any]:
    """Return an entry of the ledger about one topic."""
    return TopicsCreated("r", "t", {name: CreatedTopic("id", {})}).to_document()


def test_document_is_read_as_it_was_written(root: Any) -> None:
    """A document has the bytes, and so the digest, that were written; also an empty one and a large one."""
    for text in ("", '{"ä": "€ 🙂"}\n', "x" * 6_000_000):
        write_whole(root / "shop" / "a.json", text)
        found = read_whole(root / "shop" / "a.json")

        assert hashlib.sha256(text.encode()).digest() == hashlib.sha256(found).digest()


def test_what_is_not_there_is_not_there(root: Any) -> None:
    """A document that was never written is missing, and its folder is empty; neither is an error of the store."""
    assert not is_there(root / "shop" / "a.json")
    assert [] == listed(root / "shop")
    with pytest.raises(FileNotFoundError):
        read_whole(root / "shop" / "a.json")
    assert StopRequestStore(root, "shop").find(1) is None
    assert NewsStore(root, "shop").progress() is None


def test_listing_has_the_names_of_one_folder_only(root: Any) -> None:
    """A folder lists its documents and its folders, and nothing of a folder whose name begins with its own name."""
    for name in ("a.json", "run-1/x.json", "run-10/y.json", "run-1.json"):
        write_whole(root / "shop" / name, "{}")
    write_whole(root / "shop-2" / "run-1" / "of-another.json", "{}")
    write_whole(root / "shop.json", "{}")

    assert ["a.json", "run-1", "run-1.json", "run-10"] == sorted(listed(root / "shop"))
    assert ["run-1", "run-10"] == sorted(listed(root / "shop", only_folders=True))
    assert ["x.json"] == listed(root / "shop" / "run-1")
    assert is_there(root / "shop" / "run-1")
    assert not is_there(root / "sho")


def test_listing_is_whole_whatever_its_length(root: Any) -> None:
    """A folder with more names than the store returns in one reply is listed whole."""
    names = [f"{number:06}.json" for number in range(MOST_IN_ONE_REPLY + 1)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: write_whole(root / "many" / name, "{}"), names))

    assert names == sorted(listed(root / "many"))


@pytest.mark.parametrize("name", ["a b", "a+b", "a%20b", "ä€🙂", "a=b&c", "a,b;c", "(a)'!~@$"])
def test_unusual_names_are_names(root: Any, name: str) -> None:
    """A name with unusual characters is written, listed and read as it is."""
    for path in (root / name / f"{name}.json", root / name / "b.json"):
        write_whole(path, "{}")

    assert [name] == listed(root, only_folders=True)
    assert sorted([f"{name}.json", "b.json"]) == sorted(listed(root / name))
    assert {} == read_json(root / name / f"{name}.json")


def test_what_another_process_writes_is_seen_at_once(place: str, root: Any) -> None:
    """A process that has listed and read a folder sees what another process then adds to it and replaces in it."""
    write_whole(root / "shop" / "old.json", "{}")
    assert ["old.json"] == listed(root / "shop")
    assert b"{}" == read_whole(root / "shop" / "old.json")
    longer = '{"longer": "than before"}'

    written_elsewhere(place, longer, "shop/old.json", "shop/new.json")

    # Without a look at the folder in between, which would renew what the client remembers.
    assert longer.encode() == read_whole(root / "shop" / "new.json")
    assert longer.encode() == read_whole(root / "shop" / "old.json")
    assert is_there(root / "shop" / "new.json")
    assert ["new.json", "old.json"] == sorted(listed(root / "shop"))


def test_status_documents_are_replaced(place: str, root: Any) -> None:
    """Progress and requests to stop are replaced as a whole, and a request of another process is found."""
    news, requests = NewsStore(root, "shop"), StopRequestStore(root, "shop")
    for step in ("start_mirror", "validate_topics", "judge"):
        news.tell_step("kafka_migration__shop/manual__1#1", step, "2026-01-01T00:00:00+00:00")
        assert step == (news.progress() or {})["step"]
    assert requests.find(1) is None
    request = StopRequest(1, "run", "2026-01-01T00:00:00+00:00", "ada")

    assert request == requests.request(request)
    assert request == requests.request(StopRequest(1, "run", "2026-01-02T00:00:00+00:00", "bob"))
    written_elsewhere(place, '{"run": "another"}', f"shop/{PROGRESS_FILE}")
    assert {"run": "another"} == news.progress()


def test_only_one_of_many_writers_creates_a_document(root: Any) -> None:
    """Of writers that meet at one name exactly one succeeds, and its text stays."""
    path, gate = root / "shop" / "1.json", threading.Barrier(8)

    def write(number: int) -> bool:
        gate.wait()
        return create_whole(path, f"{number}")

    with ThreadPoolExecutor(8) as pool:
        winners = [number for number, has_won in enumerate(pool.map(write, range(8))) if has_won]

    assert [int(read_whole(path))] == winners
    assert not create_whole(path, "later")


def test_writers_of_a_ledger_lose_no_entry(root: Any) -> None:
    """Of writers that append at the same time every entry is there, and the chain is whole."""

    def append(writer: int) -> None:
        for number in range(5):
            while not appended(LedgerStore(root, "shop"), f"w{writer}-{number}"):
                pass

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(append, range(3)))

    assert {f"w{w}-{n}" for w in range(3) for n in range(5)} == set(LedgerStore(root, "shop").read().topics)


def appended(store: LedgerStore, name: str) -> bool:
    """Return whether an entry was appended; `False` if other writers were faster too often."""
    try:
        store.append(entry(name))
    except TransientError:
        return False
    return True


REQUESTS: dict[str, tuple[Callable[[Any], Any], Code]] = {
    "write": (lambda root: write_whole(root / "a.json", "{}"), Code.EVIDENCE_NOT_WRITABLE),
    "create": (lambda root: create_whole(root / "a.json", "{}"), Code.EVIDENCE_NOT_WRITABLE),
    "read": (lambda root: read_whole(root / "a.json"), Code.EVIDENCE_ROOT_UNREACHABLE),
    "list": (lambda root: listed(root / "shop"), Code.EVIDENCE_ROOT_UNREACHABLE),
    "look": (lambda root: is_there(root / "a.json"), Code.EVIDENCE_ROOT_UNREACHABLE),
    "ledger": (lambda root: LedgerStore(root, "shop").read(), Code.EVIDENCE_ROOT_UNREACHABLE),
}


def test_refused_request_is_a_finding() -> None:
    """What a store refuses is never taken for a missing document; the finding has the store's own words."""
    root = folder_at(os.environ["REFUSED_ROOT"])

    # At the same time: a client may try each for half a minute.
    with ThreadPoolExecutor(len(REQUESTS)) as pool:
        findings = dict(
            zip(REQUESTS, pool.map(lambda request: refused(request[0], root), REQUESTS.values()), strict=True)
        )

    assert {name: code for name, (_, code) in REQUESTS.items()} == {n: each.code for n, each in findings.items()}
    assert [] == [each.found for each in findings.values() if not re.match(os.environ["REFUSAL"], each.found)]


def refused(request: Callable[[Any], Any], root: Any) -> Finding:
    """Return the finding of a request that the store refuses."""
    with pytest.raises(StoreFailed) as error:
        request(root)
    (finding,) = error.value.findings
    return finding
