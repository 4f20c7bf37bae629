"""Foreign names in a line of text."""

from __future__ import annotations

import json

from kafka_migration.core.text.terminal_text import shown

# The most letters of a foreign name that a message repeats.
LONGEST_QUOTE = 200


def quoted(name: str) -> str:
    """Return the beginning of any name in double quotes, on one line and without control characters."""
    more = f" and {len(name) - LONGEST_QUOTE:,} more letters" if len(name) > LONGEST_QUOTE else ""
    return shown(json.dumps(name[:LONGEST_QUOTE], ensure_ascii=False)) + more


def plain_name(group: str) -> str:
    """Return a group's name for a line of text; one with invisible characters is shown escaped."""
    return group if group.isprintable() and group else repr(group)


def group_subject(group: str) -> str:
    """Return the subject of a finding about a group."""
    return f"group {plain_name(group)}"
