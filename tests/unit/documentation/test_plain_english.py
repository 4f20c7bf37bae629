"""Words that the project's texts no longer use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
RETIRED = re.compile(
    r"\b(nobody|somebody|whoever|anew|vouch(es|ed)? for|told of|tells of|the truth|stay(s|ed)? behind|mend(s|ed)?)\b",
    re.IGNORECASE,
)
FOLDERS = ("bench", "dags", "docker", "docs", "include", "plugins", "sandbox", "spark_jobs")
SUFFIXES = {".in", ".json", ".md", ".py", ".sh", ".yaml", ""}
# A user of the operating system and a login of the sandbox, which have these names.
NAMES = re.compile(r"`?nobody`?\b.*pw_|_nobody\(\)|getpwnam|NOBODY\b|user `nobody`|\bnobody\.pw_|[\"`]somebody[\"`]")


def texts() -> Iterator[Path]:
    """Yield what people read: product, tools and documentation, without decision records and vendored files."""
    yield from ROOT.glob("*.md")
    yield ROOT / "Makefile"
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            skipped = {"adr", "assets", "__pycache__"} & set(path.relative_to(ROOT).parts)
            if path.is_file() and path.suffix in SUFFIXES and not skipped:
                yield path


def retired(text: str) -> list[str]:
    """Return the lines that use a retired word."""
    return [line.strip() for line in text.splitlines() if RETIRED.search(line) and not NAMES.search(line)]


def test_texts_use_no_retired_word() -> None:
    """Product, tools and documentation say it in the plain terms of `docs/glossary.md`."""
    found = {str(path.relative_to(ROOT)): lines for path in texts() if (lines := retired(path.read_text()))}

    assert {} == found


@pytest.mark.parametrize(
    "line", ["Nobody answered.", "It begins anew.", "The user is told of it.", "Find out whoever it was.", "Mend it."]
)
def test_retired_word_is_found(line: str) -> None:
    """A retired word is found anywhere in a line, in any case."""
    assert [line] == retired(line)


@pytest.mark.parametrize("line", ["recommended", "An amendment.", 'LOGIN_USER = "somebody"'])
def test_other_words_are_left_alone(line: str) -> None:
    """Words that only contain a retired one, and names, are no finding."""
    assert [] == retired(line)
