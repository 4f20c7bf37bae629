"""What a reader notices about the text of a file: places where Kafka reads something other than what is meant.

A text that cannot be read at all is refused.
"""

from __future__ import annotations

from typing import NamedTuple

from kafka_migration.core.text.row_enum import RowEnum
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode

_REFUSED = "Connect refuses the connector"


class _OddityRow(NamedTuple):
    code: LintCode
    found: str
    effect: str
    fix: str


_UNQUOTED = _OddityRow(
    LintCode.PATTERN_UNQUOTED,
    "the pattern, or the variable that has it, has no quotes",
    "the shell replaces it by the names of files in the working directory if any fit",
    "Put the pattern in single quotes.",
)


class Oddity(RowEnum):
    """What a reader can notice, with the texts of its finding; `{other}` is the second line of a remark."""

    code: LintCode
    found: str
    effect: str
    fix: str

    BAD_ESCAPE = _OddityRow(
        LintCode.FILE_NOT_LOADED,
        r"`\u` is not followed by four hexadecimal digits",
        "Java cannot load the file, so MirrorMaker does not start",
        "Write four digits, or two backslashes for a backslash.",
    )
    NOT_CONTINUED = _OddityRow(
        LintCode.LINE_NOT_CONTINUED,
        "a blank follows the backslash at the end of the line, so the value ends here",
        "line {other} is read as a setting of its own, and its part of the value is lost",
        "Remove the blank after the backslash.",
    )
    COMMENT_IN_VALUE = _OddityRow(
        LintCode.COMMENT_IN_VALUE,
        "the line before continues here, so this comment is a part of the value",
        "Kafka reads the text of the comment as an item or a part of the value",
        "Write the comment above the setting.",
    )
    COMMENT_NOT_CONTINUED = _OddityRow(
        LintCode.COMMENT_NOT_CONTINUED,
        "a comment ends with a backslash, which does not continue it",
        "line {other} is read as a setting",
        "Write `#` before each line of the comment.",
    )
    NO_SEPARATOR = _OddityRow(
        LintCode.SEPARATOR_MISSING,
        "the line has no `=`, so its first word is read as a key",
        "no part of MirrorMaker reads this key; if the line belongs to the value before it, that value is cut",
        "Write `key=value`, or end the line before with a comma and a backslash.",
    )
    BLANK_IN_KEY = _OddityRow(
        LintCode.SEPARATOR_MISSING,
        "a blank ends the key, and the rest of the line is its value",
        "no part of MirrorMaker reads this key",
        "Write the key without blanks.",
    )
    FIRST_BYTES = _OddityRow(
        LintCode.ENCODING_WRONG,
        "the file starts with a byte order mark, which Java reads as a part of the first key",
        "no part of MirrorMaker reads this line",
        "Save the file as UTF-8 without a byte order mark, or start it with an empty line.",
    )
    NOT_ISO_8859_1 = _OddityRow(
        LintCode.ENCODING_WRONG,
        "the line has letters outside ASCII in UTF-8, and Java reads properties as ISO 8859-1",
        "Kafka gets other letters",
        r"Write each of these letters as `\u` with four hexadecimal digits.",
    )
    NOT_UTF_8 = _OddityRow(
        LintCode.ENCODING_WRONG,
        "the file is not in UTF-8",
        "Connect does not accept the document",
        "Save the file as UTF-8.",
    )
    REPEATED = _OddityRow(
        LintCode.KEY_REPEATED,
        "this value is ignored",
        "line {other} has the same key, and its value is used",
        "Remove the wrong one.",
    )
    NOT_TEXT = _OddityRow(
        LintCode.VALUE_NOT_TEXT,
        "the value is a list or an object",
        _REFUSED,
        "Write one text, with commas between the items of a list.",
    )
    NULL = _OddityRow(
        LintCode.VALUE_NULL,
        "the value is `null`",
        "the connector gets no value instead of the default, and may fail",
        "Remove the key, or give it a value.",
    )
    OTHER_PRODUCT = _OddityRow(
        LintCode.CONNECTOR_OF_OTHER_PRODUCT,
        "the connector is none of MirrorMaker",
        "its settings are not judged",
        "Leave it out, unless the class extends one of MirrorMaker's.",
    )
    PIPE = _OddityRow(
        LintCode.PATTERN_PIPED,
        "the shell reads the `|` after this value as a pipe",
        "the pattern ends before it, and what follows is run as a command",
        "Put the pattern in single quotes.",
    )
    UNQUOTED = _UNQUOTED
    # A pattern is a variable without quotes, whose value may be known from elsewhere.
    VARIABLE_UNQUOTED = _UNQUOTED
    BAD_JSON = _OddityRow(
        LintCode.JSON_REFUSED,
        "no parser of JSON accepts this line: a quote has no backslash before it, or a comma has nothing after it",
        "Connect refuses the whole document, so no connector of it is made",
        r"Write `\"` for a quote within a text, and no comma after the last item.",
    )
    REQUEST_FIELD = _OddityRow(
        LintCode.REQUEST_REFUSED,
        "a request to make a connector has no such field",
        "Connect refuses the request, so the connector is not made",
        "Write `name` and `config` only.",
    )
    OVERWRITTEN = _OddityRow(
        LintCode.FILE_OVERWRITTEN,
        "`>` replaces the file that the script has written from line {other} on",
        "the settings before this line are lost",
        "Write `>>`.",
    )
    HERE_DOCUMENT_QUOTED = _OddityRow(
        LintCode.HERE_DOCUMENT_QUOTED,
        "the delimiter of the here-document is in quotes, so the shell does not replace the variables of its text",
        "MirrorMaker gets the text of the variable as the value, first in line {other}",
        "Write the delimiter without quotes, and a backslash before each `$` that is no variable.",
    )
    WORDS_UNQUOTED = _OddityRow(
        LintCode.WORDS_UNQUOTED,
        "the variable has no quotes",
        "the shell splits its text at blanks and line breaks, and replaces signs such as `*` by names of files",
        "Put the variable in double quotes.",
    )


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
