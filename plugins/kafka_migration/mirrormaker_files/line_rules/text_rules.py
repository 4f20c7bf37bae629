"""Rules on the text of a file: where Kafka, a shell or Connect reads something other than what is meant."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from kafka_migration.core.text.secret_forms import is_secret_name
from kafka_migration.mirrormaker_files.ground.ground import Ground
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding, at, may_be_secret
from kafka_migration.mirrormaker_files.model.mirror_settings import MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_files.model.remarks import Oddity, Remark

_REFUSED = "Connect refuses the connector"
# Found, effect and fix of each oddity; `{other}` is the second line of a remark.
_TEXTS = {
    Oddity.BAD_ESCAPE: (
        LintCode.FILE_NOT_LOADED,
        r"`\u` is not followed by four hexadecimal digits",
        "Java cannot load the file, so MirrorMaker does not start",
        "Write four digits, or two backslashes for a backslash.",
    ),
    Oddity.NOT_CONTINUED: (
        LintCode.LINE_NOT_CONTINUED,
        "a blank follows the backslash at the end of the line, so the value ends here",
        "line {other} is read as a setting of its own, and its part of the value is lost",
        "Remove the blank after the backslash.",
    ),
    Oddity.COMMENT_IN_VALUE: (
        LintCode.COMMENT_IN_VALUE,
        "the line before continues here, so this comment is a part of the value",
        "Kafka reads the text of the comment as an item or a part of the value",
        "Write the comment above the setting.",
    ),
    Oddity.COMMENT_NOT_CONTINUED: (
        LintCode.COMMENT_NOT_CONTINUED,
        "a comment ends with a backslash, which does not continue it",
        "line {other} is read as a setting",
        "Write `#` before each line of the comment.",
    ),
    Oddity.NO_SEPARATOR: (
        LintCode.SEPARATOR_MISSING,
        "the line has no `=`, so its first word is read as a key",
        "no part of MirrorMaker reads this key; if the line belongs to the value before it, that value is cut",
        "Write `key=value`, or end the line before with a comma and a backslash.",
    ),
    Oddity.BLANK_IN_KEY: (
        LintCode.SEPARATOR_MISSING,
        "a blank ends the key, and the rest of the line is its value",
        "no part of MirrorMaker reads this key",
        "Write the key without blanks.",
    ),
    Oddity.FIRST_BYTES: (
        LintCode.ENCODING_WRONG,
        "the file starts with a byte order mark, which Java reads as a part of the first key",
        "no part of MirrorMaker reads this line",
        "Save the file as UTF-8 without a byte order mark, or start it with an empty line.",
    ),
    Oddity.NOT_ISO_8859_1: (
        LintCode.ENCODING_WRONG,
        "the line has letters outside ASCII in UTF-8, and Java reads properties as ISO 8859-1",
        "Kafka gets other letters",
        r"Write each of these letters as `\u` with four hexadecimal digits.",
    ),
    Oddity.NOT_UTF_8: (
        LintCode.ENCODING_WRONG,
        "the file is not in UTF-8",
        "Connect does not accept the document",
        "Save the file as UTF-8.",
    ),
    Oddity.REPEATED: (
        LintCode.KEY_REPEATED,
        "this value is ignored",
        "line {other} has the same key, and its value is used",
        "Remove the wrong one.",
    ),
    Oddity.NOT_TEXT: (
        LintCode.VALUE_NOT_TEXT,
        "the value is a list or an object",
        _REFUSED,
        "Write one text, with commas between the items of a list.",
    ),
    Oddity.NULL: (
        LintCode.VALUE_NULL,
        "the value is `null`",
        "the connector gets no value instead of the default, and may fail",
        "Remove the key, or give it a value.",
    ),
    Oddity.OTHER_PRODUCT: (
        LintCode.CONNECTOR_OF_OTHER_PRODUCT,
        "the connector is none of MirrorMaker",
        "its settings are not judged",
        "Leave it out, unless the class extends one of MirrorMaker's.",
    ),
    Oddity.PIPE: (
        LintCode.PATTERN_PIPED,
        "the shell reads the `|` after this value as a pipe",
        "the pattern ends before it, and what follows is run as a command",
        "Put the pattern in single quotes.",
    ),
    Oddity.UNQUOTED: (
        LintCode.PATTERN_UNQUOTED,
        "the pattern, or the variable that has it, has no quotes",
        "the shell replaces it by the names of files in the working directory if any fit",
        "Put the pattern in single quotes.",
    ),
}
_TEXTS |= {
    Oddity.BAD_JSON: (
        LintCode.JSON_REFUSED,
        "no parser of JSON accepts this line: a quote has no backslash before it, or a comma has nothing after it",
        "Connect refuses the whole document, so no connector of it is made",
        r"Write `\"` for a quote within a text, and no comma after the last item.",
    ),
    Oddity.REQUEST_FIELD: (
        LintCode.REQUEST_REFUSED,
        "a request to make a connector has no such field",
        "Connect refuses the request, so the connector is not made",
        "Write `name` and `config` only.",
    ),
    Oddity.OVERWRITTEN: (
        LintCode.FILE_OVERWRITTEN,
        "`>` replaces the file that the script has written from line {other} on",
        "the settings before this line are lost",
        "Write `>>`.",
    ),
    Oddity.HERE_DOCUMENT_QUOTED: (
        LintCode.HERE_DOCUMENT_QUOTED,
        "the delimiter of the here-document is in quotes, so the shell does not replace the variables of its text",
        "MirrorMaker gets the text of the variable as the value, first in line {other}",
        "Write the delimiter without quotes, and a backslash before each `$` that is no variable.",
    ),
    Oddity.WORDS_UNQUOTED: (
        LintCode.WORDS_UNQUOTED,
        "the variable has no quotes",
        "the shell splits its text at blanks and line breaks, and replaces signs such as `*` by names of files",
        "Put the variable in double quotes.",
    ),
}
# Remarks of which a file can have many with one cause.
_GROUPED = frozenset(
    {Oddity.NOT_ISO_8859_1, Oddity.COMMENT_IN_VALUE, Oddity.NO_SEPARATOR, Oddity.WORDS_UNQUOTED, Oddity.BAD_JSON}
)
# What the other rules say about these lines follows from how the line is read.
_CAUSES = frozenset(
    {
        LintCode.LINE_NOT_CONTINUED,
        LintCode.COMMENT_IN_VALUE,
        LintCode.COMMENT_NOT_CONTINUED,
        LintCode.SEPARATOR_MISSING,
        LintCode.CHARACTER_MISLEADING,
        LintCode.ENCODING_WRONG,
    }
)
_KEPT = _CAUSES | {LintCode.FILE_NOT_LOADED, LintCode.SECRET_IN_FILE}
# Categories of signs that cannot be seen or stand for others; quotes, dashes and arrows are named one by one.
_UNSEEN = frozenset({"Cf", "Zs", "Zl", "Zp", "Cc"})
_LOOK_ALIKES = frozenset("‘’‚‛“”„‟«»‹›′″‐‑‒–—―−→⇒⟶➔➜：，．＝＃＊｜＼／")
_BLANKS = frozenset(" \t\n\r\f")


def remarks(file: MirrorFile, ground: Ground) -> Iterator[LintFinding]:
    """Yield a finding for what the reader noticed; lines with the same cause are one finding."""
    found = defaultdict[tuple[Oddity, int], list[Remark]](list)
    places = {each.line: number for number, each in enumerate(file.settings)}
    explained = read_otherwise(file)
    for number, remark in enumerate(file.remarks):
        setting = file.settings[places[remark.line]] if remark.line in places else None
        if remark.oddity is Oddity.NO_SEPARATOR:
            before = file.settings[places[remark.line] - 1] if places.get(remark.line) else None
            is_judged = remark.line not in explained and _is_stray(setting, before, ground)
        else:
            is_judged = remark.oddity is not Oddity.NOT_ISO_8859_1 or not (setting and _misleading(setting))
        if is_judged and not (remark.oddity is Oddity.REPEATED and _is_seen(remark, setting)):
            found[remark.oddity, -1 if remark.oddity in _GROUPED else number].append(remark)
    for same in found.values():
        first = _finding(file, same[0])
        yield replace(first, others=tuple(sorted({each.line for each in same[1:]} - {first.line})))


def _finding(file: MirrorFile, remark: Remark) -> LintFinding:
    code, *texts = _TEXTS[remark.oddity]
    found, effect, fix = (text.replace("{other}", str(remark.other)) for text in texts)
    place = Place.TOP if remark.oddity is Oddity.NO_SEPARATOR else Place.FIELD
    setting = MirrorSetting(remark.line, remark.name, "", place, remark.name)
    return at(file, setting, code, found, effect, fix)


def _is_stray(setting: MirrorSetting | None, before: MirrorSetting | None, ground: Ground) -> bool:
    """Return whether a line without `=` is a mistake: a known key and a blank before its value are right."""
    if setting is None or not setting.value:
        return setting is not None
    follows_list = before is not None and before.value.rstrip().endswith(",")
    is_key = "." in setting.name and not setting.name.endswith(",") and not follows_list
    return not is_key and not ground.keys.roles_of(setting.key)


def _is_seen(remark: Remark, setting: MirrorSetting | None) -> bool:
    """Return whether the rule on repeated keys sees this one: two texts on different lines."""
    name = remark.name.rpartition(".")[2]
    is_setting = setting is not None and setting.place is not Place.FIELD and setting.name.rpartition(".")[2] == name
    return is_setting and remark.line != remark.other


def read_otherwise(file: MirrorFile) -> frozenset[int]:
    """Return the lines that are settings only because another line ends before them."""
    oddities = {Oddity.NOT_CONTINUED, Oddity.COMMENT_NOT_CONTINUED}
    return frozenset(each.other for each in file.remarks if each.oddity in oddities)


def characters(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each setting with a sign that cannot be seen, or looks like another one."""
    for setting in file.settings:
        if sign := _misleading(setting):
            import unicodedata

            name = unicodedata.name(sign, "a control character").lower()
            where = "key" if sign in setting.name else "value"
            found = f"the {where} has the sign U+{ord(sign):04X} ({name})"
            effect = "no part of MirrorMaker reads this key" if where == "key" else "the sign is a part of the value"
            fix = "Write the line again, with plain blanks, quotes, dashes and `=`."
            yield at(file, setting, LintCode.CHARACTER_MISLEADING, found, effect, fix)


def _misleading(setting: MirrorSetting) -> str:
    """Return the first such sign; empty if there is none. A secret may have any sign."""
    if setting.place is Place.FIELD:
        return ""
    is_secret = may_be_secret(setting) or is_secret_name(setting.name)
    text = setting.name if is_secret else setting.name + setting.value
    return "" if text.isascii() and text.isprintable() else next(filter(_is_misleading, text), "")


def _is_misleading(sign: str) -> bool:
    # Almost every text has only signs of ASCII, and this module takes time to import.
    from unicodedata import category

    return sign in _LOOK_ALIKES or (sign not in _BLANKS and category(sign) in _UNSEEN)


def without_consequences(findings: Sequence[LintFinding], files: Sequence[MirrorFile]) -> list[LintFinding]:
    """Return the findings without those that follow from how a line is read, so that each line has its one cause."""
    lines = {(file.name, line) for file in files for line in read_otherwise(file)}
    keys = set[tuple[str, int, str]]()
    for each in findings:
        if each.code is LintCode.CHARACTER_MISLEADING:
            keys.add((each.file, each.line, each.key))
        elif each.code in _CAUSES:
            lines |= {(each.file, line) for line in (each.line, *each.others)}
    return [
        each
        for each in findings
        if each.code in _KEPT or ((each.file, each.line) not in lines and (each.file, each.line, each.key) not in keys)
    ]


TEXT_RULES = (remarks, characters)
