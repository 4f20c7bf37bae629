"""Bad input to the command line and to the evidence that it reads: a code and a remedy each, never a traceback."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from kafka_migration.adapters.store.run_status_store import NewsStore, StopRequestStore
from kafka_migration.cli.main import main
from kafka_migration.cli.shell.verb_table import VERBS
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.report.run_status import LastRun
from kafka_migration.core.run.stop_request import StopRequest
from tests.unit.cli.test_cli import AT, RUN, mirrored_twice
from tests.unit.cli.test_cli_present import POLLED

# What every finding on standard error must be: a code, what it is about, what happened, why it matters, what to do.
FINDING = re.compile(r"[A-Z0-9_]+ · .+(: found .+; expected .+[.!] .{8,}|(\n  .+[.!]){3})")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A migration with every document that the command line reads."""
    place = tmp_path / "evidence"
    mirrored_twice(place)
    StopRequestStore(place, "shop").request(StopRequest(2, RUN.holder, AT, "ada"))
    NewsStore(place, "shop").tell_progress(POLLED)
    NewsStore(place, "shop").tell_last_run(
        LastRun(RUN.holder, datetime.fromisoformat(AT), "sync", "success", "PASS").to_document()
    )
    return place


def ending(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str]]:
    """Run a command; return its exit code and its findings on standard error, each complete."""
    try:
        code = main(list(arguments))
    except SystemExit as exited:
        code = int(str(exited.code))
    error = capsys.readouterr().err
    complaints = [text for text in re.split(r"\n(?! )", error.rstrip("\n")) if text and not text.startswith("usage: ")]
    assert "Traceback" not in error
    assert bool(complaints) == (code != 0), (code, error)
    assert [] == [line for line in complaints if not FINDING.fullmatch(line)]
    assert {line.partition(" · ")[0] for line in complaints} <= set(map(str, Code))
    return code, complaints


USAGE = [
    ["halt"],
    ["status", "shop", "more"],
    ["status", "shop", "--js"],
    ["status", "shop", "-o", "yaml"],
    ["status", "shop", "--evidence-root"],
    ["status", "shop", "--evidence-root", ""],
    ["status", "shop", "--evidence-root", "   "],
    ["verdict"],
    ["verdict", "shop", "--wait"],
    ["verdict", "shop", "--output=yes"],
    ["stop"],
    ["stop", "shop", "--reason"],
    ["stop", "shop", "--timeout", "5"],
    ["stop", "shop", "--timeout", "-5s"],
    ["stop", "shop", "--timeout", "0s"],
    ["stop", "shop", "--timeout", "soon"],
    ["stop", "shop", "--timeout", ""],
    ["stop", "shop", "--timeout", "10m", "--timeout"],
    ["stop", "shop", "--timeout", "1\x1b[31ms"],
    ["decommission"],
    ["decommission", "shop", "--quiet-for", "1"],
    ["decommission", "shop", "--overlap", "x"],
    ["decommission", "shop", "--overlap", "１ｈ"],
    ["waves"],
    ["waves", "--source", "a"],
    ["waves", "--target", "b"],
    ["waves", "--source", "a", "--target", "b", "--topic-pattern", "("],
    ["waves", "--source", "a", "--target", "b", "--ignore-group", "[z-a]"],
    ["waves", "--source", "a", "--target", "b", "--min-topics", "0"],
    ["waves", "--source", "a", "--target", "b", "--min-topics", "1000"],
    ["waves", "--source", "a", "--target", "b", "--min-topics", "1.5"],
    ["waves", "--source", "a", "--target", "b", "--prefix", "Upper"],
    ["waves", "--source", "a", "--target", "b", "--prefix", "../up"],
    ["waves", "--source", "a", "--target", "b", "--prefix", "x" * 58],
    ["waves", "--source", "a", "--target", "b", "--timeout", "x"],
    ["waves", "--source", "a", "--target", "b", "--write", "here"],
    ["waves", "--source", "a", "--target", "b", "--write", "here", "--spark", "s"],
]


@pytest.mark.parametrize("arguments", USAGE, ids=" ".join)
def test_wrong_usage(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    """What the parser does not understand ends with 2, one finding, and where the help of the verb is."""
    code, (complaint,) = ending(capsys, *arguments)
    verb = arguments[0] if arguments[0] in VERBS else ""

    assert (2, True) == (code, complaint.startswith("COMMAND_INVALID · "))
    assert complaint.endswith(f"See {' '.join(['kafka-migration', *filter(None, [verb]), '--help'])}.")


NAMES = [
    "",
    " ",
    "shp",
    ".",
    "..",
    "../shop",
    "/etc",
    "shop/ledger",
    "shop\n",
    "shop\x00",
    "SHOP",
    "x" * 5000,
    "*",
    "ｓhop",
    "file",
    "folder",
]


@pytest.mark.parametrize("verb", ["status", "verdict", "stop", "decommission"])
@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_name_that_is_none(root: Path, capsys: pytest.CaptureFixture[str], verb: str, name: str) -> None:
    """A name without evidence of a run is refused, whatever it would be as a path."""
    (root / "file").write_text("x")
    (root / "folder").mkdir()

    code, (complaint,) = ending(capsys, verb, name, "--evidence-root", str(root))
    assert (3, True) == (code, complaint.startswith("MIGRATION_UNKNOWN · "))


def a_file(place: Path) -> str:
    (place / "file").write_text("x")
    return str(place / "file")


def a_loop(place: Path) -> str:
    (place / "loop").symlink_to(place / "loop")
    return str(place / "loop")


ROOTS: dict[str, Callable[[Path], str]] = {
    "absent": lambda place: str(place / "absent"),
    "empty": lambda place: str(place),
    "a file": a_file,
    "below a file": lambda place: f"{a_file(place)}/more",
    "a loop of links": a_loop,
    "too long": lambda place: f"{place}/{'x' * 300}",
    "a null byte": lambda place: f"{place}/\x00",
    "a device": lambda place: "/dev/null",
    "a half of a surrogate": lambda place: f"{place}/\ud800",
}


@pytest.mark.parametrize("verb", ["status", "verdict", "stop", "decommission", "list"])
@pytest.mark.parametrize("place", ROOTS)
def test_evidence_root_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str], verb: str, place: str) -> None:
    """A place that cannot be a root is refused or named, with what to do."""
    arguments = ["status"] if verb == "list" else [verb, "shop"]
    assert ending(capsys, *arguments, "--evidence-root", ROOTS[place](tmp_path))[0] in {1, 3}


DEEP = "[" * 100_000
CONTENTS: dict[str, str | bytes] = {
    "empty": "",
    "half": '{"schema": 1, "run": "a',
    "no object": "[1]",
    "a number": "7",
    "null": "null",
    "a text": '"text"',
    "no field": "{}",
    "deep": DEEP,
    "deep in an object": '{"a": ' * 20_000,
    "infinite": '{"at": Infinity}',
    "a long number": '{"generation": ' + "9" * 5000 + "}",
    "no unicode": b"\xff\xfe{}",
    "a null byte": "\x00",
    "a surrogate": '{"run": "\\ud800"}',
    "another kind": '{"kind": "weird"}',
    "a field of another type": '{"kind": "judged", "run": 1}',
    "html": "<html>502 Bad Gateway</html>",
    "twice": "{}{}",
}
DOCUMENTS = {
    "ledger": ("ledger/000003.json", ["status", "verdict", "stop", "decommission"]),
    "stop request": ("stop-requests/2.json", ["status", "stop"]),
    "progress": ("progress.json", ["status"]),
    "last run": ("last-run.json", ["status", "verdict"]),
}
DAMAGES = [(what, verb, content) for what, (_, verbs) in DOCUMENTS.items() for verb in verbs for content in CONTENTS]


@pytest.mark.parametrize(("what", "verb", "content"), DAMAGES)
def test_document_that_makes_no_sense(
    root: Path, capsys: pytest.CaptureFixture[str], what: str, verb: str, content: str
) -> None:
    """A document that cannot be read is named, and nothing is reported from it."""
    path, data = document(root, what), CONTENTS[content]
    path.write_bytes(data if isinstance(data, bytes) else data.encode())

    code, complaints = ending(capsys, verb, "shop", "--evidence-root", str(root))
    assert code in {1, 3}
    assert what != "ledger" or complaints[0].startswith(f"LEDGER_BROKEN · {path}\n")


def document(root: Path, what: str) -> Path:
    return root / "shop" / DOCUMENTS[what][0]


WRONG: list[Any] = [5, -1, True, [], {}, [[]], "text", "\ud800", 1e308, "9" * 400]
FIELDS = {
    "progress": ["run", "at", "lag", "rate", "copied", "silent", "step"],
    "last run": ["run", "at", "findings", "contradictions", "outcome"],
    "stop request": ["generation", "run", "at", "by"],
}


@pytest.mark.parametrize(("what", "field"), [(what, field) for what, fields in FIELDS.items() for field in fields])
def test_field_of_another_type(root: Path, capsys: pytest.CaptureFixture[str], what: str, field: str) -> None:
    """Each value either is one that the field can have, or the document is named; no value ends in a traceback."""
    path = document(root, what)
    good = json.loads(path.read_text())
    for value in WRONG:
        path.write_text(json.dumps({**good, field: value}))
        ending(capsys, "status", "shop", "--evidence-root", str(root))
        ending(capsys, "status", "shop", "-o", "json", "--evidence-root", str(root))
    path.write_text(json.dumps({name: value for name, value in good.items() if name != field}))
    ending(capsys, "status", "shop", "--evidence-root", str(root))


@pytest.mark.parametrize("what", DOCUMENTS)
def test_folder_in_place_of_a_document(root: Path, capsys: pytest.CaptureFixture[str], what: str) -> None:
    """A folder under a document's name is named as unreadable."""
    path = document(root, what)
    path.unlink()
    path.mkdir()

    assert ending(capsys, "status", "shop", "--evidence-root", str(root))[0] in {1, 3}


def test_stop_on_a_full_disk_names_it(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request that the disk does not take is a finding with the folder and its free bytes."""
    (root / "shop" / "stop-requests" / "2.json").unlink()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    code, (line,) = ending(capsys, "stop", "shop", "--evidence-root", str(root))

    assert code != 0
    assert line.startswith(f"EVIDENCE_NOT_WRITABLE · {root}/shop/stop-requests\n")
    assert "No space left on device" in line
    assert [] == list((root / "shop" / "stop-requests").iterdir())
