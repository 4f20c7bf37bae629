"""MirrorMaker's lists of names and Java patterns as items of a migration file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kafka_migration.core.migration.patterns import pattern_problem
from kafka_migration.core.text.secret_forms import has_key_form, may_be_shown
from kafka_migration.mirrormaker_files.model.judging import listed

_NAME = re.compile(r"[A-Za-z0-9._-]{1,249}")
_GROUPING = re.compile(r"[()\[\]]")
# Java and Python agree on the rest of the syntax.
_ONLY_JAVA = re.compile(r"\\[pPQEhHRvVXGzZk]|&&|\(\?<[a-zA-Z]|[*+?}]\+")


@dataclass(frozen=True, slots=True)
class NameItem:
    """A name, or a regular expression for whole names; `problem` says why a pattern cannot be used."""

    text: str
    is_name: bool
    problem: str = ""


def items_of(value: str, *, is_mirrormaker1: bool = False) -> Iterator[NameItem]:
    """Yield the items of a list. MirrorMaker 1 also separates names with `|`."""
    parts = listed(value.replace(" ", "")) if is_mirrormaker1 else listed(value)
    if is_mirrormaker1:
        parts = [each for part in parts for each in (part.split("|") if not _GROUPING.search(part) else [part])]
    yield from (_item(part.strip("\"'")) for part in parts if part.strip("\"'"))


def _item(text: str) -> NameItem:
    bare = text.removeprefix("^").removesuffix("$")
    name = bare.replace("[.]", ".").replace("\\.", ".").replace("\\-", "-")
    # A name of a topic may contain a digest, or a word such as token.
    if _NAME.fullmatch(name) and not has_key_form(name):
        return NameItem(name, is_name=True)
    if not may_be_shown(bare):
        return NameItem(bare, is_name=False, problem="it looks like a secret")
    if _ONLY_JAVA.search(bare):
        return NameItem(bare, is_name=False, problem="it has syntax that only Java knows")
    if bare.count("{") != bare.count("}"):
        return NameItem(bare, is_name=False, problem="a comma ends a pattern, so this is only a part of one")
    problem = pattern_problem(bare) if len(bare) <= 500 else "it is longer than 500 characters"
    return NameItem(bare, is_name=False, problem=problem)


def patterns_of(items: Iterable[NameItem]) -> list[str]:
    """Return the items as regular expressions for whole names."""
    return [re.escape(item.text) if item.is_name else item.text for item in items]
