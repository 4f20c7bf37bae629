"""The command line: its verbs, and the exit code for each error."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence

from kafka_migration import __version__
from kafka_migration.cli.acls import add_acls
from kafka_migration.cli.arguments import VerbParser
from kafka_migration.cli.check import add_check
from kafka_migration.cli.completion import add_completion, answer_shell
from kafka_migration.cli.decommission import add_decommission
from kafka_migration.cli.discover import add_discover
from kafka_migration.cli.import_files import add_import
from kafka_migration.cli.lint import add_lint
from kafka_migration.cli.output import EXIT_CODES, ExitCode, complain, only_answers
from kafka_migration.cli.plan import add_plan
from kafka_migration.cli.preflight import add_preflight
from kafka_migration.cli.problems import findings_of
from kafka_migration.cli.schema import add_schema
from kafka_migration.cli.source_acls import add_source_acls
from kafka_migration.cli.status import add_status
from kafka_migration.cli.stop import add_stop
from kafka_migration.cli.trigger import add_trigger
from kafka_migration.cli.verdict import add_verdict
from kafka_migration.cli.waves import add_waves
from kafka_migration.core.findings.errors import Refused

# The exit code that shells use for an interrupted command.
INTERRUPTED = 130

# In the order of --help.
VERBS = (
    add_check,
    add_preflight,
    add_plan,
    add_trigger,
    add_status,
    add_verdict,
    add_stop,
    add_decommission,
    add_waves,
    add_acls,
    add_source_acls,
    add_discover,
    add_lint,
    add_import,
    add_schema,
    add_completion,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code; wrong usage exits with 2."""
    program = parser()
    answer_shell(program)
    arguments = program.parse_args(argv)
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


def parser() -> argparse.ArgumentParser:
    """Return the parser of all verbs."""
    made = VerbParser(
        "kafka-migration",
        description="Inspect and control migrations of Kafka clusters.",
        epilog=EXIT_CODES,
    )
    made.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    verbs = made.add_subparsers(title="verbs", metavar="VERB", required=True)
    for add in VERBS:
        add(verbs)
    return made
