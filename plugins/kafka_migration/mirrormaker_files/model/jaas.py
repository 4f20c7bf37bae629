"""Whether Kafka reads a login, as `JaasConfig` reads it with Java's `StreamTokenizer`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from kafka_migration.core.text.regex import regex

FLAGS = frozenset({"REQUIRED", "REQUISITE", "SUFFICIENT", "OPTIONAL"})
_SIGNS = "-_$"
_LINE_END = regex(r"[\n\r]")
_NOT_ENDED = "no `;` at its end"
_ESCAPES = dict(zip("abfnrtv", "\a\b\f\n\r\t\v", strict=True))


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is `word`, `text` (in quotes), `number`, or the sign itself. Signs and numbers have no text.

    `place` is that of its first letter.
    """

    kind: str
    text: str | None = None
    place: int = field(default=0, compare=False)


def refusal_of_jaas(value: str) -> str:
    """Return why Kafka refuses a `sasl.jaas.config`, as what the login has; empty if it takes it.

    No word of the value is in the answer.
    """
    tokens, count = list(tokens_of(value)), 0
    while tokens:
        rest = _without_entry(tokens)
        if isinstance(rest, str):
            return rest
        tokens, count = rest, count + 1
    return "" if count == 1 else "more than one login module" if count else "no login module"


def is_cut(refusal: str) -> bool:
    """Return whether the login ends too early."""
    return refusal == _NOT_ENDED


def _without_entry(tokens: list[Token]) -> list[Token] | str:
    """Return what follows the first entry, or what is wrong with it."""
    module, *rest = tokens
    if not rest or (rest[0].text or "").upper() not in FLAGS:
        return "no control flag such as `required` after the login module"
    place = 1
    while place < len(rest) and rest[place].kind != ";":
        if not _is_option(rest[place : place + 3]):
            return 'an option that is not written as `name="value"`'
        place += 3
    if place >= len(rest):
        return _NOT_ENDED
    return rest[place + 1 :] if module.text else "no login module"


def _is_option(tokens: list[Token]) -> bool:
    return len(tokens) == 3 and tokens[1].kind == "=" and tokens[2].text is not None


def tokens_of(text: str, signs: str = _SIGNS) -> Iterator[Token]:
    """Yield the tokens as `StreamTokenizer` does with the comments of `JaasConfig`, and with these signs in words."""
    place = 0
    while place < len(text):
        letter = text[place]
        if letter <= " ":
            place += 1
        elif letter.isascii() and (letter.isdigit() or letter in ".-"):
            # A number, also of no digits: `.` alone is one, `-` alone is a sign.
            start = place
            token, place = _number(text, place)
            yield Token(token, None, start)
        elif _is_letter(letter, signs):
            end = _end_of_word(text, place, signs)
            yield Token("word", text[place:end], place)
            place = end
        elif letter in "\"'":
            start = place
            quoted, place = _quoted(text, place)
            yield Token("text", quoted, start)
        elif letter == "/":
            # A slash begins a comment, also a single one: `StreamTokenizer` calls it so from the start.
            place = _end_of_comment(text, place)
        else:
            yield Token(letter, None, place)
            place += 1


def _is_letter(letter: str, signs: str) -> bool:
    return (letter.isascii() and letter.isalpha()) or letter in signs or ord(letter) >= 160


def _end_of_word(text: str, place: int, signs: str) -> int:
    while place < len(text) and (_is_letter(text[place], signs) or text[place] in "0123456789."):
        place += 1
    return place


def _number(text: str, place: int) -> tuple[str, int]:
    """Return the kind of the token and the place after it."""
    if text[place] == "-" and text[place + 1 : place + 2] not in tuple("0123456789."):
        return "-", place + 1
    end, has_dot = place + 1, text[place] == "."
    while end < len(text) and (text[end] in "0123456789" or (text[end] == "." and not has_dot)):
        has_dot = has_dot or text[end] == "."
        end += 1
    return "number", end


def _quoted(text: str, place: int) -> tuple[str, int]:
    """Return the text in quotes and the place after it; a line's end ends it, too."""
    quote, found = text[place], list[str]()
    place += 1
    while place < len(text) and text[place] not in (quote, "\n", "\r"):
        if text[place] == "\\":
            letter, place = _escaped(text, place + 1)
            found.append(letter)
        else:
            found.append(text[place])
            place += 1
    return "".join(found), place + (text[place : place + 1] == quote)


def _escaped(text: str, place: int) -> tuple[str, int]:
    """Return the letter after a backslash, and the place after it."""
    if octal := re.match(r"[0-3][0-7]{0,2}|[4-7][0-7]?", text[place : place + 3]):
        return chr(int(octal[0], 8)), place + len(octal[0])
    letter = text[place : place + 1]
    return _ESCAPES.get(letter, letter), place + 1


def _end_of_comment(text: str, place: int) -> int:
    if text.startswith("/*", place):
        end = text.find("*/", place + 2)
        return len(text) if end < 0 else end + 2
    found = _LINE_END.search(text, place)
    return found.start() if found else len(text)
