"""The parser of the command line, and what an error makes of the exit code."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence

from pydantic import TypeAdapter, ValidationError

from kafka_migration import __version__
from kafka_migration.cli.decommission import decommission
from kafka_migration.cli.output import ExitCode
from kafka_migration.cli.status import status
from kafka_migration.cli.stop import stop
from kafka_migration.cli.verdict import verdict
from kafka_migration.core.errors import MigrationError, Refused
from kafka_migration.spec.scalars import Duration

# As a shell reports a command that was interrupted.
INTERRUPTED = 130
MAX_REASON = 500


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code; wrong usage exits with 2."""
    arguments = parser().parse_args(argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that cannot show a letter is no reason to fail half-way.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        return int(arguments.run(arguments))
    except BrokenPipeError:
        # Who reads has heard enough; what was asked is done. Python would complain once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(ExitCode.DONE)
    except Refused as refused:
        return _end(ExitCode.REFUSED, str(refused))
    except (MigrationError, ImportError, OSError, ValueError) as error:
        return _end(ExitCode.FAILED, f"failed: {type(error).__name__}: {error}")
    except KeyboardInterrupt:
        return INTERRUPTED


def parser() -> argparse.ArgumentParser:
    """Return the parser of all verbs."""
    made = argparse.ArgumentParser("kafka-migration", description="Look at, and steer, migrations of Kafka clusters.")
    made.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    verbs = made.add_subparsers(title="verbs", metavar="VERB", required=True)
    _add_status(verbs)
    _add_verdict(verbs)
    _add_stop(verbs)
    _add_decommission(verbs)
    return made


def _add_status(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verb = _verb(verbs, "status", "tell where a migration stands, from its ledger")
    _add_json(verb)
    verb.set_defaults(run=status)


def _add_verdict(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verb = _verb(verbs, "verdict", "tell what all runs together prove of each topic, from the ledger")
    _add_json(verb)
    verb.set_defaults(run=verdict)


def _add_json(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--json", action="store_true", help="one JSON document instead of lines")


def _add_stop(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verb = _verb(verbs, "stop", "ask the run that mirrors now to end mirroring and validate what was copied")
    verb.add_argument("--reason", type=_reason, default="", metavar="TEXT", help="kept in the evidence")
    verb.add_argument("--wait", action="store_true", help="wait until MirrorMaker has stopped")
    verb.add_argument("--timeout", type=_duration_s, default="10m", metavar="TIME", help="for --wait (default: 10m)")
    verb.set_defaults(run=stop)


def _add_decommission(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    verb = _verb(verbs, "decommission", "tell whether the old cluster may be switched off, or why not")
    verb.add_argument(
        "--quiet", type=_duration_s, default="24h", metavar="TIME", help="nothing written for so long (default: 24h)"
    )
    verb.add_argument(
        "--overlap",
        type=_duration_s,
        metavar="TIME",
        help="how long after a cutover one may go back (default: as long as the source keeps a topic's records)",
    )
    _add_json(verb)
    verb.set_defaults(run=decommission)


def _verb(verbs: argparse._SubParsersAction[argparse.ArgumentParser], name: str, text: str) -> argparse.ArgumentParser:
    verb = verbs.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.", allow_abbrev=False)
    verb.add_argument("name", help="name of the migration, as its file is called")
    verb.add_argument(
        "--evidence-root", type=_place, metavar="PLACE", help="folder or URL (default: that of Airflow's configuration)"
    )
    return verb


def _place(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("an empty place")
    return text


def _reason(text: str) -> str:
    """Return a text of one line that a terminal can show as it is."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())[:MAX_REASON]


def _duration_s(text: str) -> int:
    """Return the seconds of a duration in the format of migration files."""
    try:
        return int(TypeAdapter(Duration).validate_python(text))
    except ValidationError as error:
        raise argparse.ArgumentTypeError(error.errors()[0]["msg"].removeprefix("Value error, ")) from None


def _end(code: ExitCode, text: str) -> int:
    sys.stderr.write(f"{text}\n")
    return int(code)
