"""The search for secrets finds them in every form, wherever they stand."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote

import pytest

from sandbox.processes import MARKER
from sandbox.security.authority import Authority
from tests.live import canaries as module
from tests.live.canaries import Canaries, of_key
from tests.waiting import wait_until

SECRET = "\"q'uote\\ $HOME %2F+& 4711"


@pytest.fixture
def canaries() -> Canaries:
    """A search for one password."""
    return Canaries({"password": SECRET})


FORMS = {
    "plain": SECRET.encode(),
    "hexadecimal": b"\\x" + SECRET.encode().hex().encode(),
    "JSON": json.dumps({"x": SECRET}).encode(),
    "URL": f"?password={quote(SECRET, safe='')}".encode(),
    **{f"base64 after {n}": base64.b64encode(b"x" * n + SECRET.encode() + b"yz") for n in range(6)},
}


@pytest.mark.parametrize("form", FORMS)
def test_secret_is_found_in_each_form(canaries: Canaries, tmp_path: Path, form: str) -> None:
    """Plain, as JSON and URLs write it, and in base64 wherever it begins."""
    (tmp_path / "log").write_bytes(b"before " + FORMS[form] + b" after")
    (tmp_path / "other").write_text("nothing")

    assert 2 == canaries.look_below(tmp_path)
    assert {("password", str(tmp_path / "log"))} == canaries.hits


def test_secret_between_two_reads_is_found(canaries: Canaries, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read in parts, and a secret may stand on the border of two."""
    monkeypatch.setattr(module, "CHUNK", 8)
    (tmp_path / "log").write_text(f"1234567{SECRET}")
    canaries.look_below(tmp_path)

    assert 1 == len(canaries.hits)


def test_what_is_excluded_or_older_is_not_read(canaries: Canaries, tmp_path: Path) -> None:
    """The brokers' own files, and files from before the test, say nothing."""
    for name in ("own", "old", "new"):
        (tmp_path / name).write_text(SECRET)
    os.utime(tmp_path / "old", (1, 1))

    assert 1 == canaries.look_below(tmp_path, but={tmp_path / "own"}, since=time.time() - 600)
    assert {("password", str(tmp_path / "new"))} == canaries.hits


@pytest.mark.parametrize("place", ["cmdline", "environ"])
def test_secret_of_a_process_is_found(canaries: Canaries, place: str) -> None:
    """Command lines and environments of the sandbox's processes are read while they run."""
    words = ("-c", "import time; time.sleep(60)", SECRET if place == "cmdline" else "")
    more = {"PASSWORD": SECRET} if place == "environ" else {}
    with subprocess.Popen((sys.executable, *words), env={MARKER: "canaries", **more}) as process:
        try:
            with canaries.watching_processes("canaries"):
                wait_until(lambda: canaries.hits, what="the secret of the process")
        finally:
            process.kill()

    assert {("password", place)} == {(name, found.partition(" ")[0]) for name, found in canaries.hits}


def test_line_of_a_key_is_its_own() -> None:
    """Two keys differ in the line that is searched for."""
    keys = [Authority().issue("x").key for _ in range(2)]

    assert 2 == len({of_key(key) for key in keys})
