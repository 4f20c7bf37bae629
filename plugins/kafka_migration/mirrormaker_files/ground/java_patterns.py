"""Whether `java.util.regex.Pattern` of Java 8 to 21 accepts a pattern.

Only the syntax that patterns for names need is judged, sign by sign. A pattern with other syntax, such as `\\p{L}`,
`\\Q`, flags, look-behinds or classes within classes, is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from kafka_migration.core.text.regex import regex

# Deeper patterns are not judged: Java's own parser overflows its stack at a depth that depends on the machine.
DEEPEST = 50
_IN_CLASS = r"\\[^A-Za-z0-9]|\\[dDsSwW]|&(?!&)|[^\[\]\\&]"
_TOKEN = regex(
    r"(?P<escape>\\(?:[dDsSwWAZtnrf]|[bB](?!\{)|[^A-Za-z0-9]))"
    r"|(?P<wrong_escape>\\(?:[CEFIJKLMOTUYgijlmoqy]|\Z))"
    rf"|(?P<class>\[\^?+(?P<content>\](?:{_IN_CLASS})*|(?:{_IN_CLASS})+)\])"
    r"|(?P<open>\((?!\?)|\(\?(?:[=!>]|[imsu]*:))|(?P<flags>\(\?[imsu]+\))"
    r"|(?P<wrong_open>\(\?(?![idmsuxUc<)-]))"
    r"|(?P<count>\{(?P<least>[0-9]{1,9})(?:,(?P<most>[0-9]{0,9}))?\}[?+]?)"
    r"|(?P<repeat>[*+?][?+]?)"
    r"|(?P<close>\))|(?P<either>\|)|(?P<literal>[^\\\[({])",
    re.DOTALL,
)
_RANGE = regex(r"(?P<first>\\?.)(?:-(?P<last>\\?.))?", re.DOTALL)
_SOME_COUNT = regex(r"\{[0-9]+(?:,[0-9]*)?\}")
_OPEN_CLASS = regex(r"\[\^?.[^\]]*\Z", re.DOTALL)
# Kinds of tokens that Java does not repeat.
_NOT_REPEATED = frozenset({"start", "open", "flags", "either", "repeat", "count"})
_UNKNOWN = "unknown"


class PatternJudgement(NamedTuple):
    """`refusal` is why Java refuses the pattern, or empty. `is_known` is false if that cannot be told.

    `starred` are the places of each `*` that repeats one literal character, as in `orders*`.
    """

    refusal: str = ""
    is_known: bool = True
    starred: tuple[int, ...] = ()


def judge(pattern: str) -> PatternJudgement:
    """Return whether Java accepts the pattern."""
    starred = list[int]()
    refusal = next(filter(None, _problems(pattern, starred)), "")
    is_known = refusal != _UNKNOWN
    return PatternJudgement(refusal if is_known else "", is_known, tuple(starred))


def _problems(pattern: str, starred: list[int]) -> Iterator[str]:
    """Yield why Java refuses each token, empty if it takes it; add the places of stars after a literal character."""
    before, depth, place = "start", 0, 0
    for token in _tokens(pattern):
        kind, place = str(token.lastgroup), token.end()
        depth += (kind == "open") - (kind == "close")
        yield _wrong(token, kind, before) or _wrong_depth(depth)
        if token[0] == "*" and before == "character":
            starred.append(token.start())
        is_character = token[0] == r"\." or (kind == "literal" and _is_of_name(token[0]))
        before = "character" if is_character else kind
    yield _rest(pattern, place)
    yield "an opening `(` without a closing one" if depth else ""


def _tokens(pattern: str) -> Iterator[re.Match[str]]:
    """Yield the tokens up to the end, or to what is none."""
    place = 0
    while match := _TOKEN.match(pattern, place):
        yield match
        place = match.end()


def _wrong_depth(depth: int) -> str:
    if depth < 0:
        return "a closing `)` without an opening one"
    return _UNKNOWN if depth > DEEPEST else ""


def _is_of_name(letter: str) -> bool:
    return letter.isalnum() or letter in "_-"


def _wrong(token: re.Match[str], kind: str, before: str) -> str:
    """Return why Java refuses a token after one of another kind; empty if it takes it."""
    if kind == "repeat" and before in _NOT_REPEATED:
        return f"nothing before `{token[0][0]}`"
    if kind == "wrong_escape":
        return f"`{token[0]}`, which Java does not know here" if token[0] != "\\" else "a backslash at its end"
    if kind == "wrong_open":
        return "a `(?` that no known letter follows"
    if kind == "count" and token["most"] and int(token["most"]) < int(token["least"]):
        return f"a repetition from {token['least']} to {token['most']}"
    return _wrong_class(token["content"]) if kind == "class" else ""


def _wrong_class(content: str) -> str:
    for pair in _RANGE.finditer(content):
        first, last = pair["first"], pair["last"]
        if last and _is_class(first):
            return _UNKNOWN
        if last and (_is_class(last) or last[-1] < first[-1]):
            return "a range that ends before it begins"
    return ""


def _is_class(text: str) -> bool:
    return len(text) > 1 and text[1].isalpha()


def _rest(pattern: str, place: int) -> str:
    """Return why Java refuses what is no token, at a place; empty at the end of the pattern."""
    if place == len(pattern):
        return ""
    if pattern[place] == "{" and not _SOME_COUNT.match(pattern, place):
        return "a `{` that no number and `}` follow"
    return "an opening `[` without a closing `]`" if _OPEN_CLASS.match(pattern, place) else _UNKNOWN
