"""Anything in any place of the evidence root: named, never followed, never waited for, and nothing else is written."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from kafka_migration.adapters.store import evidence_store as evidence_module
from kafka_migration.adapters.store.document_files import MAX_BYTES, create_whole, rooted
from kafka_migration.adapters.store.evidence_store import RunEvidence
from kafka_migration.adapters.store.ledger_store import LedgerStore
from kafka_migration.adapters.store.run_status_store import NewsStore, StopRequestStore
from kafka_migration.cli.main import main
from kafka_migration.core.evidence.evidence_documents import Kind, run_folder_name
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import FindingsError, Refused
from kafka_migration.core.ledger.cutovers import CutOver
from kafka_migration.core.report.run_status import LastRun
from kafka_migration.core.run.stop_request import StopRequest
from kafka_migration.report_formats.report_format import ReportFormat
from tests.odd_files import make_socket
from tests.unit.cli.test_cli import AT, RUN, mirrored_twice
from tests.unit.cli.test_cli_present import POLLED
from tests.unit.evidence.test_digests import Memory

ATTEMPT = f"shop/{run_folder_name(RUN)}/attempt-1"
FOLDERS = ("shop", f"shop/{run_folder_name(RUN)}", ATTEMPT, "shop/ledger", "shop/stop-requests")
DOCUMENTS = (
    f"{ATTEMPT}/migration.yaml",
    f"{ATTEMPT}/03-plan-1.json",
    f"{ATTEMPT}/run.json",
    f"{ATTEMPT}/{ReportFormat.MARKDOWN.file}",
    f"{ATTEMPT}/offsets-before-target.csv",
    "shop/ledger/000002.json",
    "shop/stop-requests/2.json",
    "shop/progress.json",
    "shop/progress-series.json",
    "shop/last-run.json",
)
NOBODY = 65534


class Store:
    """A migration with every document of the layout, below a root that is a link itself."""

    def __init__(self, home: Path, memory: Memory) -> None:
        self.home, self.real, self.outside = home, home / "evidence", home / "outside"
        self.root, self.memory = rooted(home / "root"), memory

    def fill(self) -> None:
        """Write every document."""
        self.real.mkdir()
        self.outside.mkdir()
        (self.home / "root").symlink_to("evidence")
        mirrored_twice(self.real)
        self.evidence.freeze_migration("text")
        self.evidence.write(Kind.PLAN, {"n": 1})
        self.evidence.publish(
            dict.fromkeys(("run.json", ReportFormat.MARKDOWN.file, "offsets-before-target.csv"), "{}")
        )
        self.requests.request(StopRequest(2, RUN.holder, AT, "ada"))
        self.news.tell_progress(POLLED)
        last = LastRun(RUN.holder, datetime.fromisoformat(AT), "sync", "success", "PASS")
        self.news.tell_last_run(last.to_document())

    @property
    def evidence(self) -> RunEvidence:
        """The run's evidence, checked."""
        return RunEvidence(self.root, "shop", RUN, self.memory)

    @property
    def unchecked(self) -> RunEvidence:
        """The run's evidence, only to show it."""
        return RunEvidence(self.root, "shop", RUN)

    @property
    def ledger(self) -> LedgerStore:
        """The ledger."""
        return LedgerStore(self.root, "shop")

    @property
    def requests(self) -> StopRequestStore:
        """The requests to stop."""
        return StopRequestStore(self.root, "shop")

    @property
    def news(self) -> NewsStore:
        """Progress and result."""
        return NewsStore(self.root, "shop")

    def require_unchanged(self) -> None:
        """Check the evidence as each task does."""
        if changes := self.evidence.changes():
            raise Refused(changes)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The migration, of which each test has a copy."""
    made = Store(tmp_path_factory.mktemp("filled"), Memory())
    made.fill()
    return made


@pytest.fixture
def store(filled: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """The migration, in a folder that every user may enter."""
    monkeypatch.setattr(evidence_module, "_LOOK_AGAIN_AFTER_S", ())
    home = Path(tempfile.mkdtemp())
    shutil.copytree(filled.home, home, symlinks=True, dirs_exist_ok=True)
    home.chmod(0o755)
    yield Store(home, deepcopy(filled.memory))
    _open_closed_folders(home)
    shutil.rmtree(home)


def _open_closed_folders(home: Path) -> None:
    """Let a user other than root remove them; `os.walk` enters a folder after this has seen it."""
    for above, folders, _ in os.walk(home):
        for folder in (Path(above, name) for name in folders):
            if not folder.is_symlink():
                folder.chmod(0o700)


# What each reader reads, and the code under which it refuses anything else.
READERS: dict[str, tuple[Callable[[Store], object], str, Code]] = {
    "document": (lambda s: s.evidence.require(Kind.PLAN), DOCUMENTS[1], Code.EVIDENCE_CHANGED),
    "check of the plan": (lambda s: s.require_unchanged(), DOCUMENTS[1], Code.EVIDENCE_CHANGED),
    "check of the frozen file": (lambda s: s.require_unchanged(), DOCUMENTS[0], Code.EVIDENCE_CHANGED),
    "unchecked document": (lambda s: s.unchecked.require(Kind.PLAN), DOCUMENTS[1], Code.EVIDENCE_UNREADABLE),
    "unchecked frozen file": (lambda s: s.unchecked.frozen_migration(), DOCUMENTS[0], Code.EVIDENCE_UNREADABLE),
    "ledger": (lambda s: s.ledger.read(), "shop/ledger/000002.json", Code.LEDGER_BROKEN),
    "stop request": (lambda s: s.requests.find(2), "shop/stop-requests/2.json", Code.EVIDENCE_UNREADABLE),
    "progress": (lambda s: s.news.progress(), "shop/progress.json", Code.EVIDENCE_UNREADABLE),
    "series": (lambda s: s.news.series(), "shop/progress-series.json", Code.EVIDENCE_UNREADABLE),
    "last run": (lambda s: s.news.last_run(), "shop/last-run.json", Code.EVIDENCE_UNREADABLE),
}
WRITERS: dict[str, Callable[[Store], object]] = {
    "frozen file": lambda s: s.evidence.freeze_migration("text"),
    "document": lambda s: s.evidence.write(Kind.PLAN, {"n": 2}),
    "report": lambda s: s.evidence.publish({ReportFormat.MARKDOWN.file: "new"}),
    "summary": lambda s: s.evidence.publish({"run.json": "new"}),
    "offsets": lambda s: s.evidence.publish({"offsets-before-target.csv": "new"}),
    "ledger": lambda s: s.ledger.append(CutOver(RUN.holder, AT, (), (), partly=False).to_document()),
    "entry": lambda s: create_whole(s.root / "shop" / "ledger" / "000002.json", "{}"),
    "stop request": lambda s: s.requests.request(StopRequest(2, RUN.holder, AT, "bob")),
    "progress": lambda s: s.news.tell_progress(POLLED),
    "last run": lambda s: s.news.tell_last_run({}),
}


def _device(path: Path) -> None:
    try:
        os.mknod(path, 0o20666, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("only root may make a device")


def _large(path: Path) -> None:
    path.touch()
    os.truncate(path, MAX_BYTES + 1)


def _closed(path: Path, before: Path) -> None:
    shutil.copytree(before, path) if before.is_dir() else shutil.copy(before, path)
    path.chmod(0)


# What an attacker puts in a place; `before` is what was there, now outside the root.
KINDS: dict[str, Callable[[Path, Path], object]] = {
    "link to what was there": lambda path, before: path.symlink_to(before),
    "dangling link": lambda path, before: path.symlink_to(before.parent / "nowhere"),
    "loop": lambda path, before: path.symlink_to(path.name),
    "link to an endless file": lambda path, before: path.symlink_to("/dev/zero"),
    "link to a process": lambda path, before: path.symlink_to("/proc/self/root"),
    "pipe": lambda path, before: os.mkfifo(path),
    "socket": lambda path, before: make_socket(path),
    "device": lambda path, before: _device(path),
    "large file": lambda path, before: _large(path),
    "one byte": lambda path, before: path.write_bytes(b"\0"),
    "no text": lambda path, before: path.write_bytes(b"\xff\xfe{"),
    "closed": _closed,
}
KINDS_OF_DOCUMENTS = {**KINDS, "folder": lambda path, before: path.mkdir()}
CASES = [
    *((place, kind, put) for place in FOLDERS for kind, put in KINDS.items()),
    *((place, kind, put) for place in DOCUMENTS for kind, put in KINDS_OF_DOCUMENTS.items()),
]
every_case = pytest.mark.parametrize(("place", "kind", "put"), CASES, ids=[f"{Path(p).name}-{k}" for p, k, _ in CASES])


def concerns(place: str, document: str) -> bool:
    """Return whether a place is that of a document or of a folder above it."""
    return f"{document}/".startswith(f"{place}/")


@contextmanager
def planted(store: Store, place: str, put: Callable[[Path, Path], object]) -> Iterator[None]:
    """Put something in a place; within, root has no more rights than any user."""
    path, before = store.real / place, store.outside / Path(place).name
    path.rename(before)
    put(path, before)
    is_root = os.geteuid() == 0
    if is_root:
        for each in (store.home, *store.home.rglob("*")):
            os.chown(each, NOBODY, -1, follow_symlinks=False)
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)


def code_of(act: Callable[[Store], object], store: Store) -> Code | None:
    """Return the code under which an operation refuses; any other error fails the test."""
    try:
        act(store)
    except FindingsError as error:
        return error.findings[0].code
    return None


def outside(store: Store) -> dict[str, Any]:
    """Return everything in the folder to which links lead."""
    found = sorted(store.outside.rglob("*"))
    return {str(each): each.read_bytes() if each.is_file() else each.stat().st_mode for each in found}


@every_case
def test_whatever_is_read_is_named(store: Store, place: str, kind: str, put: Callable[[Path, Path], object]) -> None:
    """Each reader of a place refuses anything but the regular file, and the others read on."""
    with planted(store, place, put):
        found = {name: code_of(act, store) for name, (act, _, _) in READERS.items()}

    for name, (_, document, code) in READERS.items():
        allowed: set[Code | None] = {code} if concerns(place, document) else {None}
        if concerns(place, document) and kind == "closed":
            allowed |= {Code.EVIDENCE_ROOT_UNREACHABLE}
        # One byte may be a text, but no digest or field fits it.
        if name == "unchecked frozen file" and kind == "one byte" and place == DOCUMENTS[0]:
            allowed = {None}
        # A check looks at all documents.
        if name.startswith("check") and any(concerns(place, checked) for checked in DOCUMENTS[:2]):
            allowed = {code, Code.EVIDENCE_ROOT_UNREACHABLE} if kind == "closed" else {code}
        assert found[name] in allowed, (name, found)


@every_case
def test_nothing_outside_is_written(store: Store, place: str, kind: str, put: Callable[[Path, Path], object]) -> None:
    """Each writer replaces a link or is refused with a code; no file or folder outside the root changes."""
    with planted(store, place, put):
        before = outside(store)
        for act in WRITERS.values():
            code_of(act, store)
        assert before == outside(store)


@every_case
def test_command_line_names_it(
    store: Store, place: str, kind: str, put: Callable[[Path, Path], object], capsys: pytest.CaptureFixture[str]
) -> None:
    """The command line shows what it can read, and one finding for what it cannot; there is no traceback."""
    shown = ("shop/ledger/000002.json", "shop/stop-requests/2.json", "shop/progress.json", "shop/last-run.json")
    with planted(store, place, put):
        for verb in (("status",), ("status", "shop"), ("verdict", "shop")):
            main([*verb, "--evidence-root", str(store.home / "root")])
            said = capsys.readouterr().err
            assert "Traceback" not in said
            assert "COMMAND_FAILED" not in said
            if verb == ("status", "shop"):
                assert (" · " in said) == any(concerns(place, document) for document in shown), said
