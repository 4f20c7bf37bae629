"""Whether `java.util.regex.Pattern` of Java 8 to 21 accepts a pattern.

A recursive descent over the syntax: each character is looked at a bounded number of times. What versions of Java judge
differently, and what needs Unicode's tables, is unknown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from kafka_migration.core.text.regex import regex

# Deeper patterns are not judged: Java's own parser overflows its stack at a depth that depends on the machine.
DEEPEST = 50
_META = frozenset("*+?")
_NO_ESCAPES = frozenset("CEFIJKLMOQTUYgijlmoqy")
# Escapes that stand for several characters or for none; those of the second set only outside of a class.
_CLASSES = frozenset("DdHhSsVvWw")
_PLACES = frozenset("ABbGRZz123456789")
_LETTERS = {"a": "\a", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_FLAGS = regex(r"[imsducxU]*(?:-[imsducxU]*)?")
_HEX = regex(r"x(?:\{(?P<long>[0-9A-Fa-f]+)\}|(?P<short>[0-9A-Fa-f]{2}))|u(?P<four>[0-9A-Fa-f]{4})")
_OCTAL = regex(r"0(?P<digits>[0-3][0-7]{2}|[0-7]{1,2})")
_COUNT = regex(r"\{(?P<least>[0-9]+)(?P<comma>,(?P<most>[0-9]*))?\}")
_NAME = regex(r"[A-Za-z][A-Za-z0-9]*")
_FAMILY = regex(r"[pP](?:\{(?P<name>[^}]*)\}|(?P<letter>[^{]))", re.DOTALL)
_HIGHEST_CHARACTER = 0x10FFFF
_CATEGORIES = {"L": "ultmo", "M": "nec", "N": "dlo", "Z": "slp", "C": "cfosn", "P": "dsecoif", "S": "mcko"}
_PROPERTIES = frozenset(
    {"all", "ASCII", "Alnum", "Alpha", "Blank", "Cntrl", "Digit", "Graph", "Lower", "Print", "Punct", "Space", "Upper"}
    | {"XDigit", "L1", "LC", "LD", *"LMNZCPS"}
    # Categories of Unicode, such as Lu.
    | {f"{category}{kind}" for category, kinds in _CATEGORIES.items() for kind in kinds}
)
# Names of blocks, scripts and Java's own properties need tables that versions extend.
_NEEDS_TABLE = regex(r"In|Is|java|.*=", re.DOTALL)


class _Refused(Exception):
    """Java refuses the pattern; the text says why."""


class _Unknown(Exception):
    """The rest of the pattern cannot be judged."""


class PatternJudgement(NamedTuple):
    """`refusal` is why Java refuses the pattern, or empty. `is_known` is false if that cannot be told.

    `starred` are the places of each `*` that repeats one literal character, as in `orders*`.
    """

    refusal: str = ""
    is_known: bool = True
    starred: tuple[int, ...] = ()


def judge(pattern: str) -> PatternJudgement:
    """Return whether Java accepts the pattern."""
    parser = _Parser(_unquoted(pattern))
    try:
        parser.whole()
    except _Refused as error:
        return PatternJudgement(str(error), starred=tuple(parser.starred))
    except _Unknown:
        parser.is_known = False
    return PatternJudgement(is_known=parser.is_known, starred=tuple(parser.starred))


def _unquoted(pattern: str) -> str:
    """Return the pattern with each `\\Q…\\E` as escaped characters, as Java does before it parses."""
    parts, place = list[str](), 0
    while (start := pattern.find("\\", place)) >= 0:
        parts.append(pattern[place:start])
        place = start + 2
        if pattern[start + 1 : place] != "Q":
            parts.append(pattern[start:place])
            continue
        end = pattern.find("\\E", place)
        parts.append(_escaped(pattern[place:] if end < 0 else pattern[place:end]))
        place = len(pattern) if end < 0 else end + 2
    return "".join([*parts, pattern[place:]])


def _escaped(text: str) -> str:
    """Return the text as escaped characters; a digit at its beginning must not join a reference before it."""
    digit = rf"\x3{text[0]}" if text[:1].isdecimal() and text[0].isascii() else ""
    rest = text[1:] if digit else text
    return digit + re.sub(r"[^0-9A-Za-z\u0080-\U0010ffff]", lambda match: f"\\{match[0]}", rest)


@dataclass(slots=True)
class _Parser:
    """The position in a pattern, the names of its groups, and what was seen."""

    text: str
    place: int = 0
    depth: int = 0
    names: set[str] = field(default_factory=set)
    starred: list[int] = field(default_factory=list)
    in_look_behind: int = 0
    is_known: bool = True

    @property
    def letter(self) -> str:
        """The character at the position; empty at the end."""
        return self.text[self.place : self.place + 1]

    def whole(self) -> None:
        self.alternatives()
        if self.place < len(self.text):
            raise _Refused("a closing `)` without an opening one")

    def alternatives(self) -> None:
        self.sequence()
        while self.letter == "|":
            self.place += 1
            self.sequence()

    def sequence(self) -> None:
        while self.letter not in {"", "|", ")"}:
            if self.letter in _META:
                raise _Refused(f"nothing before `{self.letter}`")
            if self.letter == "{":
                # Java repeats an empty text here.
                is_literal = False
            elif self.letter == "(":
                is_literal = False
                if not self.group():
                    continue
            else:
                is_literal = self.atom()
            self.repetition(is_literal=is_literal)

    def atom(self) -> bool:
        """Read one element; return whether it is one literal character."""
        letter = self.letter
        self.place += 1
        if letter == "[":
            self.character_class()
        elif letter == "\\":
            return self.escape(in_class=False) == "."
        return letter.isalnum() or letter in "_-"

    def repetition(self, *, is_literal: bool) -> None:
        if self.letter == "{":
            self.counted()
        elif self.letter in _META and self.letter:
            if is_literal and self.letter == "*" and self.text[self.place + 1 : self.place + 2] not in {"?", "+"}:
                self.starred.append(self.place)
            self.is_known &= self.letter == "?" or not self.in_look_behind
            self.place += 1
        else:
            return
        if self.letter in {"?", "+"}:
            self.place += 1

    def counted(self) -> None:
        found = _COUNT.match(self.text, self.place)
        if not found:
            raise _Refused("a `{` that no number and `}` follow")
        least, most = found["least"], found["most"]
        if max(len(least), len(most or "")) > 9:
            raise _Unknown
        if most and int(most) < int(least):
            raise _Refused(f"a repetition from {least} to {most}")
        self.is_known &= not self.in_look_behind or bool(most) or not found["comma"]
        self.place = found.end()

    def group(self) -> bool:
        """Read a group; return whether it can be repeated, which flags cannot."""
        self.place += 1
        is_look_behind = False
        if self.letter == "?":
            self.place += 1
            if self.letter == "<":
                is_look_behind = self.name_or_look_behind()
            elif self.letter and self.letter in ":=!>":
                self.place += 1
            elif not self.flags():
                return False
        self.inside(is_look_behind)
        return True

    def inside(self, is_look_behind: bool) -> None:
        self.deeper()
        self.in_look_behind += is_look_behind
        self.alternatives()
        self.in_look_behind -= is_look_behind
        self.depth -= 1
        if self.letter != ")":
            raise _Refused("an opening `(` without a closing one")
        self.place += 1

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise _Unknown

    def name_or_look_behind(self) -> bool:
        self.place += 1
        if self.letter and self.letter in "=!":
            self.place += 1
            return True
        name = self.name()
        if name in self.names:
            raise _Refused("two groups of one name")
        self.names.add(name)
        return False

    def name(self) -> str:
        """Read the name of a group and the `>` after it."""
        found = _NAME.match(self.text, self.place)
        if not found or self.text[found.end() : found.end() + 1] != ">":
            raise _Refused("a group whose name is not letters and digits before `>`")
        self.place = found.end() + 1
        return found[0]

    def flags(self) -> bool:
        """Read the flags of a group; return whether the group has a content."""
        found = _FLAGS.match(self.text, self.place)
        end = self.text[found.end() : found.end() + 1] if found else ""
        if not found or end not in {":", ")"}:
            raise _Refused("a `(?` that no known letter follows")
        # Comments and blanks are left out with `x`, and `c` compares characters in another form.
        if {"x", "c"} & set(found[0]):
            raise _Unknown
        self.place = found.end() + 1
        return end == ":"

    def escape(self, *, in_class: bool) -> str | None:
        """Read what follows a backslash; return the character, or `None` for a class or a place."""
        letter = self.letter
        if letter in {"p", "P"}:
            self.family()
            return None
        if letter in {"x", "u", "0"}:
            return self.numbered()
        self.require_escape(letter, in_class=in_class)
        if letter == "c":
            return self.control()
        if letter == "k":
            self.reference()
        self.is_known &= not (letter.isdecimal() and self.in_look_behind)
        return None if letter in _CLASSES | _PLACES | {"k"} else _LETTERS.get(letter, letter)

    def require_escape(self, letter: str, *, in_class: bool) -> None:
        """Read the letter after a backslash."""
        self.place += 1
        if not letter:
            raise _Refused("a backslash at its end")
        if letter in _NO_ESCAPES or (in_class and letter in _PLACES | {"k", "X"}):
            raise _Refused(f"`\\{letter}`, which Java does not know here")
        if letter in {"N", "X"} or (letter == "b" and self.letter == "{"):
            raise _Unknown

    def control(self) -> str:
        if not self.letter:
            raise _Refused("`\\c` without a letter")
        self.place += 1
        return chr(ord(self.text[self.place - 1]) ^ 64)

    def reference(self) -> None:
        if self.letter != "<":
            raise _Refused("`\\k` without the name of a group")
        self.place += 1
        if self.name() not in self.names:
            raise _Refused("a reference to a group that is not there")
        self.is_known &= not self.in_look_behind

    def family(self) -> None:
        found = _FAMILY.match(self.text, self.place)
        name = (found["name"] if found["letter"] is None else found["letter"]) if found else ""
        if not found or not (name in _PROPERTIES or _NEEDS_TABLE.match(name)):
            raise _Refused("`\\p` without the name of a known class")
        self.is_known &= name in _PROPERTIES
        self.place = found.end()

    def numbered(self) -> str:
        if octal := _OCTAL.match(self.text, self.place):
            self.place = octal.end()
            return chr(int(octal["digits"], 8))
        found = _HEX.match(self.text, self.place)
        digits = (found["long"] or found["short"] or found["four"]) if found else ""
        if not found or int(digits[-9:], 16) > _HIGHEST_CHARACTER or digits[:-9].strip("0"):
            raise _Refused(f"`\\{self.letter}` without the number of a character")
        self.place = found.end()
        return chr(int(digits[-9:], 16))

    def character_class(self, *, is_whole: bool = True) -> None:
        """Read a class after its `[`; a part after `&&` ends before the `]`."""
        self.deeper()
        if is_whole and self.letter == "^":
            self.place += 1
        is_empty = True
        while not (self.letter == "]" and not is_empty):
            if not self.letter:
                raise _Refused("an opening `[` without a closing `]`")
            if self.letter == "[":
                self.place += 1
                self.character_class()
            elif self.text.startswith("&&", self.place):
                self.intersection(is_empty=is_empty)
            else:
                self.range()
            is_empty = False
        self.place += is_whole
        self.depth -= 1

    def intersection(self, *, is_empty: bool) -> None:
        """Read `&&` and the part after it."""
        self.place += 2
        # Versions of Java differ in these.
        if self.letter in {"&", "^"}:
            raise _Unknown
        if self.letter == "]":
            if is_empty:
                raise _Refused("`&&` between nothing")
            return
        self.character_class(is_whole=False)

    def range(self) -> None:
        first = self.character()
        if first is None or self.letter != "-":
            return
        after = self.text[self.place + 1 : self.place + 2]
        if after in {"[", "]"}:
            return
        self.place += 1
        last = self.character()
        if last is None or last < first:
            raise _Refused("a range that ends before it begins")

    def character(self) -> str | None:
        letter = self.letter
        self.place += 1
        return self.escape(in_class=True) if letter == "\\" else letter
