"""What the verbs' parsers share: wrong usage as a finding, common options, and types of arguments."""

from __future__ import annotations

import argparse
import itertools
import os
import re
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from kafka_migration.cli.shell.airflow_access import migration_names
from kafka_migration.cli.shell.output import EXIT_CODES, ExitCode, complain
from kafka_migration.cli.shell.verb_table import VERBS
from kafka_migration.core.text.shortened import capitalized

FOLDER_VARIABLE = "AIRFLOW__KAFKA_MIGRATION__MIGRATIONS_FOLDER"
NAME_HELP = "name of the migration: its file name without .yaml"
# What stands before the value in the messages of argparse.
_BEFORE_VALUE = re.compile(r"invalid choice|invalid [\w ]{0,40}value|ignored explicit argument")
_CHOICES = " (choose from "
_OPTION = re.compile(r"--[A-Za-z][A-Za-z-]{0,30}(?=$|=)|-[A-Za-z]")


class VerbParser(argparse.ArgumentParser):
    """Reports wrong usage as a finding with a code and a remedy.

    It shows no value: what follows a mistyped or unknown option may be a password, and the message ends in logs.
    """

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse all arguments, and exit with a finding that names the unknown options."""
        parsed, unknown = self.parse_known_args(args, namespace)
        if unknown:
            # That of the verb, whose help has the options.
            parser = getattr(parsed, "parser", self)
            parser.error(unknown_arguments(unknown))
        return parsed

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Keep the words for an error: argparse reports what is missing before it knows which options are unknown."""
        self._words = sys.argv[1:] if args is None else list(args)
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Print the finding, and exit."""
        # Few commands are wrong, and findings take time to import.
        from kafka_migration.cli.shell.usage_problems import usage_finding

        problem, unknown = _without_value(message), self._unknown_options()
        if unknown and not message.startswith("unknown option"):
            problem = f"{unknown_arguments(unknown)}; {problem}"
        complain([usage_finding(problem, self.prog)])
        self.exit(ExitCode.USAGE)

    def _unknown_options(self) -> list[str]:
        options = itertools.takewhile(lambda word: word != "--", self._words)
        found = [match[0] for word in options if (match := _OPTION.match(word))]
        return [name for name in found if name not in self._option_string_actions]

    def add_value(self, name: str, metavar: str, text: str, default: str | None = None, **kind: Any) -> None:
        """Add an option that takes a value; its help names the default."""
        shown = "" if default is None else f" (default: {default})"
        self.add_argument(name, metavar=metavar, default=default, help=f"{text}{shown}", **kind)

    def add_duration(self, name: str, text: str, default: str | None = None) -> None:
        """Add an option that takes a duration; its value is in seconds."""
        self.add_value(name, "DURATION", text, default, type=duration_s)

    def add_renamed(self, old: str, new: str) -> None:
        """Refuse an option of earlier versions with the name of its successor; the help does not list it."""
        self.add_argument(old, action=_Renamed, nargs="?", help=argparse.SUPPRESS, metavar=new)

    def add_values(self, name: str, metavar: str | None, text: str, **kind: Any) -> None:
        """Add an option that may be repeated; without it the list is empty."""
        self.add_argument(name, action="append", default=[], metavar=metavar, help=text, **kind)


class _Renamed(argparse.Action):
    """An option that has another name now, which is the metavar."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        parser.error(f"{self.option_strings[0]} is now {self.metavar}")


def _without_value(message: str) -> str:
    """Return a message of argparse without the value in it; the list of the choices remains."""
    found = _BEFORE_VALUE.search(message)
    if found is None:
        return message
    choices = message.rfind(_CHOICES, found.end())
    return message[: found.end()] + (message[choices:] if choices >= 0 else "")


def unknown_arguments(words: Iterable[str]) -> str:
    """Return a text with the names of the options among unknown words, and the number of the others."""
    found = [_OPTION.match(word) for word in words]
    names = list(dict.fromkeys(match[0] for match in found if match))
    others = sum(match is None for match in found)
    values = [f"{others} argument{'s' * (others > 1)} too many (not shown)"] if others else []
    return ", ".join([*(f"unknown option {name}" for name in names), *values])


if TYPE_CHECKING:
    Verbs: TypeAlias = argparse._SubParsersAction[VerbParser]
else:
    # The class takes no parameter at run time.
    Verbs = argparse._SubParsersAction


# A verb reads the arguments, does its work, and returns the exit code.
Run: TypeAlias = Callable[[Namespace], int]


def add_verb(verbs: Verbs, run: Run, name: str, example: str, *, is_name_optional: bool = False) -> VerbParser:
    """Add a verb on a migration whose evidence is read."""
    verb = add_bare_verb(verbs, run, name, example)
    optional: dict[str, Any] = {"nargs": "?", "help": f"{NAME_HELP} (default: a list of all)"}
    complete_names(verb.add_argument("name", metavar="NAME", **(optional if is_name_optional else {"help": NAME_HELP})))
    text = "folder or URL with the evidence (default: the one in Airflow's configuration)"
    verb.add_value("--evidence-root", "PLACE", text, type=place)
    return verb


def add_bare_verb(verbs: Verbs, run: Run, name: str, example: str, exit_codes: str = EXIT_CODES) -> VerbParser:
    """Add a verb without arguments; what it does is in the table of the verbs."""
    text = VERBS[name].text
    verb = verbs.add_parser(
        name,
        help=text,
        description=f"{capitalized(text)}.",
        epilog=f"example: kafka-migration {example}\n{exit_codes}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    verb.set_defaults(parser=verb, run=run)
    return verb


def add_file(verb: VerbParser) -> None:
    """Add the arguments that name one migration file."""
    add_name(verb)
    add_folder(verb)


def add_name(verb: argparse.ArgumentParser) -> None:
    """Add the name of one migration."""
    complete_names(verb.add_argument("name", type=migration_name, metavar="NAME", help=NAME_HELP))


def complete_names(argument: argparse.Action) -> None:
    """Let a shell complete an argument to the names of the migration files."""
    # The attribute is the interface of argcomplete.
    argument.completer = _names  # type: ignore[attr-defined]


def _names(parsed_args: Namespace, **_: object) -> list[str]:
    """Return the names of the files in the folder of the option, the environment, or Airflow's configuration."""
    named = getattr(parsed_args, "migrations", None) or os.environ.get(FOLDER_VARIABLE)
    return migration_names(Path(named) if named else None)


def add_folder(verb: VerbParser) -> None:
    """Add the option for the folder of the migration files."""
    text = "folder with the migration files (default: the one in Airflow's configuration)"
    verb.add_value("--migrations", "FOLDER", text, type=Path)


def add_output(verb: VerbParser, *forms: str) -> None:
    """Add the option for the form of the answer, which `respond` reads; the first form is the default."""
    forms = forms or ("table", "json")
    verb.add_argument(
        "-o", "--output", choices=forms, default=forms[0], help=f"form of the answer (default: {forms[0]})"
    )
    verb.add_renamed("--json", "-o json")


def place(text: str) -> str:
    """Return a text that is not empty."""
    if not text.strip():
        raise argparse.ArgumentTypeError("an empty value")
    return text


def migration_name(text: str) -> str:
    """Return the name of a migration; it must not lead out of the folder."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", text):
        raise argparse.ArgumentTypeError("letters, digits, dots, hyphens and underscores")
    return text


def duration_s(text: str) -> int:
    """Return the seconds of a duration in the format of migration files."""
    # pydantic takes long to import, and few options are durations.
    from pydantic import TypeAdapter, ValidationError

    from kafka_migration.migration_file.scalars import Duration

    try:
        return int(TypeAdapter(Duration).validate_python(text))
    except ValidationError as error:
        raise argparse.ArgumentTypeError(error.errors()[0]["msg"].removeprefix("Value error, ")) from None
