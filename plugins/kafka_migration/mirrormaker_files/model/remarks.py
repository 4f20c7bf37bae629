"""What a reader notices about the text of a file: places where Kafka reads something other than what is meant.

A text that cannot be read at all is refused.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple


class Oddity(Enum):
    """What a reader can notice."""

    BAD_ESCAPE = auto()
    NOT_CONTINUED = auto()
    COMMENT_IN_VALUE = auto()
    COMMENT_NOT_CONTINUED = auto()
    NO_SEPARATOR = auto()
    BLANK_IN_KEY = auto()
    FIRST_BYTES = auto()
    NOT_ISO_8859_1 = auto()
    NOT_UTF_8 = auto()
    REPEATED = auto()
    NOT_TEXT = auto()
    NULL = auto()
    OTHER_PRODUCT = auto()
    PIPE = auto()
    UNQUOTED = auto()
    # A pattern is a variable without quotes, whose value may be known from elsewhere.
    VARIABLE_UNQUOTED = auto()
    OVERWRITTEN = auto()
    BAD_JSON = auto()
    WORDS_UNQUOTED = auto()
    REQUEST_FIELD = auto()
    HERE_DOCUMENT_QUOTED = auto()


class Remark(NamedTuple):
    """One oddity with its line and the name of its setting.

    `other` is a second line: of the later key for `REPEATED`, of the next setting where a continued line ends early.
    """

    oddity: Oddity
    line: int
    name: str = ""
    other: int = 0


class WrongText(ValueError):
    """A text cannot be read; the message says why. A line of 0 means the text as a whole."""

    def __init__(self, found: str, line: int = 0) -> None:
        super().__init__(found)
        self.line = line


class OpenQuote(WrongText):
    """A quote is not closed."""

    def __init__(self, line: int) -> None:
        super().__init__("No closing quotation", line)


class WrongDocument(WrongText):
    """A text is not the document that was expected."""


class OtherDocument(WrongDocument):
    """A text is right, but it holds nothing of MirrorMaker."""
