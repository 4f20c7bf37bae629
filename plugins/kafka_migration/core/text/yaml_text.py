"""Quoting for generated migration files."""

from __future__ import annotations

from kafka_migration.core.text.shell import escaped


def yaml_string(text: str) -> str:
    """Return a quoted YAML string: unquoted, it might be a number or a YAML keyword.

    A JSON string is no substitute: it has a character beyond U+FFFF as a surrogate pair, which YAML does not combine.
    """
    return '"' + escaped(text, '"') + '"'
