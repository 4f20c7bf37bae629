"""The judge of patterns agrees with `java.util.regex.Pattern`."""

from __future__ import annotations

import base64
import os
import random
import string
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from kafka_migration.mirrormaker_files.ground.java_patterns import judge
from sandbox.environment import java
from tests.unit.mirrormaker_files.java_samples import INVALID, NOT_JUDGED, VALID

pytestmark = pytest.mark.unit

PROGRAM = Path(__file__).with_name("JavaPatterns.java")
# Each part of Java's syntax, whole and broken.
PARTS = (
    *("a", "z", "A", "0", "7", "_", "-", " ", ".", ",", "é", "&", "&&", "#", "<", ">", "=", "!", ":", "\x00"),
    *("*", "+", "?", "{", "}", "{2}", "{2,}", "{1,3}", "{3,1}", "{a}", "(", ")", "[", "]", "[^", "^", "$", "|"),
    *(
        "(?:",
        "(?=",
        "(?!",
        "(?<=",
        "(?<!",
        "(?>",
        "(?<n>",
        "(?<m1>",
        "(?<1>",
        "(?P<n>",
        "(?#",
        "(?i)",
        "(?m-s:",
        "(?-)",
    ),
    *(
        "\\",
        "\\d",
        "\\w",
        "\\S",
        "\\b",
        "\\A",
        "\\Z",
        "\\1",
        "\\2",
        "\\k<n>",
        "\\k",
        "\\y",
        "\\cA",
        "\\c",
        "\\e",
        "\\.",
    ),
    *("\\x41", "\\x{41}", "\\x{110000}", "\\x4", "\\u0041", "\\u00", "\\0", "\\07", "\\0377", "\\08", "\\-", "\\]"),
    *("\\p{L}", "\\p{Lu}", "\\pL", "\\pX", "\\P{Alpha}", "\\p{", "\\p{}", "\\p{Nope}", "\\Q", "\\E", "\\Q*\\E", "\\R"),
    *("\\h", "\\v", "\\[", "[a-z]", "[z-a]", "[a-\\d]", "[\\w-z]", "[]a]", "[a&&[b]]", "[&&]", "[a&&", "[a-z&&b]"),
    *(f"\\{letter}" for letter in string.ascii_letters),
    *(f"[\\{letter}]" for letter in string.ascii_letters),
)


# The signs of which patterns for names are made.
USUAL = "aZ0._-*+?|()[]^$,"


def generated(parts: Sequence[str], count: int) -> Iterator[str]:
    """Yield patterns of one to eight parts."""
    chosen = random.Random(46)
    for _ in range(count):
        yield "".join(chosen.choices(parts, k=chosen.randint(1, 8)))


def java_accepts(patterns: Sequence[str]) -> list[bool]:
    """Return for each pattern whether Java accepts it."""
    lines = "".join(f"{base64.b64encode(pattern.encode()).decode()}\n" for pattern in patterns)
    command = [java(os.environ), str(PROGRAM)]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=120, check=True)
    return [line == "accepted" for line in done.stdout.splitlines()]


def test_no_judgement_differs_from_that_of_java() -> None:
    """Each pattern that is judged valid or invalid is so in Java, and of usual patterns almost all are judged."""
    usual = [*generated(USUAL, 20_000), *(f"[{each}]" for each in generated("abz-^.&_", 5_000))]
    patterns = [*VALID, *INVALID, *NOT_JUDGED, *PARTS, *generated(PARTS, 20_000), *usual]
    judged = [judge(pattern) for pattern in patterns]
    accepted = java_accepts(patterns)
    wrong = [
        (pattern, found.refusal or "accepted")
        for pattern, found, is_accepted in zip(patterns, judged, accepted, strict=True)
        if found.is_known and (found.refusal == "") != is_accepted
    ]

    assert wrong == []
    assert [found.refusal for found in judged if found.refusal and not found.is_known] == []
    assert sum(not judge(pattern).is_known for pattern in usual) < len(usual) // 20
    assert 0.05 < sum(accepted) / len(accepted) < 0.95
