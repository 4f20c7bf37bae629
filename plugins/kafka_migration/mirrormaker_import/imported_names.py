"""MirrorMaker's lists of topics and groups, as names and Java patterns, in the form of a migration file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.kafka.reserved_topics import is_internal
from kafka_migration.core.migration.migration_text import NO_GROUP
from kafka_migration.core.migration.patterns import matches, pattern_problem
from kafka_migration.core.migration.settings import UNMOVED_GROUP_PREFIXES
from kafka_migration.core.text.secret_forms import given_unless_secret, has_key_form, may_be_shown
from kafka_migration.mirrormaker_files.model.lint_finding import listed
from kafka_migration.mirrormaker_files.model.lint_limits import MOST_EXCLUSIONS
from kafka_migration.mirrormaker_import.chosen_flow import not_imported

_NAME = re.compile(r"[A-Za-z0-9._-]{1,249}")
_GROUPING = re.compile(r"[()\[\]]")
# Java and Python agree on the rest of the syntax.
_ONLY_JAVA = re.compile(r"\\[pPQEhHRvVXGzZk]|&&|\(\?<[a-zA-Z]|[*+?}]\+")
# A flag counts for the items after it too, because MirrorMaker joins the items of a list.
_FLAGS = re.compile(r"\(\?[a-zA-Z-]{1,9}\)")
# A part that a shell, a provider of configurations or a template replaces.
# No name of a topic or group has a text such as `<topics>`; a named group of a pattern is no such text.
_VARIABLE = re.compile(r"\$[A-Za-z_{(]|\{\{|`|%[A-Za-z_]\w{0,99}%|(?<!\?)(?<!\\k)<[A-Za-z][^<>,]{0,99}>")
# The exclusions of MirrorMaker 2 that a migration's patterns do not have by themselves, and those of groups.
EXCLUDED_TOPICS = r".*[\-\.]internal,.*\.replica"
EXCLUDED_GROUPS = "console-consumer-.*,connect-.*,__.*"
_LONGEST = 500
_BEGINNING = re.compile(r"([A-Za-z0-9_-]+)\.\*")


@dataclass(frozen=True, slots=True)
class NameItem:
    """A name, or a regular expression for whole names; `problem` says why a pattern cannot be used.

    `pattern` is the regular expression as it was given.
    """

    text: str
    is_name: bool
    problem: str = ""
    pattern: str = ""

    @property
    def regex(self) -> str:
        """The item as a regular expression for whole names."""
        return self.pattern or (re.escape(self.text) if self.is_name else self.text)


@dataclass(frozen=True, slots=True)
class TopicChoice:
    """The topics to copy. `left_out` are names that the files give, and that MirrorMaker does not copy."""

    items: tuple[NameItem, ...]
    exclusions: tuple[NameItem, ...]
    left_out: tuple[str, ...] = ()

    @property
    def has_patterns(self) -> bool:
        """Whether an item is a pattern."""
        return not all(item.is_name for item in self.items)

    def loose_names(self) -> tuple[str, ...]:
        """Return the names whose dots MirrorMaker reads as any letter."""
        return tuple(each.text for each in self.items if each.is_name and re.search(r"(?<![\\\[])\.", each.pattern))


def is_variable(value: str) -> bool:
    """Return whether the value, or a part of it, is known only where MirrorMaker runs."""
    return _VARIABLE.search(value) is not None


def items_of(value: str, *, is_mirrormaker1: bool = False) -> Iterator[NameItem]:
    """Yield the items of a list. MirrorMaker 1 also separates names with `|`."""
    parts = listed(value.replace(" ", "")) if is_mirrormaker1 else listed(value)
    if is_mirrormaker1:
        parts = [each for part in parts for each in (part.split("|") if not _GROUPING.search(part) else [part])]
    yield from (_item(part.strip("\"'")) for part in parts if part.strip("\"'"))


def _item(text: str) -> NameItem:
    bare = text.removeprefix("^").removesuffix("$")
    name = bare.replace("[.]", ".").replace("\\.", ".").replace("\\-", "-")
    if not bare:
        return NameItem(text, is_name=False, problem="it matches no name")
    # A name of a topic may contain a digest, or a word such as token.
    if _NAME.fullmatch(name) and not has_key_form(name):
        return NameItem(name, is_name=True, pattern=bare)
    if not may_be_shown(bare):
        return NameItem(bare, is_name=False, problem="it looks like a secret")
    if _ONLY_JAVA.search(bare):
        return NameItem(bare, is_name=False, problem="it has syntax that only Java knows")
    if bare.count("{") != bare.count("}"):
        return NameItem(bare, is_name=False, problem="a comma ends a pattern, so this is only a part of one")
    problem = pattern_problem(bare) if len(bare) <= _LONGEST else f"it is longer than {_LONGEST} characters"
    return NameItem(bare, is_name=False, problem=problem)


def usable_items(value: str, key: str, *, is_mirrormaker1: bool = False) -> tuple[NameItem, ...]:
    """Return the different items of a list. Raises `Refused` if one cannot be a part of a migration file."""
    if is_variable(value):
        raise Refused([_variable(key)])
    found: dict[NameItem, int] = {}
    for position, item in enumerate(items_of(value, is_mirrormaker1=is_mirrormaker1), 1):
        found.setdefault(item, position)
    wrong = [(found[item], item.text, item.problem) for item in found if item.problem]
    if len(found) > 1:
        flags = [item for item in found if _FLAGS.search(item.text)]
        wrong += [(found[item], item.text, "its flag counts for the items after it too") for item in flags]
    if wrong:
        remedy = "Write the pattern differently in a copy of the file, and import the copy."
        texts = [f"item {position}, {given_unless_secret(text)}: {problem}" for position, text, problem in wrong]
        raise Refused([not_imported(key, text, "a pattern that a migration file takes", remedy) for text in texts])
    return tuple(found)


def _variable(key: str) -> Finding:
    found = "a variable or a placeholder, whose value is not in the files"
    remedy = f"Give the names and patterns with --{key}." if key in {"topics", "groups"} else _WRITE_IT
    return not_imported(key, found, "names and patterns", remedy)


_WRITE_IT = "Write the value into a copy of the file, and import the copy."


def topic_choice(value: str, excluded: str, more: Sequence[str] = (), *, is_mirrormaker1: bool = False) -> TopicChoice:
    """Return the topics of two lists; `more` are patterns of further topics that MirrorMaker does not copy.

    Raises `Refused` if no topic remains, or an item cannot be a part of a migration file.
    """
    given = usable_items(excluded, "topics.exclude")
    _require_few(given)
    exclusions = (*given, *(NameItem(each, is_name=False) for each in more))
    patterns = patterns_of(exclusions)
    items = usable_items(value, "topics", is_mirrormaker1=is_mirrormaker1)
    kept = tuple(item for item in items if not (item.is_name and _is_left_out(item.text, patterns)))
    left_out = tuple(item.text for item in items if item not in kept)
    return TopicChoice(kept, exclusions, left_out)


def _require_few(exclusions: Sequence[NameItem]) -> None:
    if len(exclusions) > MOST_EXCLUSIONS:
        # Each named topic is compared with each of them.
        remedy = "Name fewer and wider patterns in a copy of the file, and import the copy."
        found, expected = f"{len(exclusions):,} items", f"at most {MOST_EXCLUSIONS}"
        raise Refused([not_imported("topics.exclude", found, expected, remedy)])


def _is_left_out(name: str, excluded: Sequence[str]) -> bool:
    """Return whether MirrorMaker does not copy a topic that is named: it is excluded, or internal."""
    return matches(name, excluded) or is_internal(name)


def patterns_of(items: Iterable[NameItem]) -> list[str]:
    """Return the items as regular expressions for whole names."""
    return [item.regex for item in items]


def group_patterns(value: str, excluded: str) -> tuple[str, ...]:
    """Return regular expressions for the groups that a list selects and another leaves out.

    Raises `Refused` if they cannot be a part of a migration file.
    """
    ahead = _ahead(patterns_of(usable_items(excluded, "groups.exclude")))
    found = tuple(f"{ahead}{_inner(pattern)}" for pattern in patterns_of(usable_items(value, "groups")))
    for pattern in found:
        problem = pattern_problem(pattern) if len(pattern) <= _LONGEST else f"at most {_LONGEST} characters"
        if problem:
            remedy = "Name fewer or simpler patterns in a copy of the file, and import the copy."
            raise Refused([not_imported("groups", "a pattern with its exclusions", problem, remedy)])
    return found or (NO_GROUP,)


def _inner(pattern: str) -> str:
    """Return a pattern that can stand after a look-ahead. No tool can move a group without a name."""
    if pattern == ".*":
        return ".+"
    return f"(?:{pattern})" if "|" in pattern else pattern


def _ahead(excluded: Sequence[str]) -> str:
    """Return a look-ahead that refuses the whole names which the patterns match."""
    parts = [match[1] if (match := _BEGINNING.fullmatch(each)) else rf"(?:{each})\Z" for each in excluded]
    return f"(?!{'|'.join(parts)})" if parts else ""


def groups_without(mirror_group: str) -> tuple[str, ...]:
    """Return the pattern of all groups but that of a MirrorMaker 1, whose name has letters, digits, dots, _ and -."""
    group = mirror_group.replace(".", "[.]")
    return (f"(?!{group}$|{'|'.join(UNMOVED_GROUP_PREFIXES)}).+",)
