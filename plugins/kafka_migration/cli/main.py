"""The command line: its verbs, and the exit code for each error."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module

from kafka_migration import __version__
from kafka_migration.cli.shell.arguments import VerbParser, Verbs
from kafka_migration.cli.shell.output import EXIT_CODES, ExitCode, complain, only_answers

# The exit code that shells use for an interrupted command.
INTERRUPTED = 130
# The variable with which a shell asks for completions.
COMPLETES = "_ARGCOMPLETE"
# Each verb with its room, in the order of --help. Its module `<verb>_verb` has a function `add_<verb>`.
VERBS = {
    "check": "files",
    "preflight": "runs",
    "plan": "runs",
    "trigger": "runs",
    "status": "runs",
    "verdict": "runs",
    "ready": "runs",
    "stop": "runs",
    "decommission": "runs",
    "waves": "files",
    "acls": "files",
    "source-acls": "files",
    "discover": "files",
    "lint": "files",
    "spark-archive": "files",
    "import": "files",
    "schema": "files",
    "completion": "files",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code; wrong usage exits with 2."""
    words = sys.argv[1:] if argv is None else argv
    program = parser(_needed(words))
    _answer_shell(program)
    arguments = program.parse_args(words)
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
        return _failed(error)


def parser(needed: Iterable[str] = VERBS) -> argparse.ArgumentParser:
    """Return the parser of some verbs, by default of all."""
    made = VerbParser(
        "kafka-migration",
        description="Inspect and control migrations of Kafka clusters.",
        epilog=EXIT_CODES,
    )
    made.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    verbs: Verbs = made.add_subparsers(title="verbs", metavar="VERB", required=True)
    for verb in needed:
        _add(verbs, verb)
    return made


def _needed(words: Sequence[str]) -> Iterable[str]:
    """Return the verbs that the command line can mean; each import of a verb takes time."""
    # A shell that completes a command asks for the names of all verbs.
    if COMPLETES in os.environ or not words:
        return VERBS
    if words[0] == "--version":
        return ()
    return words[:1] if words[0] in VERBS else VERBS


def _add(verbs: Verbs, verb: str) -> None:
    name = verb.replace("-", "_")
    module = import_module(f"kafka_migration.cli.{VERBS[verb]}.{name}_verb")
    getattr(module, f"add_{name}")(verbs)


def _answer_shell(program: argparse.ArgumentParser) -> None:
    """Answer a shell that completes a command, and exit; return at once if no shell has asked."""
    if COMPLETES not in os.environ:
        return
    import argcomplete

    argcomplete.autocomplete(program, always_complete_options=False)


def _failed(error: Exception) -> int:
    """Show the findings of an error, each with a remedy, and return the exit code; the user gets no traceback."""
    from kafka_migration.cli.shell.usage_problems import findings_of
    from kafka_migration.core.findings.errors import Refused

    complain(findings_of(error))
    return int(ExitCode.REFUSED if isinstance(error, Refused) else ExitCode.FAILED)
