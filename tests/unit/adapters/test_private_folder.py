"""Rules of folders with secrets: what a dead process left goes, and nothing else does."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from kafka_migration.adapters.system.private_folder import PREFIX, private_folder, sweep

# Makes a folder, says which, and holds it until it is killed.
HOLDER = """\
import sys
from kafka_migration.adapters.system.private_folder import private_folder
with private_folder() as folder:
    (folder / "clients.json").write_text("canary")
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary ones, of this test alone."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def holder(temporary: Path) -> tuple[subprocess.Popen[str], Path]:
    """Start a process that holds a folder."""
    environment = {**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": os.pathsep.join(sys.path)}
    started = subprocess.Popen(
        [sys.executable, "-c", HOLDER], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert started.stdout
    return started, Path(started.stdout.readline().strip())


def test_folder_is_its_users_own_and_goes(temporary: Path) -> None:
    """Only its user may enter the folder, and it is removed at the end."""
    with private_folder() as folder:
        assert 0o700 == stat.S_IMODE(folder.stat().st_mode)
        assert [folder] == list(temporary.iterdir())

    assert [] == list(temporary.iterdir())


def test_what_a_killed_process_left_goes_with_the_next(temporary: Path) -> None:
    """While a process lives its folder stays; once it is killed with -9 the next one removes it."""
    process, left = holder(temporary)
    try:
        with private_folder():
            assert (left / "clients.json").is_file()
    finally:
        process.kill()
        process.communicate()
    assert left.is_dir()

    with private_folder() as folder:
        assert [folder] == list(temporary.iterdir())


def test_links_and_files_are_not_followed(temporary: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A link or file of such a name leads a sweep nowhere."""
    precious = tmp_path_factory.mktemp("precious")
    (precious / "kept").write_text("")
    (temporary / f"{PREFIX}link").symlink_to(precious)
    (temporary / f"{PREFIX}file").write_text("")
    (temporary / f"{PREFIX}dead").mkdir()
    (temporary / f"{PREFIX}dead" / "inner").symlink_to(precious)

    sweep()

    assert (precious / "kept").exists()
    assert {f"{PREFIX}link", f"{PREFIX}file"} == {path.name for path in temporary.iterdir()}


def test_folders_of_others_are_left(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What belongs to another user stays, also where this one could remove it."""
    (temporary / f"{PREFIX}theirs").mkdir()
    monkeypatch.setattr(os, "getuid", lambda: os.geteuid() + 1)

    sweep()

    assert (temporary / f"{PREFIX}theirs").is_dir()


def test_folder_that_a_sweep_took_is_made_again(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep between the making of a folder and its lock costs nothing but another folder."""
    made = tempfile.mkdtemp
    first: list[str] = []

    def taken(**options: str) -> str:
        path = made(**options)
        if not first:
            first.append(path)
            sweep()
        return path

    monkeypatch.setattr(tempfile, "mkdtemp", taken)
    with private_folder() as folder:
        assert [folder] == list(temporary.iterdir())
        assert str(folder) not in first
