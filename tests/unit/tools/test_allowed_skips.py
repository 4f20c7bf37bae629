"""A skipped test fails, unless its skip is in the list of `tests/allowed_skips.py` and right on this machine."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import allowed_skips
from tests.allowed_skips import ALLOWED, AllowedSkip, allowed
from tests.syntax import parsed

ROOT = Path(__file__).parents[3]
# The other plugins take half of the time of a run.
ONLY_XDIST = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
STATED_BY = {"skip", "skipif", "xfail", "importorskip"}
OF_UNITTEST = {"skipTest", "skipIf", "skipUnless", "SkipTest"}
LISTED = """\
import unittest
import pytest
from tests.live.spark_matrix import _interpreter

def test_passes(): pass
def test_listed(): _interpreter("2.0")

@pytest.fixture(scope="module")
def listed():
    _interpreter("2.0")

def test_listed_in_fixture(listed): pass
def test_listed_in_fixture_again(listed): pass
"""
UNLISTED = """
@pytest.fixture
def lacking():
    pytest.skip("nothing in a fixture")

def test_in_body(): pytest.skip("nothing in a body")
def test_in_fixture(lacking): pass
def test_in_clean_up(request): request.addfinalizer(lambda: pytest.skip("nothing in a clean-up"))
@pytest.mark.skip
def test_without_reason(): pass
@pytest.mark.skipif(True, reason="nothing by a condition")
def test_by_mark(): pass
@pytest.mark.xfail(reason="a failure that is expected")
def test_expected(): assert False
@pytest.mark.xfail(reason="a failure that does not come", strict=False)
def test_better(): pass
@pytest.mark.parametrize("value", [])
def test_of_nothing(value): pass
class TestOld(unittest.TestCase):
    def test_old(self): self.skipTest("nothing of unittest")
"""
REASONS = {
    "test_in_body": "nothing in a body",
    "test_in_fixture": "nothing in a fixture",
    "test_in_clean_up": "nothing in a clean-up",
    "test_without_reason": "unconditional skip",
    "test_by_mark": "nothing by a condition",
    "test_expected": "a failure that is expected",
    "test_better": "a failure that does not come",
    "test_of_nothing[NOTSET]": "got empty parameter set",
    "test_old": "nothing of unittest",
}


PROCESSES = pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "two processes"])


class Stated(NamedTuple):
    """A skip in the source of a test: its file and the beginning of its reason."""

    file: str
    reason: str

    def is_of(self, entry: AllowedSkip) -> bool:
        """Whether an entry of the list allows it."""
        return self.file == entry.file and self.reason.startswith(entry.reason)


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of a folder under the rule."""
    words = (
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "xdist",
        "-p",
        "no:cacheprovider",
        "-p",
        "tests.allowed_skips",
        "-rA",
        *options,
    )
    environment = {**os.environ, **ONLY_XDIST, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "plugins")))}
    return subprocess.run(
        (*words, "--rootdir", folder, folder), cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@PROCESSES
def test_only_a_listed_skip_is_one(tmp_path: Path, options: tuple[str, ...]) -> None:
    """Every kind of unlisted skip fails, with test, reason and remedy; a listed one stays a skip."""
    (tmp_path / "test_them.py").write_text(LISTED + UNLISTED)

    done = run(tmp_path, *options)

    assert pytest.ExitCode.TESTS_FAILED == done.returncode, done.stdout
    assert "this machine has no Python 2.0" in done.stdout
    # The test whose clean-up skips has itself passed. A skip before the test itself is an error.
    assert "4 failed, 2 passed, 3 skipped, 5 errors" in done.stdout
    for test, reason in REASONS.items():
        assert f"::{test} was not tested: {reason}" in done.stdout
    assert "`make bootstrap-tests`" in done.stdout


def test_listed_skips_alone_are_a_success(tmp_path: Path) -> None:
    """A run in which only listed tests were skipped has not failed."""
    (tmp_path / "test_them.py").write_text(LISTED)

    done = run(tmp_path)

    assert pytest.ExitCode.OK == done.returncode, done.stdout
    assert "1 passed, 3 skipped" in done.stdout


@PROCESSES
def test_file_that_skips_itself_fails(tmp_path: Path, options: tuple[str, ...]) -> None:
    """A file whose import skips all its tests fails the run."""
    lines = {
        "could not import 'no_such_module'": 'pytest.importorskip("no_such_module")',
        "not here": 'pytest.skip("not here", allow_module_level=True)',
    }
    for number, line in enumerate(lines.values()):
        (tmp_path / f"test_{number}.py").write_text(f"import pytest\n{line}\ndef test_passes(): pass\n")

    done = run(tmp_path, *options)

    assert done.returncode not in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}
    for number, reason in enumerate(lines):
        assert f"test_{number}.py was not tested: {reason}" in done.stdout


def test_rule_holds_for_this_run(request: pytest.FixtureRequest) -> None:
    """Every run of the tests has the rule."""
    assert request.config.pluginmanager.is_registered(allowed_skips)


def test_a_skip_for_want_of_root_is_wrong_for_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """A listed skip fails where what it lacks is there: root may mount."""
    skip = ("tests/small_disk.py", "only root may mount a disk")
    entry = AllowedSkip(*skip, lambda: False)
    monkeypatch.setattr(allowed_skips, "ALLOWED", (entry,))

    assert not allowed(*skip)


def test_root_is_seen_by_its_right_to_mount() -> None:
    """An ordinary user lacks root's rights; root has them unless a container took them away."""
    assert allowed_skips.lacks_root() or os.geteuid() == 0


def test_locked_airflow_skips_nothing() -> None:
    """Only an older Airflow than the locked one may skip tests of the newest."""
    assert not allowed_skips.has_airflow_before("3.3.2")


def test_every_skip_in_the_tests_is_listed() -> None:
    """A skip is listed when it is written, not when a machine first lacks something."""
    assert [] == [skip for skip in stated_skips() if not any(skip.is_of(entry) for entry in ALLOWED)]


def test_every_entry_of_the_list_is_needed() -> None:
    """An entry whose skip is no longer in its file is removed."""
    assert [] == [entry for entry in ALLOWED if not any(skip.is_of(entry) for skip in stated_skips())]


@cache
def stated_skips() -> tuple[Stated, ...]:
    """Return each skip and expected failure in the source of the tests."""
    return tuple(skip for file in sorted((ROOT / "tests").rglob("*.py")) for skip in skips_of(file))


def skips_of(file: Path) -> Iterator[Stated]:
    """Yield those of one file."""
    text = file.read_text()
    if not any(name in text for name in STATED_BY | OF_UNITTEST):
        return
    tree = parsed(text)
    calls = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if is_pytests(node):
            yield Stated(str(file.relative_to(ROOT)), reason_of(calls.get(id(node))))


def is_pytests(node: ast.AST) -> bool:
    """Whether a node names pytest's ways to skip a test; names in other modules are not pytest's."""
    if not isinstance(node, ast.Attribute):
        return False
    is_of_pytest = node.attr in STATED_BY and ast.unparse(node.value) in {"pytest", "pytest.mark", "mark"}
    return is_of_pytest or node.attr in OF_UNITTEST


def reason_of(call: ast.Call | None) -> str:
    """Return the beginning of the reason that a call states; empty if there is none in its text."""
    if call is None:
        return ""
    stated = next((word.value for word in call.keywords if word.arg == "reason"), None) or next(iter(call.args), None)
    if isinstance(stated, ast.JoinedStr):
        stated = stated.values[0]
    return str(stated.value) if isinstance(stated, ast.Constant) else ""
