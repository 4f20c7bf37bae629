"""Rules of what a finding says: every place that makes one brings its own sentences."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.syntax import nodes_of, parsed

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


@cache
def places() -> dict[str, ast.Call]:
    """Return the calls by their places; all tests are collected without reading the package."""
    return {f"{room}:{call.lineno}": call for room, call in _places()}


# In the order in which a finding takes them.
FIELDS = ("code", "subject", "found", "expected", "remedy", *SENTENCES)


def _given(call: ast.Call) -> dict[str | None, ast.expr]:
    return {**dict(zip(FIELDS, call.args, strict=False)), **{keyword.arg: keyword.value for keyword in call.keywords}}


def _texts(sentence: ast.expr) -> list[str]:
    """Return the literal parts of a sentence, in their order."""
    return [node.value for node in ast.walk(sentence) if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def test_every_place_that_makes_a_finding_brings_its_sentences() -> None:
    """A finding says what happened and why it matters; data alone is no sentence."""
    assert places()
    assert [] == [place for place, call in places().items() if not {*SENTENCES} <= _given(call).keys()]


def test_sentences_are_whole() -> None:
    """Each literal sentence ends with a full stop, says a fact, and is not the frame of the data."""
    given = {place: _given(call) for place, call in places().items()}

    assert [] == [
        (place, name, fault)
        for place, values in given.items()
        for name in SENTENCES
        for fault in _faults(values.get(name))
    ]


def _faults(sentence: ast.expr | None) -> Iterator[str]:
    """Yield the faults of the literal parts of a sentence."""
    if sentence is None:
        return
    if isinstance(sentence, ast.Constant) and isinstance(sentence.value, str) and not sentence.value[:1].isupper():
        yield "begins with a small letter"
    last = sentence.values[-1] if isinstance(sentence, ast.JoinedStr) else sentence
    if isinstance(last, ast.Constant) and not str(last.value).endswith("."):
        yield "no full stop"
    for text in _texts(sentence):
        yield from (each for each in FORBIDDEN if each in text.lower())


def test_faults_of_sentences_are_found() -> None:
    """Each rule on sentences refuses one that breaks it."""
    faulty = ("'a topic is gone.'", "'A topic is gone'", "f'{topic} is gone'", "f'A topic? {topic}.'")

    assert [1, 1, 1, 1] == [len(list(_faults(parsed(each, mode="eval").body))) for each in faulty]
