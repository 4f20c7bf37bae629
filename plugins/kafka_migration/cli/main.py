"""The parser of the command line, and the exit code for each error."""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from pydantic import TypeAdapter, ValidationError

from kafka_migration import __version__
from kafka_migration.cli.acls import acls
from kafka_migration.cli.check import check
from kafka_migration.cli.decommission import decommission
from kafka_migration.cli.output import EXIT_CODES, ExitCode, complain, only_answers
from kafka_migration.cli.problems import findings_of, usage_finding
from kafka_migration.cli.source_acls import source_acls
from kafka_migration.cli.status import status
from kafka_migration.cli.stop import stop
from kafka_migration.cli.verdict import verdict
from kafka_migration.cli.waves import waves
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.migration.patterns import pattern_problem
from kafka_migration.core.migration.settings import Insecurity
from kafka_migration.migration_file.scalars import Duration

# The exit code that shells use for an interrupted command.
INTERRUPTED = 130
MAX_REASON = 500
_NAME_HELP = "name of the migration: its file name without .yaml"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code; wrong usage exits with 2."""
    arguments = parser().parse_args(argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Do not fail because the terminal cannot show a character.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with only_answers():
            return int(arguments.run(arguments))
    except BrokenPipeError:
        # The reader closed the pipe; the command itself is done. Without this, Python reports the pipe again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(ExitCode.DONE)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        # The user gets findings with a remedy for every error, not a traceback.
        complain(findings_of(error))
        return int(ExitCode.REFUSED if isinstance(error, Refused) else ExitCode.FAILED)


class _Parser(argparse.ArgumentParser):
    """Reports wrong usage as a finding with a code and a remedy."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and the finding, and exit."""
        self.print_usage(sys.stderr)
        complain([usage_finding(message, self.prog)])
        self.exit(ExitCode.USAGE)


if TYPE_CHECKING:
    _Verbs = argparse._SubParsersAction[_Parser]


def parser() -> argparse.ArgumentParser:
    """Return the parser of all verbs."""
    made = _Parser(
        "kafka-migration",
        description="Inspect and control migrations of Kafka clusters.",
        epilog=EXIT_CODES,
    )
    made.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    verbs = made.add_subparsers(title="verbs", metavar="VERB", required=True)
    _add_check(verbs)
    _add_status(verbs)
    _add_verdict(verbs)
    _add_stop(verbs)
    _add_decommission(verbs)
    _add_waves(verbs)
    _add_acls(verbs)
    _add_source_acls(verbs)
    return made


def _add_check(verbs: _Verbs) -> None:
    text = "show all mistakes of migration files, without a cluster"
    verb = _bare_verb(verbs, "check", text, "check --migrations include/migrations")
    verb.add_argument("names", nargs="*", type=_name, metavar="NAME", help=f"{_NAME_HELP} (default: all)")
    _add_folder(verb)
    _add_json(verb)
    verb.set_defaults(run=check)


def _add_status(verbs: _Verbs) -> None:
    verb = _verb(
        verbs, "status", "show the status of one migration or of all", "status demo --json", is_name_optional=True
    )
    _add_json(verb)
    verb.set_defaults(run=status)


def _add_verdict(verbs: _Verbs) -> None:
    text = "show the verdict of all runs on each topic, from the ledger"
    verb = _verb(verbs, "verdict", text, "verdict demo")
    _add_json(verb)
    verb.set_defaults(run=verdict)


def _add_json(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--json", action="store_true", help="print one JSON document instead of lines")


def _add_stop(verbs: _Verbs) -> None:
    text = "ask the active run to stop mirroring and to validate the copied records"
    verb = _verb(verbs, "stop", text, 'stop demo --reason "maintenance" --wait')
    verb.add_argument("--reason", type=_reason, default="", metavar="TEXT", help="kept in the evidence")
    verb.add_argument("--wait", action="store_true", help="wait until MirrorMaker has stopped")
    verb.add_argument("--timeout", type=_duration_s, default="10m", metavar="TIME", help="for --wait (default: 10m)")
    verb.set_defaults(run=stop)


def _add_decommission(verbs: _Verbs) -> None:
    text = "check whether the source cluster may be switched off"
    verb = _verb(verbs, "decommission", text, "decommission demo --quiet 48h")
    verb.add_argument(
        "--quiet",
        type=_duration_s,
        default="24h",
        metavar="TIME",
        help="required time without writes to the source (default: 24h)",
    )
    verb.add_argument(
        "--overlap",
        type=_duration_s,
        metavar="TIME",
        help="time after a cutover in which a rollback is possible (default: the retention of the source topic)",
    )
    _add_json(verb)
    verb.set_defaults(run=decommission)


def _add_waves(verbs: _Verbs) -> None:
    verb = _bare_verb(
        verbs,
        "waves",
        "show which topics must move together, and propose migration files",
        "waves --source old_kafka --target new_kafka",
    )
    for side in ("source", "target"):
        verb.add_argument(f"--{side}", required=True, metavar="CONNECTION", help="Airflow connection of type kafka")
        verb.add_argument(
            f"--{side}-insecure",
            action="append",
            default=[],
            choices=[str(each) for each in Insecurity],
            help="a protection that the connection may disable; may be repeated (default: none)",
        )
    for option, of_what in (
        ("--topic", "topics to propose; may be repeated (default: all)"),
        ("--ignore-group", "groups that do not tie topics together; may be repeated"),
    ):
        text = f"regular expression for the whole name of {of_what}"
        verb.add_argument(option, type=_pattern, action="append", default=[], metavar="PATTERN", help=text)
    verb.add_argument(
        "--min-topics",
        type=_count,
        default=1,
        metavar="NUMBER",
        help="combine small waves until each has at least this many topics (default: 1)",
    )
    verb.add_argument(
        "--timeout", type=_duration_s, default="5m", metavar="TIME", help="for reading transactions (default: 5m)"
    )
    verb.add_argument("--write", type=Path, metavar="FOLDER", help="write a migration file per wave")
    verb.add_argument("--prefix", type=_prefix, default="wave", help="waves are named PREFIX-01, … (default: wave)")
    verb.add_argument("--mirror-host", metavar="CONNECTION", help="for --write: Airflow connection of type ssh")
    verb.add_argument("--spark", metavar="CONNECTION", help="for --write: Airflow connection of type spark")
    verb.add_argument("--kafka-home", metavar="FOLDER", help="for --write: Kafka on the MirrorMaker host")
    _add_json(verb)
    verb.set_defaults(run=partial(_waves, verb))


def _add_acls(verbs: _Verbs) -> None:
    text = "show the rights that a migration needs, as commands of kafka-acls.sh"
    verb = _bare_verb(verbs, "acls", text, "acls demo --source-principal User:reader --target-principal User:writer")
    _add_file(verb)
    for side in ("source", "target"):
        verb.add_argument(
            f"--{side}-principal",
            type=_place,
            default="User:kafka-migration",
            metavar="PRINCIPAL",
            help=f"principal of the login on the {side} (default: User:kafka-migration)",
        )
    _add_json(verb)
    verb.set_defaults(run=acls)


def _add_source_acls(verbs: _Verbs) -> None:
    text = "show the source's access control lists on a migration, as commands for the target"
    verb = _bare_verb(verbs, "source-acls", text, "source-acls demo --principal User:billing")
    _add_file(verb)
    verb.add_argument(
        "--principal",
        type=_place,
        action="append",
        default=[],
        metavar="PRINCIPAL",
        help="only the lists of this user; may be repeated (default: all)",
    )
    _add_json(verb)
    verb.set_defaults(run=source_acls)


def _add_file(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("name", type=_name, help=_NAME_HELP)
    _add_folder(verb)


def _add_folder(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--migrations",
        type=Path,
        metavar="FOLDER",
        help="folder with the migration files (default: the one in Airflow's configuration)",
    )


def _waves(verb: argparse.ArgumentParser, arguments: argparse.Namespace) -> int:
    if arguments.write is not None and None in {arguments.mirror_host, arguments.spark}:
        verb.error("--write needs --mirror-host and --spark: a migration file names both connections")
    return waves(arguments)


def _verb(
    verbs: _Verbs,
    name: str,
    text: str,
    example: str,
    *,
    is_name_optional: bool = False,
) -> _Parser:
    verb = _bare_verb(verbs, name, text, example)
    if is_name_optional:
        verb.add_argument("name", nargs="?", help=f"{_NAME_HELP} (default: a list of all)")
    else:
        verb.add_argument("name", help=_NAME_HELP)
    verb.add_argument(
        "--evidence-root",
        type=_place,
        metavar="PLACE",
        help="folder or URL (default: the one in Airflow's configuration)",
    )
    return verb


def _bare_verb(verbs: _Verbs, name: str, text: str, example: str) -> _Parser:
    return verbs.add_parser(
        name,
        help=text,
        description=f"{text[0].upper()}{text[1:]}.",
        epilog=f"example: kafka-migration {example}\n{EXIT_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def _place(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("an empty value")
    return text


def _name(text: str) -> str:
    """Return the name of a migration; it must not lead out of the folder."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", text):
        raise argparse.ArgumentTypeError("letters, digits, dots, hyphens and underscores")
    return text


def _reason(text: str) -> str:
    """Return the text as one line of printable characters."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())[:MAX_REASON]


def _pattern(text: str) -> str:
    if problem := pattern_problem(text):
        raise argparse.ArgumentTypeError(f"not a regular expression; expected {problem}")
    return text


def _count(text: str) -> int:
    if not re.fullmatch("[1-9][0-9]{0,2}", text):
        raise argparse.ArgumentTypeError("a number from 1 to 999")
    return int(text)


def _prefix(text: str) -> str:
    """Return a valid prefix for migration names; a number of up to five digits is appended to it."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,56}", text):
        raise argparse.ArgumentTypeError("lower-case letters, digits and hyphens, at most 57")
    return text


def _duration_s(text: str) -> int:
    """Return the seconds of a duration in the format of migration files."""
    try:
        return int(TypeAdapter(Duration).validate_python(text))
    except ValidationError as error:
        raise argparse.ArgumentTypeError(error.errors()[0]["msg"].removeprefix("Value error, ")) from None
