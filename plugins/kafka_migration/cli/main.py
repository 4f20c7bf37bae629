"""The command line: its verbs, and the exit code for each error."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Collection, Sequence
from importlib import import_module

from kafka_migration import __version__
from kafka_migration.cli.shell.arguments import VerbParser, Verbs
from kafka_migration.cli.shell.output import EXIT_CODES, ExitCode, complain, only_answers
from kafka_migration.cli.shell.progress_line import progress_shown
from kafka_migration.cli.shell.verb_table import PROGRAM, VERBS, grouped_verbs

# The exit code that shells use for an interrupted command.
INTERRUPTED = 130
# The variable with which a shell asks for completions.
COMPLETES = "_ARGCOMPLETE"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code; wrong usage exits with 2.

    A command without arguments is wrong usage too: a script whose variable is empty must not succeed.
    """
    words = sys.argv[1:] if argv is None else argv
    program = parser(_needed(words))
    _answer_shell(program)
    if not words:
        program.print_help(sys.stderr)
        return int(ExitCode.USAGE)
    arguments = program.parse_args(words)
    if "run" not in arguments:
        program.error("the verb is missing")
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Do not fail because the terminal cannot show a character.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with only_answers(), progress_shown():
            return int(arguments.run(arguments))
    except BrokenPipeError:
        # The reader closed the pipe; the command itself is done. Without this, Python reports the pipe again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(ExitCode.DONE)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        return _failed(error)


def parser(needed: Collection[str] = VERBS) -> argparse.ArgumentParser:
    """Return the parser; it knows the arguments of the needed verbs, by default of all, and the names of the others."""
    made = VerbParser(
        PROGRAM,
        usage="%(prog)s VERB ...",
        description="\n".join(("Inspect and control migrations of Kafka clusters.", *grouped_verbs())),
        epilog=f"The options of a verb: {PROGRAM} VERB --help\n{EXIT_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    verbs: Verbs = made.add_subparsers(prog=PROGRAM, metavar="VERB", help=argparse.SUPPRESS)
    for verb in VERBS:
        if verb in needed:
            _add(verbs, verb)
        else:
            verbs.add_parser(verb)
    return made


def _needed(words: Sequence[str]) -> Collection[str]:
    """Return the verbs whose arguments the command line can have; each import of a verb takes time."""
    return VERBS if COMPLETES in os.environ else [word for word in words if word in VERBS][:1]


def _add(verbs: Verbs, verb: str) -> None:
    name = verb.replace("-", "_")
    module = import_module(f"kafka_migration.cli.{VERBS[verb].room}.{name}_verb")
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
    from kafka_migration.core.findings.codes import Code
    from kafka_migration.core.findings.errors import Refused

    complain(findings := findings_of(error))
    if all(finding.code is Code.COMMAND_INVALID for finding in findings):
        return int(ExitCode.USAGE)
    return int(ExitCode.REFUSED if isinstance(error, Refused) else ExitCode.FAILED)
