"""Rules of what a finding says: every place that makes one brings its own sentences."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "plugins" / "kafka_migration"
SENTENCES = ("happened", "matters")
# The frame of the data, questions, and rules in place of facts.
FORBIDDEN = ("; expected", "?", "must not be", "could not be had", "for good")


def _places() -> Iterator[tuple[str, ast.Call]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        room = str(path.relative_to(PACKAGE))
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "Finding":
                yield room, node


PLACES = {f"{room}:{call.lineno}": (room, call) for room, call in _places()}


def _given(call: ast.Call) -> dict[str | None, ast.expr]:
    return {keyword.arg: keyword.value for keyword in call.keywords}


def _texts(sentence: ast.expr) -> list[str]:
    """Return the literal parts of a sentence, in their order."""
    return [node.value for node in ast.walk(sentence) if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def test_every_place_that_makes_a_finding_brings_its_sentences() -> None:
    """A finding says what happened and why it matters; data alone is no sentence."""
    lacking = {place for place, (_, call) in PLACES.items() if not {*SENTENCES} <= _given(call).keys()}

    assert set() == lacking


@pytest.mark.parametrize("place", PLACES)
def test_sentences_are_whole(place: str) -> None:
    """Each literal sentence ends with a full stop, says a fact, and is not the frame of the data."""
    given = _given(PLACES[place][1])
    for name in SENTENCES:
        sentence = given.get(name)
        if isinstance(sentence, ast.Constant) and isinstance(sentence.value, str):
            assert sentence.value[:1].isupper()
        last = sentence.values[-1] if isinstance(sentence, ast.JoinedStr) else sentence
        if isinstance(last, ast.Constant):
            assert str(last.value).endswith(".")
        for text in _texts(sentence) if sentence is not None else []:
            assert [] == [each for each in FORBIDDEN if each in text.lower()]
