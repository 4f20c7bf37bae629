"""The consumer groups that a cutover moves, as MirrorMaker's filter selects them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.migration.migration_text import NO_GROUP
from kafka_migration.core.migration.patterns import pattern_problem
from kafka_migration.core.migration.settings import UNMOVED_GROUP_PREFIXES
from kafka_migration.mirrormaker_import.chosen_flow import not_imported
from kafka_migration.mirrormaker_import.imported_topics import patterns_of, usable_items

DEFAULT_EXCLUSIONS = "console-consumer-.*,connect-.*,__.*"
_LONGEST = 500
_BEGINNING = re.compile(r"([A-Za-z0-9_-]+)\.\*")


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
