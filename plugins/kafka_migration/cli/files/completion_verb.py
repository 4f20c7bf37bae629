"""`kafka-migration completion`: the script with which a shell completes verbs, options and names of migrations."""

from __future__ import annotations

import argparse

from kafka_migration.cli.shell.arguments import Verbs, add_bare_verb, add_output
from kafka_migration.cli.shell.output import ExitCode, respond
from kafka_migration.cli.shell.verb_table import PROGRAM

COMPLETION_SCHEMA = 1
SHELLS = ("bash", "zsh", "fish")


def add_completion(verbs: Verbs) -> None:
    """Add the verb `completion`."""
    verb = add_bare_verb(verbs, completion, "completion", "completion bash")
    verb.add_argument("shell", choices=SHELLS, help="the shell that reads the script")
    add_output(verb, "script", "json")


def completion(arguments: argparse.Namespace) -> int:
    """Print the script, as it is or as a field of one JSON document."""
    # Only this verb, and a shell that completes, need it.
    from argcomplete.shell_integration import shellcode

    script = shellcode([PROGRAM], shell=arguments.shell).strip()
    respond(arguments, {"schema": COMPLETION_SCHEMA, "shell": arguments.shell, "script": script}, script.split("\n"))
    return ExitCode.DONE
