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
    oddity = remark.oddity
    effect = oddity.effect.replace("{other}", str(remark.other))
    place = Place.TOP if remark.oddity is Oddity.NO_SEPARATOR else Place.FIELD
    setting = MirrorSetting(remark.line, remark.name, "", place, remark.name)
    return at(file, setting, oddity.code, oddity.found.replace("{other}", str(remark.other)), effect, oddity.fix)


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
