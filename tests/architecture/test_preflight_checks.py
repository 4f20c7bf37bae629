"""Every check of preflight has a test that makes it fail."""

from __future__ import annotations

import ast
from pathlib import Path

from kafka_migration.preflight.checks import CHECKS
from tests.live.test_preflight import ASK_NO_SERVICE, ELSEWHERE, FAILING
from tests.syntax import tree_of

ROOT = Path(__file__).parents[2]


def test_every_check_is_tried() -> None:
    """A new check needs a failing test on real parts (`tests/live/test_preflight.py`), unless it asks no service."""
    assert {check.name for check in CHECKS} == ASK_NO_SERVICE | FAILING.keys() | ELSEWHERE.keys()
    assert all(FAILING.values())


def test_tests_of_other_files_exist() -> None:
    """A test that is named for a check exists."""
    for place in ELSEWHERE.values():
        file, _, name = place.partition("::")
        tree = tree_of(ROOT / file)
        assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
