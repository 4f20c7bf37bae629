"""The tables of options in the page of the command line, made from the parsers of the verbs."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator

from kafka_migration.cli.main import parser
from kafka_migration.core.text.markdown import table

BEGIN, END = "<!-- options: written by docs/generate.py -->", "<!-- end of options -->"
_SECTION = re.compile(r"^## `([a-z-]+)`\n", re.MULTILINE)
# What every verb has is explained once, at the top of the page.
_COMMON = {"help", "output"}


def with_options(page: str) -> str:
    """Return the page with the table of each verb between the marks of its section.

    Raises `ValueError` if the section of a verb that has options lacks the marks.
    """
    head, *parts = _SECTION.split(page)
    verbs = next(action.choices for action in parser()._actions if isinstance(action, argparse._SubParsersAction))
    return head + "".join(
        f"## `{verb}`\n{_renewed(verb, section, list(_rows(verbs[verb])))}"
        for verb, section in zip(parts[::2], parts[1::2], strict=True)
    )


def _renewed(verb: str, section: str, rows: list[tuple[str, str]]) -> str:
    before, begin, rest = section.partition(BEGIN)
    _, end, after = rest.partition(END)
    if bool(rows) != bool(begin and end):
        raise ValueError(f"the section of {verb} {'lacks the marks of its options' if rows else 'has no options'}")
    return f"{before}{begin}\n\n{table(('option', 'meaning'), rows)}\n\n{end}{after}" if rows else section


def _rows(verb: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    for action in verb._actions:
        if action.help != argparse.SUPPRESS and action.dest not in _COMMON:
            yield ", ".join(f"`{name}`" for name in _names(action)), _meaning(action)


def _names(action: argparse.Action) -> list[str]:
    value = action.metavar or (action.dest.upper() if action.nargs != 0 and not action.choices else "")
    return [" ".join(filter(None, (name, str(value)))) for name in action.option_strings] or [str(value or action.dest)]


def _meaning(action: argparse.Action) -> str:
    choices = f": {', '.join(f'`{each}`' for each in action.choices)}" if action.choices else ""
    required = " (required)" if action.option_strings and action.required else ""
    text = action.help or ""
    main, default, rest = text.partition(" (default: ")
    return f"{main}{choices}{required}{default}{rest}"
