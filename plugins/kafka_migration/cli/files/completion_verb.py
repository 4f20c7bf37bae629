"""`kafka-migration completion`: the script with which a shell completes verbs, options and names of migrations."""

from __future__ import annotations

import argparse

from kafka_migration.cli.shell.arguments import Verbs, add_bare_verb
from kafka_migration.cli.shell.output import ExitCode, say

PROGRAM = "kafka-migration"
SHELLS = ("bash", "zsh", "fish")


def add_completion(verbs: Verbs) -> None:
    """Add the verb `completion`."""
    verb = add_bare_verb(verbs, completion, "completion", "completion bash")
    verb.add_argument("shell", choices=SHELLS, help="the shell that reads the script")


def completion(arguments: argparse.Namespace) -> int:
    """Print the script."""
    # Only this verb, and a shell that completes, need it.
    from argcomplete.shell_integration import shellcode

    say(shellcode([PROGRAM], shell=arguments.shell).strip().split("\n"))
    return ExitCode.DONE
