"""Tests leave the time of their process alone."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
# `setattr("a.module.time.sleep", …)` replaces the function of the `time` module for all threads of the process.
_OF_ALL_THREADS = re.compile(r"setattr\(\s*(?:\"[\w.]{1,200}\.time\.\w{1,40}\"|time,)")


def test_no_test_replaces_a_function_of_the_time_module_for_all_threads() -> None:
    """A thread that an earlier test left would turn without a pause, and move the clock of this test."""
    found = [str(path.relative_to(TESTS)) for path in TESTS.rglob("*.py") if _OF_ALL_THREADS.search(path.read_text())]

    assert [] == [path for path in found if path != str(Path(__file__).relative_to(TESTS))]
