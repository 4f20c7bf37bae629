"""Rules of the ledger's files: what was deleted, changed or doubled is named, and one writer at a time appends."""

from __future__ import annotations

import errno
import io
import json
import multiprocessing
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from kafka_migration.adapters.store import ledger_store
from kafka_migration.adapters.store.document_files import create_whole, listed, read_whole
from kafka_migration.adapters.store.ledger_store import LedgerStore
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import EvidenceUnreadable, Refused, TransientError
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.ledger.cutovers import CreatedTopic, Reserved, TopicsCreated
from kafka_migration.core.ledger.generations import GenerationStart
from tests.contract.memory_anchor import MemoryAnchor

ADA, BOB = "kafka_migration__shop/manual__1#1", "kafka_migration__shop/manual__2#1"


def topics_entry(name: str) -> dict[str, Any]:
    return TopicsCreated("r", "t", {name: CreatedTopic("id", {})}).to_document()


def reserved_entry(run: str) -> dict[str, Any]:
    return Reserved(run, "t").to_document()


@pytest.fixture
def folder(tmp_path: Path, anchor: MemoryAnchor) -> Path:
    """The folder of a ledger with five entries."""
    store = LedgerStore(tmp_path, "shop", anchor=anchor)
    for number in range(1, 6):
        store.append(topics_entry(f"t{number}"))
    folder: Path = store.folder
    return folder


def _delete(*paths: Path) -> None:
    for path in paths:
        path.unlink()


def _rewrite(path: Path, old: str, new: str) -> None:
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def _without_link(folder: Path) -> None:
    entry = json.loads((folder / "000005.json").read_text())
    (folder / "000005.json").write_text(json.dumps({**entry, "previous": "0" * 64}))


TAMPERING: dict[str, tuple[Callable[[Path], Any], str]] = {
    "first deleted": (lambda f: (f / "000001.json").unlink(), r"no entry 1\."),
    "middle deleted": (lambda f: (f / "000003.json").unlink(), r"no entry 3\."),
    "newest deleted": (lambda f: (f / "000005.json").unlink(), r"at least the 5 that .* it has entries up to 4\."),
    "two newest deleted": (lambda f: _delete(f / "000004.json", f / "000005.json"), r"entries up to 3\."),
    "all deleted": (lambda f: _delete(*f.iterdir()), r"entries up to 0\."),
    "folder deleted": (lambda f: f.rename(f.with_name("gone")), r"entries up to 0\."),
    "first changed": (lambda f: _rewrite(f / "000001.json", "t1", "x1"), "a digest that does not match entry 1"),
    "middle changed": (lambda f: _rewrite(f / "000003.json", "t3", "x3"), "a digest that does not match entry 3"),
    "newest changed": (lambda f: _rewrite(f / "000005.json", "t5", "x5"), "an entry 5 that Airflow did not record"),
    "link changed": (_without_link, "a digest that does not match entry 4"),
    "renumbered": (lambda f: (f / "000005.json").rename(f / "000006.json"), r"no entry 5\."),
    "doubled under another name": (
        lambda f: (f / "000003 copy.json").write_text((f / "000003.json").read_text()),
        "000003 copy.json, which is not an entry",
    ),
    "doubled as the newest": (
        lambda f: (f / "000006.json").write_text((f / "000005.json").read_text()),
        "entry 6, which Airflow did not announce",
    ),
    "older restored": (
        lambda f: (f / "000004.json").write_text((f / "000003.json").read_text()),
        "number 3 in the entry",
    ),
    "cut in half": (lambda f: (f / "000003.json").write_text((f / "000003.json").read_text()[:40]), "JSONDecodeError"),
    "emptied": (lambda f: (f / "000005.json").write_text(""), "JSONDecodeError"),
    "nested": (lambda f: (f / "000005.json").write_text('{"a":' * 20_000 + "1" + "}" * 20_000), "RecursionError"),
    "of another schema": (lambda f: _rewrite(f / "000001.json", '"schema": 2', '"schema": 1'), "schema 1"),
    "of no schema": (lambda f: (f / "000001.json").write_text('{"kind": "judged"}'), "schema None"),
}


@pytest.mark.parametrize("name", TAMPERING)
def test_ledger_that_was_tampered_with_is_named(tmp_path: Path, folder: Path, anchor: MemoryAnchor, name: str) -> None:
    """An entry that was deleted, changed, doubled, cut or replaced is named, when the ledger is read or appended to."""
    tamper, found = TAMPERING[name]
    tamper(folder)
    before = sorted(path.name for path in folder.iterdir()) if folder.exists() else []

    for act in (LedgerStore.read, lambda store: store.append(topics_entry("new"))):
        with pytest.raises(Refused, match=found) as refused:
            act(LedgerStore(tmp_path, "shop", anchor=anchor))
        assert {finding.code for finding in refused.value.findings} == {Code.LEDGER_BROKEN}

    assert before == (sorted(path.name for path in folder.iterdir()) if folder.exists() else [])


def test_everything_that_a_listing_shows_is_named_at_once(tmp_path: Path, folder: Path) -> None:
    """Entries that are missing and files that are no entries are findings of one refusal."""
    (folder / "000002.json").unlink()
    (folder / "000004.bak.json").write_text("{}")

    with pytest.raises(Refused) as refused:
        LedgerStore(tmp_path, "shop").read()

    found = [finding.found for finding in refused.value.findings]
    assert ["000004.bak.json, which is not an entry", "no entry 2"] == found


def test_flood_of_missing_entries_is_counted(tmp_path: Path, folder: Path) -> None:
    """One file with a high number names some of the missing entries, and says how many more there are."""
    (folder / "999999.json").write_text("{}")
    (folder / "00000\N{ARABIC-INDIC DIGIT SIX}.json").write_text("{}")

    with pytest.raises(Refused) as refused:
        LedgerStore(tmp_path, "shop").read()

    found = [finding.found for finding in refused.value.findings]
    assert ["00000٦.json, which is not an entry", "no entry 6"] == found[:2]
    assert (21, "999,974 more like these") == (len(found), found[-1])


def test_entries_that_are_read_are_not_read_again(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store reads each entry once, and sees what others append."""
    read: list[str] = []

    def noted(path: Path) -> bytes:
        read.append(path.name)
        return read_whole(path)

    monkeypatch.setattr(ledger_store, "read_whole", noted)
    store, other = LedgerStore(tmp_path, "shop"), LedgerStore(tmp_path, "shop")

    assert 5 == len(store.read().topics)
    assert 5 == len(store.read().topics)
    assert [f"00000{number}.json" for number in range(1, 6)] == read
    other.append(topics_entry("t6"))
    read.clear()

    assert "t6" in store.read().topics
    assert ["000006.json"] == read


def test_entry_that_vanishes_after_it_was_read_is_noticed(tmp_path: Path, folder: Path) -> None:
    """A store that has read an entry does not go on without it."""
    store = LedgerStore(tmp_path, "shop")
    store.read()
    (folder / "000003.json").unlink()

    with pytest.raises(Refused, match="no entry 3"):
        store.read()


def test_entry_that_a_listing_lacks_is_found_by_its_name(
    tmp_path: Path, folder: Path, anchor: MemoryAnchor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A network file system may show a folder as it was: what Airflow recorded is looked for by name."""
    monkeypatch.setattr(ledger_store, "listed", lambda folder: sorted(listed(folder))[:-2])

    assert 5 == len(LedgerStore(tmp_path, "shop", anchor=anchor).read().topics)


def test_entry_that_could_not_be_read_back_is_not_written(tmp_path: Path, folder: Path) -> None:
    """An entry with a value of a wrong type is refused by name, and the ledger stays readable."""
    store = LedgerStore(tmp_path, "shop")
    before = sorted(folder.iterdir())

    with pytest.raises(EvidenceUnreadable, match="run"):
        store.append({**Reserved("r", "now").to_document(), "run": 5})

    assert before == sorted(folder.iterdir())
    store.append(Reserved("r", "now").to_document())
    assert "r" == LedgerStore(tmp_path, "shop").read().reserved_by


def test_run_that_was_taken_over_cannot_append(tmp_path: Path) -> None:
    """From the entry of another run's reservation on, a writer of before is refused and writes nothing."""
    ada, bob = (LedgerStore(tmp_path, "shop", writer) for writer in (ADA, BOB))
    ada.append(reserved_entry(ADA))
    ada.append(topics_entry("t1"))
    bob.append(reserved_entry(BOB))

    with pytest.raises(Refused, match=r"NOT_RESERVED.*kafka_migration__shop/manual__2#1 holds the reservation"):
        ada.append(topics_entry("t2"))

    bob.append(topics_entry("t3"))
    assert ["t1", "t3"] == list(bob.read().topics)


def test_take_over_between_reading_and_writing_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer that is overtaken after it looked, and before it writes, is refused all the same."""
    ada, bob = (LedgerStore(tmp_path, "shop", writer) for writer in (ADA, BOB))
    ada.append(reserved_entry(ADA))

    def overtaken(path: Path, text: str) -> bool:
        monkeypatch.setattr(ledger_store, "create_whole", create_whole)
        bob.append(reserved_entry(BOB))
        return create_whole(path, text)

    monkeypatch.setattr(ledger_store, "create_whole", overtaken)
    with pytest.raises(Refused, match="NOT_RESERVED"):
        ada.append(topics_entry("late"))

    assert {} == bob.read().topics


def _append_many(root: Any, writer: int, count: int) -> None:
    store = LedgerStore(root, "shop")
    for number in range(count):
        while True:
            try:
                store.append(topics_entry(f"w{writer}-{number}"))
            except TransientError:
                continue
            break


def test_concurrent_writers_lose_no_entry(tmp_path: Path) -> None:
    """Of four processes that append at the same time every entry is there, and the chain is whole."""
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_append_many, args=(tmp_path, writer, 10)) for writer in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()

    assert [0] * 4 == [process.exitcode for process in processes]
    assert {f"w{w}-{n}" for w in range(4) for n in range(10)} == set(LedgerStore(tmp_path, "shop").read().topics)


class ObjectStore:
    """A double of an object store's file system: whole objects under names, with conditional puts."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self._lock = threading.Lock()

    def invalidate_cache(self) -> None:
        """Remember nothing."""

    def exists(self, path: str) -> bool:
        return any(name.startswith(path) for name in list(self.objects))

    def ls(self, folder: str, *, detail: bool) -> list[dict[str, str]]:
        assert detail
        return [{"name": name, "type": "file"} for name in list(self.objects) if name.startswith(f"{folder}/")]

    def pipe_file(self, path: str, value: bytes, mode: str) -> None:
        assert mode == "create"
        with self._lock:
            if path in self.objects:
                raise FileExistsError(path)
            self.objects[path] = value

    def open(self, path: str, mode: str) -> io.BytesIO:
        return io.BytesIO(self.objects[path])


@dataclass
class ObjectPath:
    """A path in it, as far as the ledger uses one."""

    fs: ObjectStore = field(default_factory=ObjectStore)
    path: str = "bucket"
    protocol: str = "s3"

    def __truediv__(self, name: str) -> ObjectPath:
        return ObjectPath(self.fs, f"{self.path}/{name}")


def test_writers_that_meet_in_an_object_store_lose_no_entry() -> None:
    """Of writers that meet at one number one gets it, by a conditional put, and the others take the next."""
    root = ObjectPath()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda writer: _append_many(root, writer, 5), range(4)))

    assert {f"w{w}-{n}" for w in range(4) for n in range(5)} == set(LedgerStore(root, "shop").read().topics)


def test_put_whose_reply_was_lost_appends_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that sends a conditional put again is refused because of its own entry."""
    root = ObjectPath()
    put = root.fs.pipe_file

    def put_twice(*arguments: Any, **options: Any) -> None:
        put(*arguments, **options)
        put(*arguments, **options)

    monkeypatch.setattr(root.fs, "pipe_file", put_twice)
    LedgerStore(root, "shop").append(topics_entry("t1"))

    assert 1 == len(root.fs.objects)


@pytest.mark.parametrize("number", [errno.ESTALE, errno.EIO, errno.ETIMEDOUT])
def test_folder_that_does_not_answer_is_not_a_broken_ledger(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """An error that says nothing about the entry is the store's, and passes on as it is: the task is tried again."""

    def gone(path: Any) -> bytes:
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr(ledger_store, "read_whole", gone)

    with pytest.raises(OSError, match=os.strerror(number)):
        LedgerStore(tmp_path, "shop").read()


@pytest.mark.parametrize(
    "changes",
    [
        {"topics": "orders"},
        {"topics": [1]},
        {"run": 5},
        {"groups": {"a": 1}},
        {"left": {"g": "orders"}},
        {"partly": 1},
        {"kind": "weird"},
        {"kind": 5},
        {"kind": ["cut-over"]},
    ],
)
def test_entry_with_a_value_of_another_type_is_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    """A text where a list belongs is not taken for a list of letters."""
    entry = {"kind": "cut-over", "run": ADA, "at": "t", "groups": ["g"], "topics": ["orders"], "partly": False}
    entry |= {"remaining": [], "left": {}, "evidence": {}}
    store = LedgerStore(tmp_path, "shop")
    store.append(entry)
    (store.folder / "000001.json").write_text(
        json.dumps({"schema": 2, "number": 1, "previous": "", **entry, **changes})
    )

    with pytest.raises(Refused, match="LEDGER_BROKEN") as refused:
        LedgerStore(tmp_path, "shop").read()

    # No run starts with such a ledger.
    assert "trigger a new run" not in str(refused.value)
    assert "restore the whole folder from a backup" in str(refused.value)


def test_entry_that_airflow_did_not_record_is_read_completely(tmp_path: Path) -> None:
    """A part that is read when it is first used is checked at once, unless the kept head covers its entry."""
    start = GenerationStart(1, ADA, "t", {TopicPartition("orders", 0): 5}, {}).to_document()
    store = LedgerStore(tmp_path, "shop")
    store.append(start)
    _rewrite(store.folder / "000001.json", '"0": 5', '"0": "five"')

    with pytest.raises(Refused, match=r"LEDGER_BROKEN.*mirror_positions: orders: 0: expected int"):
        LedgerStore(tmp_path, "shop").read()
