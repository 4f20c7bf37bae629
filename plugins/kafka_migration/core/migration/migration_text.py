"""The only writer of migration files: every text is quoted, so that YAML reads each value as it was meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kafka_migration.core.migration.settings import Insecurity
from kafka_migration.core.text.quoting import yaml_string

# Editors read it; `kafka-migration schema` prints the file that it names.
SCHEMA_LINE = "# yaml-language-server: $schema=migration-file.schema.json"
# A regular expression that matches no name: `cutover.groups` with it moves no group.
NO_GROUP = "(?!)"
# Keys that need no quotes, such as the fields; YAML reads some words as other values.
_FIELD = re.compile(r"[a-z_]{2,40}")
_WORDS = frozenset({"false", "no", "null", "off", "on", "true", "yes"})


@dataclass(frozen=True, slots=True)
class Remarked:
    """A value with a remark, which stands after its key, and after a text or a number."""

    value: Value
    remark: str


Value: TypeAlias = "str | int | Sequence[Value] | Mapping[str, Value] | Remarked | None"


def migration_text(fields: Mapping[str, Value], comments: Iterable[str] = ()) -> str:
    """Return the text of a migration file with these fields, in their order; a value `None` leaves its field out.

    `comments` are lines before the fields. What could end a comment, or be invisible in it, is written as `\\n` or
    `\\u202e`.
    """
    lines = _mapping({"version": 1, **fields}, "")
    return "\n".join([SCHEMA_LINE, *(f"# {_printable(each)}" for each in comments), *lines, ""])


def cluster_section(connection: str, insecure: Sequence[Insecurity], **more: Value) -> dict[str, Value]:
    """Return the section of a cluster. `insecure` are the protections that its connection gives up."""
    return {"connection": connection, "insecure": insecure or None, **more}


def _mapping(fields: Mapping[str, Value], indent: str) -> Iterator[str]:
    for key, value in fields.items():
        if value is not None:
            name = key if _FIELD.fullmatch(key) and key not in _WORDS else yaml_string(key)
            yield from _entry(f"{indent}{name}:", value, indent)


def _entry(start: str, value: Value, indent: str, remark: str = "") -> Iterator[str]:
    """Yield the lines of a key and its value."""
    if isinstance(value, Remarked):
        yield from _entry(start, value.value, indent, f"  # {_printable(value.remark)}")
    elif isinstance(value, Mapping):
        yield f"{start}{remark}" if value else f"{start} {{}}{remark}"
        yield from _mapping(value, f"{indent}  ")
    elif isinstance(value, Sequence) and not isinstance(value, str):
        yield f"{start}{remark}" if value else f"{start} []{remark}"
        for item in value:
            yield from _item(item, f"{indent}  ")
    else:
        yield f"{start} {_scalar(value)}{remark}"


def _item(value: Value, indent: str) -> Iterator[str]:
    """Yield the lines of an item: a mapping begins on the line of its hyphen."""
    if isinstance(value, Mapping):
        first, *others = _mapping(value, f"{indent}  ")
        yield f"{indent}- {first.removeprefix(f'{indent}  ')}"
        yield from others
    else:
        yield from _entry(f"{indent}-", value, indent)


def _scalar(value: str | int | None) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else yaml_string(value or "")


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)
