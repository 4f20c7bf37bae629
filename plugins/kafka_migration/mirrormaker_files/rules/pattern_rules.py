"""Rules on name patterns."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kafka_migration.core.text.secret_forms import HIDDEN
from kafka_migration.mirrormaker_files.model.judging import LintFinding, at, is_shown, listed, value_of
from kafka_migration.mirrormaker_files.model.limits import LONGEST_PATTERN
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.mirror_settings import MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_files.rules.ground import Ground
from kafka_migration.mirrormaker_files.rules.value_rules import has_comment

_PATTERN_KEYS = frozenset(
    f"{what}{suffix}" for what in ("topics", "groups", "config.properties") for suffix in ("", ".exclude", ".blacklist")
)
_OPTION_PATTERNS = frozenset({"whitelist", "include", "blacklist"})
# Escapes that Java has and Python lacks; a pattern with one of them is not judged.
_ONLY_JAVA = re.compile(r"\\[pPQEhHRvVXGzZk]|&&|\(\?<[a-zA-Z]|\[\[")
_GLOB = re.compile(r"(?:^|[A-Za-z0-9_-])\*")


def patterns(file: MirrorFile, _: Ground) -> Iterator[LintFinding]:
    """Yield a finding for each pattern that Kafka splits, rejects, or understands differently than it looks."""
    for setting in file.settings:
        names = _OPTION_PATTERNS if setting.place is Place.OPTION else _PATTERN_KEYS
        if setting.key in names and not setting.client and not has_comment(setting):
            yield from _items(file, setting)


def _items(file: MirrorFile, setting: MirrorSetting) -> Iterator[LintFinding]:
    for item in (each.strip("\"'") for each in listed(setting.value)):
        if item.count("{") != item.count("}"):
            expected = "patterns without commas"
            fix = "Repeat the letters, or use `+` or `*` instead of `{n,m}`."
            yield at(file, setting, LintCode.PATTERN_SPLIT, value_of(setting, item), expected, fix)
            return
        if len(item) > LONGEST_PATTERN:
            expected = f"at most {LONGEST_PATTERN:,} characters, because longer ones are not checked"
            found = f"a pattern of {len(item):,} characters"
            yield at(file, setting, LintCode.PATTERN_INVALID, found, expected, "Write shorter patterns.")
        elif not _ONLY_JAVA.search(item) and (reason := _error(item)):
            fix = "Write `.*` for any text." if _GLOB.search(item) else "Correct the pattern."
            expected = "a regular expression"
            found = f"{value_of(setting, item)} ({reason})" if is_shown(setting) else HIDDEN
            yield at(file, setting, LintCode.PATTERN_INVALID, found, expected, fix)
        elif _GLOB.search(item):
            fix = "Write `.*` for any text."
            expected = "`.*`, if any text may follow"
            yield at(file, setting, LintCode.PATTERN_GLOB, value_of(setting, item), expected, fix)


def _error(pattern: str) -> str:
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return str(error)
    return ""


PATTERN_RULES = (patterns,)
