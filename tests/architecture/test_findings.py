"""Rules of what a finding says: every place that makes one brings its own sentences."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.syntax import nodes_of

PACKAGE = Path(__file__).parents[2] / "plugins" / "kafka_migration"
SENTENCES = ("happened", "matters")
# The frame of the data, questions, and rules in place of facts.
FORBIDDEN = ("; expected", "?", "must not be", "could not be had", "for good")


def _places() -> Iterator[tuple[str, ast.Call]]:
    for path in (path for path in sorted(PACKAGE.rglob("*.py")) if "Finding" in path.read_text()):
        room = str(path.relative_to(PACKAGE))
        for node in nodes_of(path):
            if isinstance(node, ast.Call) and "Finding" in {getattr(node.func, each, "") for each in ("id", "attr")}:
                yield room, node


PLACES = {f"{room}:{call.lineno}": call for room, call in _places()}
# In the order in which a finding takes them.
FIELDS = ("code", "subject", "found", "expected", "remedy", *SENTENCES)


def _given(call: ast.Call) -> dict[str | None, ast.expr]:
    return {**dict(zip(FIELDS, call.args, strict=False)), **{keyword.arg: keyword.value for keyword in call.keywords}}


def _texts(sentence: ast.expr) -> list[str]:
    """Return the literal parts of a sentence, in their order."""
    return [node.value for node in ast.walk(sentence) if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def test_every_place_that_makes_a_finding_brings_its_sentences() -> None:
    """A finding says what happened and why it matters; data alone is no sentence."""
    assert PLACES
    assert [] == [place for place, call in PLACES.items() if not {*SENTENCES} <= _given(call).keys()]


@pytest.mark.parametrize("place", PLACES)
def test_sentences_are_whole(place: str) -> None:
    """Each literal sentence ends with a full stop, says a fact, and is not the frame of the data."""
    given = _given(PLACES[place])
    for name in SENTENCES:
        sentence = given.get(name)
        if isinstance(sentence, ast.Constant) and isinstance(sentence.value, str):
            assert sentence.value[:1].isupper()
        last = sentence.values[-1] if isinstance(sentence, ast.JoinedStr) else sentence
        if isinstance(last, ast.Constant):
            assert str(last.value).endswith(".")
        for text in _texts(sentence) if sentence is not None else []:
            assert [] == [each for each in FORBIDDEN if each in text.lower()]
