"""The migration files of live tests, which run rarely, are loaded here, so that a new rule of the file reaches them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_migration.migration_file.loading import load_migration
from tests.live.migrations import DEFAULTS, file_text
from tests.syntax import tree_of

pytestmark = pytest.mark.unit

LIVE = Path(__file__).parents[2] / "live"
MAKERS = {"migration", "settings"}


def literal_settings() -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the place and the settings that are written out, of each call that makes a migration in a live test."""
    for module in sorted(LIVE.glob("test_*.py")):
        for node in ast.walk(tree_of(module)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MAKERS:
                given = {each.arg: each.value for each in node.keywords if each.arg in DEFAULTS}
                literal = {str(name): each.value for name, each in given.items() if isinstance(each, ast.Constant)}
                if literal:
                    yield f"{module.name}:{node.lineno}", {name: str(value) for name, value in literal.items()}


@pytest.mark.parametrize(("place", "settings"), [("the defaults", {}), *literal_settings()])
def test_file_of_a_live_test_is_accepted(place: str, settings: dict[str, str]) -> None:
    """A migration file of a live test keeps the rules of migration files."""
    assert load_migration(file_text("orders", settings), where=place).name == "orders"
