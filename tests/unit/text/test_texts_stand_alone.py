"""What the package says to a user can be looked up where only the package is installed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from kafka_migration.cli.files.explanations import explanations, named
from kafka_migration.cli.shell.verb_table import VERBS
from tests.syntax import parsed, tree_of

ROOT = Path(__file__).parents[3]
FOLDERS = ("plugins", "spark_jobs", "dags")
# A path of the repository, or a page of the manual.
ELSEWHERE = re.compile(
    r"(?<![\w./-])(?:docs|include|dags|plugins|spark_jobs|sandbox|tests|bench|docker)/[\w-]"
    r"|\b[\w-]+\.md\b|[Rr]unbook|\b(?:the|on) pages? [\"“]"
)
# What looks like one, with the reason why every installation has it.
EVERYWHERE = {
    "report.md": "a document of a run's evidence",
    "include/migrations": "the default folder of the migration files, beside the DAGs of an installation",
}
# A command that a text shows.
CALL = re.compile(r"(?:`|<code>)kafka-migration ([a-z]+(?:-[a-z]+)*)((?: \w+)*)")


@cache
def texts() -> tuple[tuple[str, str], ...]:
    """Return the file and the text of every string of the package that is no docstring, and of its other files."""
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")) if path.is_file()]
    shown = [path for path in paths if "__pycache__" not in path.parts and path.name != "README.md"]
    return tuple((str(path.relative_to(ROOT)), text) for path in shown for text in texts_in(path))


def texts_in(path: Path) -> Iterator[str]:
    """Yield the strings of a module, or the whole text of another file."""
    if path.suffix == ".py":
        yield from texts_of(tree_of(path))
    else:
        yield path.read_text(errors="replace")


def texts_of(tree: ast.Module) -> Iterator[str]:
    """Yield every string of a module; the parts of an f-string are one text."""
    comments = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in comments:
            yield node.value


def elsewhere(text: str) -> list[str]:
    """Return what a text names that only the repository or the manual has."""
    for known in EVERYWHERE:
        text = text.replace(known, "")
    return ELSEWHERE.findall(text)


def test_no_text_names_what_only_the_repository_has() -> None:
    """Findings, logs, help, alerts, reports and written files name a command, but no file or page of the project."""
    assert [] == [(place, found) for place, text in texts() if (found := elsewhere(text))]


def test_exceptions_are_needed() -> None:
    """Each exception is in a text."""
    assert [] == [known for known in EVERYWHERE if not any(known in text for _, text in texts())]


def test_help_is_made_of_no_docstring() -> None:
    """A docstring may name a file of the project, because no text that a user reads is made of it."""
    sources = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]

    assert [] == [path for path in sources if "__doc__" in path.read_text()]


def test_a_command_in_a_text_exists() -> None:
    """What a text tells a user to call is a verb, and `explain` knows the names after it."""
    known = explanations()
    calls = [(place, *call) for place, text in texts() for call in CALL.findall(text)]
    assert any(verb == "explain" and names for _, verb, names in calls)
    for place, verb, names in calls:
        assert verb in VERBS, place
        for name in names.split() if verb == "explain" else ():
            assert name in {"NAME", "CODE", "LABEL"} or named(name, known), place


@pytest.mark.parametrize(
    "code",
    [
        '"see docs/runbook.md"',
        'f"{x} (docs/engines.md)"',
        '"a" "(docs/" "engines.md)"',
        '"tests/unit/x.py"',
        'print("docs/a")',
        "'the page \"Runbook\"'",
        '"see the runbook"',
        '"README.md"',
    ],
)
def test_such_a_text_is_found(code: str) -> None:
    """A path or a page is found in any string, also in parts and in an f-string."""
    assert [text for text in texts_of(parsed(f"y = {code}")) if elsewhere(text)]


@pytest.mark.parametrize(
    "code", ['"include/migrations"', '"/opt/docs/x"', '"my-tests/x"', '"docs"', '"/api/v2/dags/shop"', '"sandbox; x"']
)
def test_other_texts_are_left_alone(code: str) -> None:
    """Folders of the user, addresses, and words, are everywhere."""
    assert not [text for text in texts_of(parsed(f"y = {code}")) if elsewhere(text)]
