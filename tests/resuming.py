"""Lets a long campaign go on after an interruption: `pytest -p tests.resuming --passed FILE`.

Each test that passed is added to the file at once, and tests in the file are not run again. The file belongs to one
state of the code: whoever changes the code takes a new file.
"""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--passed`."""
    parser.addoption("--passed", metavar="FILE", type=Path, help="leave out the tests in this file, and add to it")


def pytest_configure(config: pytest.Config) -> None:
    """Leave out tests in each process; only the first process, which gets all reports, writes."""
    file = config.getoption("--passed")
    if file is None:
        return
    known = frozenset(file.read_text().splitlines()) if file.exists() else frozenset()
    config.pluginmanager.register(_Choice(known))
    if not hasattr(config, "workerinput"):
        file.parent.mkdir(parents=True, exist_ok=True)
        config.pluginmanager.register(_Record(file))


class _Choice:
    """Leaves out the tests that have passed."""

    def __init__(self, passed: frozenset[str]) -> None:
        self._passed = passed

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Deselect them."""
        done = [item for item in items if item.nodeid in self._passed]
        items[:] = [item for item in items if item.nodeid not in self._passed]
        if done:
            config.hook.pytest_deselected(items=done)

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Count nothing left to do as a success."""
        if self._passed and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
            session.exitstatus = pytest.ExitCode.OK


class _Record:
    """Writes the tests that passed, with their set-up and their clean-up."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._failed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add the test after its last phase."""
        if not report.passed:
            self._failed.add(report.nodeid)
        elif report.when == "teardown" and report.nodeid not in self._failed:
            with self._file.open("a") as file:
                file.write(f"{report.nodeid}\n")
