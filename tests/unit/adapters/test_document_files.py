"""Rules of reading and writing documents of the evidence store."""

from __future__ import annotations

import errno
import gc
import io
import json
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_migration.adapters.store import document_files as documents
from kafka_migration.adapters.store.document_files import collector_paused, create_whole, read_json, write_whole
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import EvidenceUnreadable, StoreFailed


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What was flushed, renamed and linked, in order, each with the name of the file or folder."""
    calls: list[tuple[str, str]] = []
    fsync, replace, link = os.fsync, os.replace, os.link

    def flushing(descriptor: int) -> None:
        calls.append(("flush", Path(f"/proc/self/fd/{descriptor}").readlink().name))
        fsync(descriptor)

    def renaming(source: str, target: str, **folders: int) -> None:
        calls.append(("name", target))
        replace(source, target, **folders)

    def linking(source: str, target: str, **options: Any) -> None:
        calls.append(("name", target))
        link(source, target, **options)

    monkeypatch.setattr(os, "fsync", flushing)
    monkeypatch.setattr(os, "replace", renaming)
    monkeypatch.setattr(os, "link", linking)
    return calls


@pytest.mark.parametrize("write", [write_whole, create_whole])
def test_document_is_flushed_before_it_has_its_name_and_its_folder_after(
    tmp_path: Path, traced: list[tuple[str, str]], write: Any
) -> None:
    """After a power loss a document is whole or absent, and the folders that lead to it are there."""
    write(tmp_path / "shop" / "run" / "a.json", "{}")

    assert traced[:2] == [("flush", tmp_path.name), ("flush", "shop")]
    (what, flushed), named, folder = traced[2:]
    assert what == "flush"
    assert flushed.startswith(".a.json.")
    assert [named, folder] == [("name", "a.json"), ("flush", "run")]


def test_document_of_another_program_is_flushed_before_it_is_used(
    tmp_path: Path, traced: list[tuple[str, str]]
) -> None:
    """What Spark wrote is on disk, with its folder's entry, before a step relies on it."""
    (tmp_path / "a.json").write_text("{}")
    documents.flush(tmp_path / "a.json")

    assert [("flush", "a.json"), ("flush", tmp_path.name)] == traced


def no_links(*_: Any, **__: Any) -> None:
    raise OSError(errno.ENOTSUP, "Not supported")


@pytest.mark.parametrize("has_links", [True, False])
def test_only_one_of_many_writers_creates_a_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_links: bool
) -> None:
    """Of writers that meet at one name exactly one succeeds, and its text stays; also without hard links."""
    if not has_links:
        monkeypatch.setattr(os, "link", no_links)
    path, gate = tmp_path / "1.json", threading.Barrier(8)

    def write(number: int) -> bool:
        gate.wait()
        return create_whole(path, f"{number}")

    with ThreadPoolExecutor(8) as pool:
        winners = [number for number, has_won in enumerate(pool.map(write, range(8))) if has_won]

    assert [int(path.read_text())] == winners
    assert ["1.json"] == [each.name for each in tmp_path.iterdir()]


def test_creation_whose_reply_was_lost_succeeded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A network file system that sends a request again finds the document of the first one, which is the writer's."""
    link = os.link

    def linked_twice(*names: str, **options: Any) -> None:
        link(*names, **options)
        link(*names, **options)

    monkeypatch.setattr(os, "link", linked_twice)

    assert create_whole(tmp_path / "1.json", "mine")
    assert not create_whole(tmp_path / "1.json", "mine")
    assert "mine" == (tmp_path / "1.json").read_text()


def _deep(levels: int) -> str:
    return '{"a":' * levels + "1" + "}" * levels


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{", "JSONDecodeError"),
        (b"[1]", "a JSON object was expected"),
        (b"null", "a JSON object was expected"),
        (b"\xff\xfe{", "UnicodeDecodeError"),
        (_deep(documents.MAX_DEPTH + 1).encode(), "nested more than 64 levels deep"),
        (_deep(100_000).encode(), "RecursionError"),
        (b"[" * 100_000, "RecursionError"),
    ],
)
def test_document_of_another_form_is_one_finding(tmp_path: Path, content: bytes, reason: str) -> None:
    """Whatever a document holds, it is read or named with a code; there is no other error."""
    (tmp_path / "a.json").write_bytes(content)

    with pytest.raises(EvidenceUnreadable, match=rf"EVIDENCE_UNREADABLE · .*a\.json: .*{reason}"):
        read_json(tmp_path / "a.json")


def test_deepest_document_that_is_read(tmp_path: Path) -> None:
    """Documents up to the limit are read."""
    (tmp_path / "a.json").write_text(_deep(documents.MAX_DEPTH))

    assert json.loads(_deep(documents.MAX_DEPTH)) == read_json(tmp_path / "a.json")


def test_too_large_a_document_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading ends at the limit, however much there is."""
    monkeypatch.setattr(documents, "MAX_BYTES", 10)
    (tmp_path / "a.json").write_text('{"a": "123456"}')

    with pytest.raises(EvidenceUnreadable, match="more than 10 bytes"):
        read_json(tmp_path / "a.json")


OTHER_FILES: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "folder": Path.mkdir,
}


@pytest.mark.parametrize("make", OTHER_FILES.values(), ids=OTHER_FILES)
def test_only_regular_files_are_read(tmp_path: Path, make: Callable[[Path], object]) -> None:
    """A pipe that never ends, a device or a folder under a document's name is refused at once."""
    make(tmp_path / "a.json")

    with pytest.raises(EvidenceUnreadable, match=r"a \w.* instead of the regular file a\.json"):
        read_json(tmp_path / "a.json")


@pytest.mark.parametrize("is_running", [True, False])
def test_pause_of_collector_ends(*, is_running: bool) -> None:
    """The garbage collector does not run during the pause, and is as before after it, also after an error."""
    (gc.enable if is_running else gc.disable)()
    try:
        with pytest.raises(ValueError, match="collected: False"):
            _fail_in_pause()
        assert is_running == gc.isenabled()
    finally:
        gc.enable()


def _fail_in_pause() -> None:
    with collector_paused():
        raise ValueError(f"collected: {gc.isenabled()}")


@pytest.mark.parametrize(
    ("write", "place", "call"),
    [
        *(
            (write, place, call)
            for write in (write_whole, create_whole)
            for place, call in ((os, "fsync"), (os, "mkdir"))
        ),
        (write_whole, os, "replace"),
        (create_whole, os, "link"),
    ],
)
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT, errno.EIO])
def test_refused_write_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Any, place: Any, call: str, code: int
) -> None:
    """A store that refuses any step of a write is named with its reason, and no file is left."""

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(place, call, refuse)
    with pytest.raises(StoreFailed, match=os.strerror(code)) as error:
        write(tmp_path / "shop" / "a.json", "{}")

    (finding,) = error.value.findings
    assert (Code.EVIDENCE_NOT_WRITABLE, str(tmp_path / "shop")) == (finding.code, finding.subject)
    assert [] == [path for path in tmp_path.rglob("*") if path.is_file()]


def test_document_that_is_written_in_place_is_whole_or_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a file system without hard links, a full disk leaves no part of a ledger entry, which would break it."""
    real, calls = os.fsync, iter([True, False])

    def full(descriptor: int) -> None:
        if not next(calls, True):
            raise OSError(errno.ENOSPC, "No space left on device")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    monkeypatch.setattr(os, "link", no_links)
    with pytest.raises(StoreFailed, match="No space"):
        create_whole(tmp_path / "000001.json", "{}")

    assert [] == list(tmp_path.iterdir())


class Store:
    """An object store that raises an error of its own client."""

    protocol = "s3"
    parent = "s3://bucket/shop"
    path = "bucket/shop/a.json"

    @property
    def fs(self) -> Store:
        """The file system is of the same kind."""
        return self

    def invalidate_cache(self) -> None:
        """Remember nothing."""

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite") -> None:
        """Refuse the put."""
        raise PermissionError("PutDenied") if mode == "create" else RuntimeError("QuotaExceeded")

    def open(self, path: str, mode: str) -> Any:
        """Refuse the get."""
        raise PermissionError("AccessDenied")


@pytest.mark.parametrize(
    ("call", "code", "reason"),
    [
        (lambda: write_whole(Store(), "{}"), Code.EVIDENCE_NOT_WRITABLE, "RuntimeError: QuotaExceeded"),
        (lambda: create_whole(Store(), "{}"), Code.EVIDENCE_NOT_WRITABLE, "PermissionError: PutDenied"),
        (lambda: read_json(Store()), Code.EVIDENCE_ROOT_UNREACHABLE, "PermissionError: AccessDenied"),
    ],
)
def test_error_of_an_object_store_is_a_finding(call: Callable[[], Any], code: Code, reason: str) -> None:
    """Whatever an object store's client raises is a finding with its own words."""
    with pytest.raises(StoreFailed) as error:
        call()

    (finding,) = error.value.findings
    assert (code, reason) == (finding.code, finding.found)


class Remembering:
    """The client of an object store that answers from its first look at the store until it is told to forget."""

    protocol = "s3"
    path = "bucket/shop"

    def __init__(self) -> None:
        self.objects = {"bucket/shop/old.json": b"{}"}
        self._seen: dict[str, bytes] = {}

    @property
    def fs(self) -> Remembering:
        """The file system is of the same kind."""
        return self

    def __truediv__(self, name: str) -> Any:
        return SimpleNamespace(fs=self, path=f"{self.path}/{name}", protocol=self.protocol)

    def invalidate_cache(self) -> None:
        """Forget."""
        self._seen = {}

    def ls(self, folder: str, *, detail: bool) -> list[dict[str, str]]:
        """Return the objects that are known."""
        self._seen = self._seen or dict(self.objects)
        return [{"name": name, "type": "file"} for name in self._seen]

    def exists(self, path: str) -> bool:
        """Return whether an object is known."""
        return path in {each["name"] for each in self.ls(self.path, detail=True)}

    def open(self, path: str, mode: str) -> io.BytesIO:
        """Return a known object as far as its known size."""
        if not self.exists(path):
            raise FileNotFoundError(path)
        return io.BytesIO(self.objects[path][: len(self._seen[path])])


@pytest.mark.parametrize(
    ("look", "seen"),
    [
        (lambda store: documents.listed(store), ["old.json", "new.json"]),
        (lambda store: documents.is_there(store / "new.json"), True),
        (lambda store: documents.read_whole(store / "new.json"), b"[]"),
        (lambda store: documents.read_whole(store / "old.json"), b'{"a": 1}'),
    ],
)
def test_every_look_at_an_object_store_is_a_new_one(look: Callable[[Remembering], Any], seen: Any) -> None:
    """What another process added or replaced is seen by the next look, whatever the client remembers."""
    store = Remembering()
    assert ["old.json"] == documents.listed(store)
    store.objects |= {"bucket/shop/new.json": b"[]", "bucket/shop/old.json": b'{"a": 1}'}

    assert seen == look(store)


def test_removed_document_may_be_absent(tmp_path: Path) -> None:
    """A file is removed; one that is not there is no error, and a folder in its place is a finding."""
    write_whole(tmp_path / "a.letter", "{}")
    for _ in range(2):
        documents.removed(tmp_path / "a.letter")
    assert [] == list(tmp_path.iterdir())

    (tmp_path / "a.letter").mkdir()
    with pytest.raises(StoreFailed):
        documents.removed(tmp_path / "a.letter")
