"""Tests that read source files parse them without a race between threads."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import syntax
from tests.syntax import parsed

TESTS = Path(__file__).parents[2]
PARSE = "ast." + "parse("


@pytest.fixture
def collections() -> Iterator[list[str]]:
    """The phases of the collections; one begins after few allocations."""
    phases: list[str] = []

    def note(phase: str, _: dict[str, int]) -> None:
        phases.append(phase)

    threshold = gc.get_threshold()
    gc.callbacks.append(note)
    gc.set_threshold(50)
    yield phases
    gc.set_threshold(*threshold)
    gc.callbacks.remove(note)


def test_no_collection_runs_while_a_source_is_parsed(collections: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """No finalizer can let another thread parse in the middle; collections run again afterwards."""
    text = "x = [" + "1, " * 10_000 + "]"
    parse = ast.parse
    during: list[list[str]] = []

    def watched(text: str) -> ast.Module:
        collections.clear()
        tree = parse(text)
        during.append(list(collections))
        return tree

    monkeypatch.setattr(ast, "parse", watched)
    parsed(text)
    monkeypatch.undo()
    assert during == [[]]
    ast.literal_eval(text.removeprefix("x = "))
    assert collections


def test_sources_are_parsed_in_one_place() -> None:
    """A test that parses a source uses `tests.syntax`."""
    using = {path for path in TESTS.rglob("*.py") if PARSE in path.read_text(encoding="utf-8")}
    assert using == {Path(syntax.__file__)}
