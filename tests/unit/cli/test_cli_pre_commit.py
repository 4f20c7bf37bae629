"""The hook of the page of the command line is one that the program `pre-commit` runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import MIGRATION_TEXT
from tests.documents import blocks
from tests.programs import installed

ROOT = Path(__file__).parents[3]
(HOOK,) = (text for text in blocks((ROOT / "docs" / "reference" / "cli.md").read_text(), "yaml") if "hooks:" in text)
FILE = Path("include/migrations/shop.yaml")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with the hook, the command, and a staged migration file."""
    command = tmp_path / "bin" / "kafka-migration"
    for path in (command, tmp_path / "work" / FILE):
        path.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m kafka_migration "$@"\n')
    command.chmod(0o755)
    work = tmp_path / "work"
    (work / ".pre-commit-config.yaml").write_text(HOOK)
    (work / FILE).write_text(MIGRATION_TEXT)
    (work / "other.yaml").write_text("a: [")
    git(work, "init", "-q")
    git(work, "add", "-A")
    return work


def git(work: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b.example")
    subprocess.run([installed("git"), *identity, *arguments], cwd=work, check=True)


def hooked(work: Path) -> tuple[int, str]:
    """Return the exit code and the output of the hook on what is staged."""
    environment = os.environ | {
        "PATH": f"{work.parent / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "plugins"),
        "PRE_COMMIT_HOME": str(work.parent / "home"),
    }
    begin = [sys.executable, "-m", "pre_commit", "run", "--color", "never"]
    done = subprocess.run(begin, cwd=work, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_hook_takes_a_valid_file_and_refuses_a_wrong_one(repository: Path) -> None:
    """The hook checks the staged migration files alone, and shows the finding of a wrong one with its path."""
    assert (0, True) == ((found := hooked(repository))[0], "Passed" in found[1]), found[1]

    (repository / FILE).write_text(MIGRATION_TEXT.replace("tasks: 2", "tasks: 0"))
    git(repository, "add", "-A")
    code, said = hooked(repository)
    assert (1, True) == (code, f"MIGRATION_FILE_INVALID · {FILE}: mirror.tasks" in said), said


def test_hook_has_nothing_to_do_for_a_deleted_file(repository: Path) -> None:
    """A commit that only deletes a migration file is not refused."""
    git(repository, "commit", "-qm", "a")
    git(repository, "rm", "-q", str(FILE))

    assert (0, True) == ((found := hooked(repository))[0], "Skipped" in found[1]), found[1]
