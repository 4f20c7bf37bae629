"""Rules on the patterns of topics, groups and configuration keys, as MirrorMaker gives them to Java."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from kafka_migration.core.text.regex import regex
from kafka_migration.core.text.secret_forms import HIDDEN
from kafka_migration.kafka_tables.accepted import items_of
from kafka_migration.mirrormaker_files.ground.ground import Ground
from kafka_migration.mirrormaker_files.ground.java_patterns import PatternJudgement, judge
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import (
    LintFinding,
    at,
    has_comment,
    is_shown,
    the_value,
    value_of,
)
from kafka_migration.mirrormaker_files.model.lint_limits import LONGEST_PATTERN
from kafka_migration.mirrormaker_files.model.mirror_settings import MirrorFile, MirrorSetting, Place

_PATTERN_KEYS = frozenset(
    f"{what}{suffix}" for what in ("topics", "groups", "config.properties") for suffix in ("", ".exclude", ".blacklist")
)
_OF_TOPICS = frozenset({"topics", "topics.exclude", "topics.blacklist"})
_OPTION_PATTERNS = frozenset({"whitelist", "include", "blacklist"})
# So many wrong patterns of a line are named.
_MOST_SHOWN = 10
_QUOTES = "\"'"


def is_pattern(setting: MirrorSetting) -> bool:
    """Return whether MirrorMaker reads the value as a list of patterns."""
    names = _OPTION_PATTERNS if setting.place is Place.OPTION else _PATTERN_KEYS
    return setting.key in names and not setting.client and setting.place is not Place.FIELD


def patterns(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each pattern that Kafka splits, refuses, or understands otherwise than it looks."""
    for setting in file.settings:
        if is_pattern(setting) and not has_comment(setting) and not setting.is_reference and not _is_variable(setting):
            yield from _judged(file, setting)


def _is_variable(setting: MirrorSetting) -> bool:
    """Return whether a shell replaces a part of an option, such as `$TOPICS`."""
    return setting.place is Place.OPTION and "$" in setting.value.rstrip("$")


def _judged(file: MirrorFile, setting: MirrorSetting) -> Iterator[LintFinding]:
    items = _items(setting)
    if not any(items):
        return
    if longest := next((item for item in items if len(item) > LONGEST_PATTERN), ""):
        found = f"a pattern of {len(longest):,} characters"
        effect = f"it is not checked, because it has more than {LONGEST_PATTERN:,}"
        yield at(file, setting, LintCode.PATTERN_INVALID, found, effect, "Write shorter patterns.")
        return
    # Kafka compiles all patterns of the list as one.
    whole = judge("|".join(items))
    if whole.refusal:
        yield from _refused(file, setting, items, whole)
    # Of quotes another rule speaks.
    is_quoted = any(item[:1] in _QUOTES or item[-1:] in _QUOTES for item in items if item)
    if whole.is_known and not is_quoted:
        yield from _globs(file, setting, items)
    if not whole.refusal and not is_quoted and setting.key in _OF_TOPICS | _OPTION_PATTERNS:
        yield from _matching_nothing(file, setting, items)


def _matching_nothing(file: MirrorFile, setting: MirrorSetting, items: list[str]) -> Iterator[LintFinding]:
    """Yield a finding for patterns that need a character outside of the names of topics."""
    wrong = [(item, sign) for item in items if (sign := foreign_sign(item))]
    if wrong:
        item, sign = wrong[0]
        letter = ("a blank" if sign == " " else f"`{sign}`") if is_shown(setting) else "a sign"
        found = f"{the_value(setting, item)} has {letter}, which no topic has in its name"
        effect = "the pattern matches no topic"
        yield at(file, setting, LintCode.PATTERN_MATCHES_NOTHING, found, effect, "Separate items with commas only.")


def foreign_sign(item: str) -> str:
    """Return a sign that each match of a pattern must have and that no name of a topic has; empty if none is certain.

    A pattern with groups, classes, alternatives or escapes of letters may match without it.
    """
    if _NOT_PLAIN.search(item) or _OF_TEMPLATE.fullmatch(item):
        return ""
    found = _FOREIGN.search(item)
    return found[0] if found else ""


# Signs outside of names and of regular expressions, which are not repeated zero times.
_FOREIGN = regex(r"[^A-Za-z0-9._\-^$*+?{}](?![?*{])")
_NOT_PLAIN = regex(r"[()\[\]|\\&]")
_OF_TEMPLATE = regex(r"[@%].{1,200}[@%]")


def _items(setting: MirrorSetting) -> list[str]:
    """Return the patterns as Java gets them: quotes stay in a file; MirrorMaker 1 removes them, and all blanks."""
    if setting.place is Place.OPTION:
        return setting.value.replace(" ", "").strip(_QUOTES).split(",")
    return items_of(setting.value)


def _refused(
    file: MirrorFile, setting: MirrorSetting, items: list[str], whole: PatternJudgement
) -> Iterator[LintFinding]:
    """Yield a finding for each pattern that Java refuses, and one for those that a comma splits."""
    effect = "MirrorMaker does not start" if setting.place is Place.OPTION else "the connector does not start"
    wrong = {item: reason for item in items if (reason := judge(item).refusal)}
    fix = _fix(setting)
    split = [item for item in wrong if item.count("{") != item.count("}")]
    if split:
        better = "Repeat the letters, or use `+` or `*` instead of `{n,m}`."
        found = f"the comma of a repetition ends {the_value(setting, split[0])}"
        yield at(file, setting, LintCode.PATTERN_SPLIT, found, effect, better)
    unsplit = {item: reason for item, reason in wrong.items() if item.count("{") == item.count("}")}
    if not wrong:
        unsplit = {"|".join(items): whole.refusal}
    for item, reason in islice(unsplit.items(), _MOST_SHOWN):
        if item:
            found = f"{the_value(setting, item)} has {reason}" if is_shown(setting) else HIDDEN
            yield at(file, setting, LintCode.PATTERN_INVALID, found, effect, fix)


def _globs(file: MirrorFile, setting: MirrorSetting, items: list[str]) -> Iterator[LintFinding]:
    starred = ((item, found) for item in items if (found := judge(item)).starred and not found.refusal)
    fix = ""
    for item, found in islice(starred, _MOST_SHOWN):
        fix = fix or _fix(setting)
        if found.starred:
            last = item[max(0, found.starred[0] - 1)]
            letter = f"`{last}`" if is_shown(setting) else "the letter before it"
            effect = f"`*` repeats {letter}; it does not stand for any text"
            yield at(file, setting, LintCode.PATTERN_GLOB, the_value(setting, item), effect, fix)


def _fix(setting: MirrorSetting) -> str:
    """Return what to write; if the pattern looks like one of file names, its translation."""
    better = corrected(setting.value)
    if better != setting.value and not judge("|".join(items_of(better))).refusal and is_shown(setting):
        return f"Write {value_of(setting, better)}."
    return "Write `.*` for any text." if "*" in setting.value else "Correct the pattern."


def corrected(value: str) -> str:
    """Return a list of patterns without quotes, in which a `*` of a file name pattern is `.*`."""
    return ",".join(_translated(item.strip(_QUOTES)) for item in items_of(value.strip(_QUOTES)))


def _translated(item: str) -> str:
    if item.startswith("*"):
        # The dots of such a name are dots.
        plain = item[1:].replace(".", "[.]") if not set(item[1:]) & set("*\\[](){}|^$+?") else item[1:]
        return f".*{plain}"
    places = judge(item).starred
    parts = (f".{letter}" if place in places else letter for place, letter in enumerate(item))
    return "".join(parts)


PATTERN_RULES = (patterns,)
