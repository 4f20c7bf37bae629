"""A campaign goes on where it was interrupted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
# The other plugins take half of the time of a run.
ONLY_XDIST = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
TESTS = """
import os, pytest

@pytest.mark.parametrize("text", ["a", "b c"])
def test_good(text):
    pass

def test_bad():
    assert os.path.exists("cured")

@pytest.fixture
def late():
    yield
    assert os.path.exists("cured")

def test_of_late_error(late):
    pass
"""


def run(folder: Path, *options: str) -> tuple[int, set[str]]:
    """Run the tests; return the exit code and which were run."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "xdist",
        "-p",
        "no:cacheprovider",
        "-p",
        "tests.resuming",
        "-v",
        *options,
    ]
    done = subprocess.run(
        [*command, "--passed", "passed", "test_some.py"],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), **ONLY_XDIST},
        capture_output=True,
        text=True,
        check=False,
    )
    words = ("test_good[a]", "test_good[b c]", "test_bad", "test_of_late_error")
    return done.returncode, {word for word in words if f"::{word}" in done.stdout}


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "two processes"])
def test_only_tests_that_did_not_pass_are_run_again(tmp_path: Path, options: tuple[str, ...]) -> None:
    """A test that failed, also in its clean-up, is run again; when all have passed, nothing is run."""
    (tmp_path / "test_some.py").write_text(TESTS)
    every = {"test_good[a]", "test_good[b c]", "test_bad", "test_of_late_error"}
    assert (1, every) == run(tmp_path, *options)

    (tmp_path / "cured").touch()
    assert (0, {"test_bad", "test_of_late_error"}) == run(tmp_path, *options)
    assert (0, set()) == run(tmp_path, *options)
