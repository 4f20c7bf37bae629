"""Every message about a MirrorMaker file gets values from the functions that hide secrets."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.syntax import nodes_of, tree_of

pytestmark = pytest.mark.unit

PACKAGE = Path(__file__).parents[2] / "plugins" / "kafka_migration"
LAYERS = ("mirrormaker_files", "mirrormaker_import")
MODULES = sorted(path for layer in LAYERS for path in (PACKAGE / layer).rglob("*.py"))
# The module whose functions decide what is shown.
DOOR = "lint_finding.py"
# The attributes of settings that hold foreign text, and the functions that make words of a message.
FOREIGN = {"value", "dropped", "name", "key"}
SETTINGS = {"setting", "each", "entry", "commit", "sync"}
WORDS = {"given", "brief", "some", "at", "on_file", "refusal", "Finding", "LintFinding", "KeyUse", "not_imported"}
# Keys that a rule compared with a known one before.
KNOWN = {"key_rules.py", "value_rules.py", "import_rules.py"}


def _foreign(node: ast.AST, attributes: set[str]) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr in attributes
        # The name of a file was decided about when it was read.
        and not ast.unparse(node).endswith("file.name")
        and any(isinstance(part, ast.Name) and part.id in SETTINGS for part in ast.walk(node.value))
    )


def _messages(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield what becomes text of a message: the parts of f-strings, and the arguments of the functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FormattedValue):
            yield node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in WORDS:
            yield from node.args


def unguarded(path: Path) -> list[str]:
    """Return the lines on which foreign text becomes a message without a decision."""
    attributes = FOREIGN - {"key"} if path.name in KNOWN else FOREIGN
    parts = (part for part in _messages(tree_of(path)) if _foreign(part, attributes))
    return [f"{path.name}: {ast.unparse(part)}" for part in parts]


def test_no_message_has_a_value_that_nothing_decided_about() -> None:
    """Outside of the deciding module, no value or name of a setting is put into a message directly."""
    assert [] == [line for path in MODULES if path.name != DOOR for line in unguarded(path)]


def test_findings_are_made_in_one_module() -> None:
    """Only the deciding module makes findings, so that each text of one passes it."""
    made = {
        path.name
        for path in MODULES
        for node in nodes_of(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"Finding", "LintFinding"}
    }
    assert made == {DOOR}


def test_the_rule_can_fail(tmp_path: Path) -> None:
    """A value in an f-string, or as an argument of a finding, is found."""
    file = tmp_path / "rules.py"
    file.write_text("at(file, setting, code, setting.value, 'x', f'{each.setting.name} {value_of(setting)}')\n")

    assert unguarded(file) == ["rules.py: setting.value", "rules.py: each.setting.name"]
