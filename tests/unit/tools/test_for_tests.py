"""What the tests need is installed or named before they run; what is missing then fails them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox import for_tests, prerequisites
from tests.programs import installed
from tests.syntax import parsed

ROOT = Path(__file__).parents[3]
# What every Linux has, and what the bootstrap has checked or installed before the tests run.
ELSEWHERE = {"cat", "env", "id", "sh", "sleep", "true", "umount"} | {
    "java",
    "kafka-migration",
    "make",
    *prerequisites.SSH_PROGRAMS,
}
CALLS = {"subprocess.run", "subprocess.Popen", "subprocess.check_output", "subprocess.check_call", "run", "_run"}


@pytest.fixture
def without_fish(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that lacks fish, for another user than root."""
    monkeypatch.setattr(prerequisites, "find_program", lambda name: None if name == "fish" else f"/usr/bin/{name}")
    monkeypatch.setattr("sandbox.prerequisites.os.geteuid", lambda: 1000)
    monkeypatch.setattr("sandbox.prerequisites.shutil.which", lambda name, **_: f"/usr/bin/{name}")
    monkeypatch.setattr(for_tests, "_compiles", lambda java: True)


def test_a_user_reads_the_command_and_the_tests_run(without_fish: None, capsys: pytest.CaptureFixture[str]) -> None:
    """Without root, what is missing is named with its purpose and the command; the tests run with what is there."""
    assert 0 == for_tests.main()

    said = capsys.readouterr().err
    assert "fish, to test completion in fish" in said
    assert "  sudo apt-get update && sudo apt-get install -y fish\n" in said
    assert "Until then the tests that need it fail." in said


def test_a_complete_machine_is_told_nothing(
    without_fish: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where nothing is missing, nothing is printed."""
    monkeypatch.setattr(prerequisites, "find_program", lambda name: f"/usr/bin/{name}")

    assert 0 == for_tests.main()
    assert ("", "") == tuple(capsys.readouterr())


def test_root_installs_what_is_missing(without_fish: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root installs exactly the missing packages."""
    asked: list[str] = []
    monkeypatch.delenv("INSTALL", raising=False)
    monkeypatch.setattr("sandbox.prerequisites.os.geteuid", lambda: 0)
    monkeypatch.setattr(prerequisites, "recover", lambda say: None)
    monkeypatch.setattr(prerequisites, "install", lambda found, say: asked.extend(item.package for item in found))

    for_tests.main()

    assert ["fish"] == asked


def test_a_failed_installation_fails(
    without_fish: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """If apt-get fails, no test starts, and its last lines are shown."""

    def fail(*_: object) -> None:
        raise prerequisites.AptError("apt-get: no network")

    monkeypatch.setattr(for_tests, "missing", fail)

    assert 1 == for_tests.main()
    assert "no network" in capsys.readouterr().err


@pytest.mark.parametrize(("modules", "is_missing"), [("java.base@17\njdk.compiler@17", False), ("java.base@17", True)])
def test_a_java_that_cannot_compile_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, modules: str, is_missing: bool
) -> None:
    """A runtime that was reduced to a few modules is named with the remedy."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "java"
    program.write_text(f"#!/bin/sh\necho '{modules}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))

    said = [item.text for item in for_tests.find_missing() if "compiles" in item.text]

    assert is_missing == bool(said)
    assert all(f"{program} has no module jdk.compiler; set JAVA_HOME to a JDK" in text for text in said)


def test_a_missing_program_fails_its_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test without its program fails, and says how to install it."""
    monkeypatch.setattr("tests.programs.shutil.which", lambda name, **_: None)

    with pytest.raises(pytest.fail.Exception, match=r"fish is not installed.*completion in fish.*make bootstrap-tests"):
        installed("fish")


def test_every_program_that_tests_call_is_checked_before() -> None:
    """A program that a test calls by name is in the list of what the tests need, or of what the sandbox needs."""
    known = {*for_tests.PROGRAMS, *for_tests.OF_ROOT, *ELSEWHERE}

    assert {} == {name: file for file in sorted((ROOT / "tests").rglob("*.py")) for name in called(file) - known}


def test_targets_that_run_tests_check_first_and_the_demo_does_not() -> None:
    """A target asks for the programs of the tests if, and only if, it runs tests."""
    rules = re.findall(r"^([a-z-]+): (.*)\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    runs = {
        name: bool(re.search(r"-m pytest|\$\((PYTEST|CAMPAIGN)\)|test-|campaign-", recipe)) for name, _, recipe in rules
    }
    checks = {name: "bootstrap-tests" in needs for name, needs, _ in rules}

    assert runs == checks
    assert {"test", "test-fast", "campaign-kerberos", "coverage"} < {name for name in runs if runs[name]}
    assert {"demo", "up", "lint"} < {name for name in runs if not runs[name]}


def called(file: Path) -> set[str]:
    """Return the programs that a file of tests calls by name."""
    text = file.read_text()
    if "subprocess" not in text and "installed(" not in text:
        return set()
    return set(_called(parsed(text)))


def _called(tree: ast.Module) -> Iterator[str]:
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args):
        words = call.args[0]
        if ast.unparse(call.func) == "installed" and isinstance(words, ast.Constant):
            yield str(words.value)
        if ast.unparse(call.func) in CALLS and isinstance(words, ast.List | ast.Tuple) and words.elts:
            first = words.elts[0]
            if isinstance(first, ast.Constant) and "/" not in str(first.value):
                yield str(first.value)
