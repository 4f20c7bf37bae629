"""Regular expressions that are compiled when they are used first."""

from __future__ import annotations

import re

import pytest

from kafka_migration.core.text.regex import regex

pytestmark = pytest.mark.unit


def test_a_pattern_is_compiled_when_it_is_used_first() -> None:
    """A start pays for no pattern: a wrong one is refused at its first use only."""
    wrong = regex("(")

    with pytest.raises(re.error):
        wrong.match("")


def test_a_pattern_does_what_that_of_re_does() -> None:
    """All methods and attributes are those of the compiled pattern, with its flags."""
    pattern = regex(r"a(?P<number>\d)", re.IGNORECASE)

    assert (r"a(?P<number>\d)", "7") == (pattern.pattern, pattern.fullmatch("A7")["number"])  # type: ignore[index]
    assert ["a1", "A2"] == [match[0] for match in pattern.finditer("a1 A2")]
