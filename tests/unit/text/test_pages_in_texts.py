"""Rules of how texts name the documentation: an installed package has no folders of the project."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.syntax import parsed, tree_of

ROOT = Path(__file__).parents[3]
FOLDERS = ("plugins", "spark_jobs")
PATHS = re.compile(r"(?<![\w./-])(?:docs|dags|plugins|spark_jobs|sandbox|tests|bench|docker)/[\w-]")
NAMED = re.compile(r'(?:the page|on page|pages) "([^"]+)"(?: and "([^"]+)")?(?:, section "([^"]+)")?')


@cache
def literals() -> tuple[tuple[str, str], ...]:
    """Return the file and the text of every string of the package that is no docstring."""
    sources = (path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py")))
    return tuple((str(path.relative_to(ROOT)), text) for path in sources for text in texts_of(tree_of(path)))


def texts_of(tree: ast.Module) -> Iterator[str]:
    """Yield every string of a module; the parts of an f-string are one text."""
    comments = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in comments:
            yield node.value


def test_no_text_names_a_path_of_the_repository() -> None:
    """Findings, logs, help, alerts, reports and written files name a page by its title, or a command."""
    assert [] == [(place, text) for place, text in literals() if PATHS.search(text)]


def test_help_is_made_of_no_docstring() -> None:
    """A docstring may name a file of the project, because no text that a user reads is made of it."""
    sources = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]

    assert [] == [path for path in sources if "__doc__" in path.read_text()]


def titles() -> dict[str, str]:
    """Return the text of each page by its title."""
    pages = [path.read_text() for path in (ROOT / "docs").rglob("*.md")]
    return {page.partition("\n")[0].removeprefix("# "): page for page in pages}


def test_named_pages_and_sections_exist() -> None:
    """Each title in a text is the title of a page, and each section is a heading of that page."""
    known = titles()
    found = [match for _, text in literals() for match in NAMED.finditer(text)]

    assert found
    for match in found:
        first, second, section = match.groups()
        assert {first, second} - {None} <= known.keys(), match[0]
        assert section is None or re.search(rf"^#+ (\d+\. )?{re.escape(section)}$", known[first], re.MULTILINE), match[
            0
        ]


@pytest.mark.parametrize(
    "code",
    [
        '"see docs/runbook.md"',
        'f"{x} (docs/engines.md)"',
        '"a" "(docs/" "engines.md)"',
        '"tests/unit/x.py"',
        'print("docs/a")',
    ],
)
def test_path_is_found(code: str) -> None:
    """A path is found in any string, also in parts and in an f-string."""
    assert [text for text in texts_of(parsed(f"y = {code}")) if PATHS.search(text)]


@pytest.mark.parametrize("code", ['"include/migrations"', '"/opt/docs/x"', '"my-tests/x"', '"docs"'])
def test_other_paths_are_left_alone(code: str) -> None:
    """Folders of the user, and words, are no paths of the repository."""
    assert not [text for text in texts_of(parsed(f"y = {code}")) if PATHS.search(text)]
