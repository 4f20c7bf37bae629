"""The fields of a run's form as options of a verb."""

from __future__ import annotations

import argparse
from collections.abc import Collection

from kafka_migration.cli.shell.arguments import VerbParser, place
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.run.run_conf import DEFAULT_MODE

OFFERED = tuple(mode for mode in Mode if mode.is_offered)
ROLLBACKS = tuple(mode for mode in Mode if mode.rolls_back)


def add_conf(verb: VerbParser, modes: Collection[Mode]) -> None:
    """Add the options for the mode and the topics of a run; `conf_of` reads them."""
    choices = [str(mode) for mode in modes]
    verb.add_argument(
        "--mode", choices=choices, default=str(DEFAULT_MODE), help=f"what the run does (default: {DEFAULT_MODE})"
    )
    _add_names(verb, "topic", "topics", "of the migration file that are not cut over yet")
    _add_names(verb, "group", "groups", "that cutover.groups names; for modes rehearse and cutover")
    text = 'for mode validate: only what these generations copied, such as 3 or "3-5" (default: the whole copy)'
    verb.add_value("--generations", "NUMBERS", text, type=place)
    text = "for mode follow: when to stop, such as 2030-01-31T05:30:00+01:00 (default: when a stop is requested)"
    verb.add_value("--follow-until", "TIME", text, type=place)


def _add_names(verb: VerbParser, name: str, field: str, default: str) -> None:
    text = f"only this {name}; may be repeated (default: all {field} {default})"
    verb.add_values(f"--{name}", name.upper(), text, dest=field, type=place)


def conf_of(arguments: argparse.Namespace) -> dict[str, str | list[str]]:
    """Return the given fields of the form by their names; a field that is not given is left out."""
    fields = ("mode", "topics", "groups", "generations", "follow_until", "leave_records_of", "note")
    return {name: value for name in fields if (value := getattr(arguments, name, None))}
