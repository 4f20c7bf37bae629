"""Tests run Kafka's jars only after they were fetched."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
# Only the set of `KAFKA_VERSION` is in place after the bootstrap; `fetched_kafka` fetches each other one.
_NOT_FETCHED = re.compile(r"\bJARS_FOLDER\b|\bkafka_home\([^)]")


def test_no_test_names_the_jars_of_a_version_that_may_not_be_fetched() -> None:
    """A machine with old jars would hide that a fresh one has none."""
    excepted = {Path(__file__), TESTS / "unit" / "tools" / "test_bootstrap.py"}
    found = [str(path) for path in TESTS.rglob("*.py") if _NOT_FETCHED.search(path.read_text())]

    assert [] == [path for path in found if Path(path) not in excepted]
