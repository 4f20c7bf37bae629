"""The command line: its verbs, and the exit code for each error."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence

from kafka_migration import __version__
from kafka_migration.cli.files.acls_verb import add_acls
from kafka_migration.cli.files.check_verb import add_check
from kafka_migration.cli.files.completion_verb import add_completion, answer_shell
from kafka_migration.cli.files.discover_verb import add_discover
from kafka_migration.cli.files.import_verb import add_import
from kafka_migration.cli.files.lint_verb import add_lint
from kafka_migration.cli.files.schema_verb import add_schema
from kafka_migration.cli.files.source_acls_verb import add_source_acls
from kafka_migration.cli.files.waves_verb import add_waves
from kafka_migration.cli.runs.decommission_verb import add_decommission
from kafka_migration.cli.runs.plan_verb import add_plan
from kafka_migration.cli.runs.preflight_verb import add_preflight
from kafka_migration.cli.runs.status_verb import add_status
from kafka_migration.cli.runs.stop_verb import add_stop
from kafka_migration.cli.runs.trigger_verb import add_trigger
from kafka_migration.cli.runs.verdict_verb import add_verdict
from kafka_migration.cli.shell.arguments import VerbParser
from kafka_migration.cli.shell.output import EXIT_CODES, ExitCode, complain, only_answers
from kafka_migration.cli.shell.usage_problems import findings_of
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
