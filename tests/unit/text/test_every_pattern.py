"""Every regular expression of the package: foreign text of any size takes no time that grows with its square."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from math import inf
from pathlib import Path
from re import _parser as parser  # type: ignore[attr-defined]

import pytest

from tests import pattern_runs
from tests.patterns import (
    Found,
    every_pattern,
    followed_repetition,
    is_anchored,
    literals,
    most_steps,
    nested_repetition,
)

# Bytes of a large text, and the time of the processor for all texts of one pattern; the slowest takes a third.
QUICK, WHOLE = (2**20, 2), (8 * 2**20, 8)
# So many steps at each place of a text are a time that grows with its size alone.
MOST_STEPS = 1_000
# Both froze the triggerer or preflight.
SLOW = (
    r"could not be established|Bootstrap broker .* disconnected|UnknownHost",
    r"\w*AuthorizationException|not authorized",
)


@pytest.fixture(scope="module")
def patterns() -> list[Found]:
    """All patterns of the package."""
    return every_pattern()


def problem(found: Found) -> str:
    """Return the rule that a pattern breaks; empty if it breaks none."""
    parsed = parser.parse(found.pattern.pattern, found.pattern.flags)
    if nested_repetition(parsed):
        return "an unbounded repetition within another one: bound the inner one"
    if found.is_searched and not is_anchored(found.pattern) and followed_repetition(parsed):
        return "an unbounded repetition that something must follow, in a search: bound or anchor it"
    return ""


def too_slow(patterns: Iterable[Found], folder: Path, large: int, cpu_s: int) -> dict[str, str]:
    """Return the places of the patterns that take too long for some text, each with the end of its process."""
    tasks = [
        {
            "place": f"{each.place} {each.pattern.pattern}",
            "pattern": each.pattern.pattern,
            "flags": each.pattern.flags,
            "methods": sorted(each.methods),
            "large": large,
            "cpu_s": cpu_s,
            "literals": literals(each.pattern),
            "is_linear": most_steps(each.pattern) < MOST_STEPS,
        }
        for each in patterns
    ]
    (folder / "tasks").write_text(json.dumps(tasks))
    command = [sys.executable, pattern_runs.__file__, str(folder / "tasks"), str(folder / "results")]
    subprocess.run(command, check=True)
    return {place: end for place, end in json.loads((folder / "results").read_text()).items() if end}


def test_every_pattern_is_found(patterns: list[Found]) -> None:
    """The search finds patterns of constants, in tuples and mappings, of comprehensions and in functions."""
    texts = {each.pattern.pattern for each in patterns}

    assert len(patterns) > 100
    assert {r"\d+", "AuthorizationException|AUTHORIZATION_FAILED|not authorized", "oidc"} <= texts
    assert any("Bootstrap broker" in text for text in texts)


def test_repetitions_are_bounded_anchored_or_last(patterns: list[Found]) -> None:
    """No pattern repeats without a bound within such a repetition, or before something that a search must find."""
    assert {} == {each.place: (said, each.pattern.pattern) for each in patterns if (said := problem(each))}


@pytest.mark.parametrize(("large", "cpu_s"), [QUICK, pytest.param(*WHOLE, marks=pytest.mark.campaign)])
def test_every_pattern_is_quick_on_large_texts(patterns: list[Found], tmp_path: Path, large: int, cpu_s: int) -> None:
    """On a MiB of a letter or of its literals, and on mixtures, each pattern takes a bounded time."""
    assert {} == too_slow(patterns, tmp_path, large, cpu_s)


@pytest.mark.parametrize("text", SLOW, ids=("broker", "denied"))
def test_slow_pattern_is_seen(text: str, tmp_path: Path) -> None:
    """Patterns that take hours for 8 MiB are refused by their form, and their process is ended."""
    found = Found("here", re.compile(text), frozenset({"search"}))

    assert "something must follow" in problem(found)
    assert [f"here {text}"] == list(too_slow([found], tmp_path, 2**20, cpu_s=1))


@pytest.mark.parametrize("text", [r"(a+)+b", r"(?:a|b+)*c", r"((?:x{2,})*y)"])
def test_nested_repetition_is_seen(text: str) -> None:
    """An unbounded repetition within another one is refused also for whole texts."""
    assert "within another" in problem(Found("here", re.compile(text), frozenset({"fullmatch"})))


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("abc", 3),
        ("ab|c", 3),
        ("[abx-z]d", 4),
        ("(ab|cd)e", 6),
        ("a(?=b)", 2),
        ("a?b", 6),
        ("(ab|cd){0,2}e", 42),
        ("a*", inf),
        ("x(a+|b)", inf),
        (r"(a)\1", inf),
        ("(a?){30}b", inf),
    ],
)
def test_steps_are_bounded(text: str, steps: float) -> None:
    """Each way to match is tried once, and one that has no bound makes the whole unbounded."""
    found = most_steps(re.compile(text))

    assert found == steps or (steps == inf and found > MOST_STEPS)
