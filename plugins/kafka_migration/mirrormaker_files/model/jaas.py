"""Whether Kafka reads a login, and Java a login file (`KafkaClient { module required …; };`).

`JaasConfig` reads a login with Java's `StreamTokenizer`, and `ConfigFile` a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from kafka_migration.core.text.regex import regex
from kafka_migration.kafka_tables.accepted import nearest_word

FLAGS = frozenset({"REQUIRED", "REQUISITE", "SUFFICIENT", "OPTIONAL"})
_NOT_ENDED = "no `;` at its end"
_LETTERS = dict(zip("abfnrtv", "\a\b\f\n\r\t\v", strict=True))
# A backslash with an octal number, or with a letter; of the end of the text nothing remains.
_ESCAPE = r"\\(?:[0-3][0-7]{0,2}|[4-7][0-7]?|.|\Z)"
_ESCAPED = regex(r"\\(?:([0-3][0-7]{0,2}|[4-7][0-7]?)|(.|\Z))", re.DOTALL)
# The name of a block, and the class of a module with its flag after it.
_FILE = regex(r"^[ \t]{0,20}[A-Za-z][\w.$-]{0,100}\s{0,20}\{(?:\s|$)", re.MULTILINE)
_MODULE = regex(r"LoginModule\s{1,50}(?:required|requisite|sufficient|optional)\b", re.IGNORECASE)
_TEMPLATE = regex(r"\{%|<%|\{\{|\$\{|\$[A-Za-z_]|@[A-Z_]{1,50}@")
_CLIENT = "KafkaClient"
_OTHERS = frozenset({_CLIENT, "KafkaServer", "Server", "Client", "other"})


def _token(signs: str) -> str:
    """Return the pattern of a token, with these signs in words.

    A number may have no digits: `.` alone is one, `-` alone is a sign. A slash begins a comment, also a single one. A
    line's end ends a text in quotes, too.
    """
    letter = rf"A-Za-z{signs}\xa0-\U0010ffff"
    parts = (
        r"(?P<blank>[\x00-\x20]+|/\*.*?(?:\*/|\Z)|/[^\n\r]*)",
        r"(?P<number>\.[0-9]*|(?:-(?=[0-9.])|[0-9])[0-9]*(?:\.[0-9]*)?)",
        rf"(?P<word>(?!-)[{letter}][{letter}0-9.]*)",
        rf"(?P<text>(?P<quote>[\"'])(?P<inner>(?:{_ESCAPE}|(?!(?P=quote))[^\\\n\r])*)(?P=quote)?)",
        "(?P<sign>.)",
    )
    return "|".join(parts)


_OF_LOGINS = regex(_token(r"\-_$"), re.DOTALL)
_OF_FILES = regex(_token(r"\-_$*"), re.DOTALL)


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is `word`, `text` (in quotes), `number`, or the sign itself. Signs and numbers have no text.

    `place` is that of its first letter.
    """

    kind: str
    text: str | None = None
    place: int = field(default=0, compare=False)


_NONE = Token("")


def refusal_of_jaas(value: str) -> str:
    """Return why Kafka refuses a `sasl.jaas.config`, as what the login has; empty if it takes it.

    No word of the value is in the answer.
    """
    tokens, count = tokens_of(value), 0
    for module in tokens:
        if refusal := _refusal_of_entry(module, tokens):
            return refusal
        count += 1
    return "" if count == 1 else "more than one login module" if count else "no login module"


def is_cut(refusal: str) -> bool:
    """Return whether the login ends too early."""
    return refusal == _NOT_ENDED


def _refusal_of_entry(module: Token, rest: Iterator[Token]) -> str:
    """Read one entry up to its first mistake, and return the mistake; empty without one."""
    if (next(rest, _NONE).text or "").upper() not in FLAGS:
        return "no control flag such as `required` after the login module"
    for token in rest:
        if token.kind == ";":
            return "" if module.text else "no login module"
        if next(rest, _NONE).kind != "=" or next(rest, _NONE).text is None:
            return 'an option that is not written as `name="value"`'
    return _NOT_ENDED


def tokens_of(text: str, *, is_file: bool = False) -> Iterator[Token]:
    """Yield the tokens as `StreamTokenizer` does with the comments of `JaasConfig`; `is_file`: as `ConfigFile` does."""
    end = 0
    while match := _OF_FILES.match(text, end) if is_file else _OF_LOGINS.match(text, end):
        kind, place, end = str(match.lastgroup), match.start(), match.end()
        if kind == "word":
            yield Token(kind, match[0], place)
        elif kind == "text":
            yield Token(kind, _ESCAPED.sub(_letter, match["inner"]), place)
        elif kind != "blank":
            yield Token(match[0] if kind == "sign" else kind, None, place)


def _letter(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 8)) if escape[1] else _LETTERS.get(escape[2], escape[2])


class _Wrong(ValueError):
    """What is wrong, and the token at which it is."""

    def __init__(self, found: str, token: Token) -> None:
        super().__init__(found)
        self.token = token


def is_login_file(text: str) -> bool:
    """Return whether a text has blocks of login modules."""
    return _FILE.search(text) is not None and _MODULE.search(text) is not None


def refusal_of_login_file(text: str) -> tuple[int, str] | None:
    """Return the line of what Java refuses, or what no client finds, and what it is; `None` if it is right.

    No word of the file is in the answer. What is filled in outside of quotes is not judged.
    """
    tokens = list(tokens_of(text, is_file=True))
    try:
        names = list(_Blocks(tokens, text).names())
    except _Wrong as error:
        quoted = {each.place for each in tokens if each.kind == "text"}
        is_open = any(_starts_outside(each.start(), tokens, quoted) for each in _TEMPLATE.finditer(text))
        return None if is_open else (_line(text, error.token), str(error))
    if _CLIENT not in {each.text for each in names}:
        for each in names:
            if (each.text or "") not in _OTHERS and nearest_word(each.text or "", (_CLIENT,)):
                return _line(text, each), f"no block `{_CLIENT}`, and this one has nearly its name"
    return None


def _starts_outside(place: int, tokens: list[Token], quoted: set[int]) -> bool:
    """Return whether a place is not within quotes."""
    before = max((each.place for each in tokens if each.place <= place), default=0)
    return before not in quoted


def _line(text: str, token: Token) -> int:
    return text.count("\n", 0, token.place) + 1


class _Blocks:
    """The blocks of a file, token by token."""

    def __init__(self, tokens: list[Token], text: str) -> None:
        self._tokens, self._text, self._at = tokens, text, 0

    def names(self) -> Iterator[Token]:
        """Yield the name of each block. Raises `_Wrong`."""
        seen = set[str | None]()
        while self._at < len(self._tokens):
            name = self._tokens[self._at]
            self._at += 1
            self._take("{", "no `{` after the name of a block")
            while not self._is("}"):
                self._module()
            self._take("}", "no `};` at the end of a block")
            self._take(";", "no `;` after the `}` of a block")
            if name.text in seen:
                raise _Wrong("two blocks of one name", name)
            seen.add(name.text)
            yield name

    def _module(self) -> None:
        if self._at >= len(self._tokens):
            raise self._wrong("no `};` at the end of a block")
        self._word("no login module")
        if not self._is_flag(0):
            raise self._wrong("no control flag such as `required` after a login module")
        self._at += 1
        while not self._is(";"):
            if self._at >= len(self._tokens) or self._is("}") or self._is_flag(1):
                raise self._wrong("no `;` at the end of a login module")
            for kind in ("", "=", ""):
                self._option(kind)
        self._at += 1

    def _option(self, kind: str) -> None:
        wrong = 'an option that is not written as `name="value"`'
        if kind:
            self._take(kind, wrong)
        else:
            self._word(wrong)

    def _is(self, kind: str) -> bool:
        return self._at < len(self._tokens) and self._tokens[self._at].kind == kind

    def _is_flag(self, after: int) -> bool:
        found = self._tokens[self._at + after : self._at + after + 1]
        return bool(found) and (found[0].text or "").upper() in FLAGS

    def _take(self, kind: str, wrong: str) -> None:
        if not self._is(kind):
            raise self._wrong(wrong)
        self._at += 1

    def _word(self, wrong: str) -> None:
        """Take a word, or a text in double quotes: Java takes no other quotes here."""
        found = self._tokens[self._at] if self._at < len(self._tokens) else Token("")
        if found.text is None or self._text[found.place] == "'":
            raise self._wrong(wrong)
        self._at += 1

    def _wrong(self, found: str) -> _Wrong:
        """Return what is wrong after the last token."""
        return _Wrong(found, self._tokens[max(self._at - 1, 0)])
