"""Names of groups in a line of text."""

from __future__ import annotations


def plain_name(group: str) -> str:
    """Return a group's name for a line of text; one with invisible characters is shown escaped."""
    return group if group.isprintable() and group else repr(group)


def group_subject(group: str) -> str:
    """Return the subject of a finding about a group."""
    return f"group {plain_name(group)}"
