"""Shell completion offers verbs, options, values of options and names of migrations."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_migration.cli.files.completion_verb import SHELLS
from tests.conftest import MIGRATION_TEXT
from tests.programs import installed

PLUGINS = Path(__file__).parents[3] / "plugins"
# How each shell completes a line, given as the first argument.
ASK = {
    "bash": 'eval "$(kafka-migration completion bash)"; COMP_LINE="$1"; COMP_POINT=${#1}; COMP_TYPE=9; '
    'COMP_WORDBREAKS=" "; _python_argcomplete kafka-migration; printf "%s\\n" "${COMPREPLY[@]}"',
    "fish": 'kafka-migration completion fish | source; complete --do-complete "$argv[1]"',
}

# Runs the command for each set of variables of a file of JSON, each in a process of its own, which begins as a copy of
# one that has loaded the verbs.
ANSWER_ALL = """
import json, os, sys
from kafka_migration.cli.main import main, parser
sys.argv = ["kafka-migration"]
parser()
for variables in json.load(sys.stdin):
    if not (child := os.fork()):
        os.environ.update(variables)
        os._exit(main())
    os.waitpid(child, 0)
"""
LINES = {
    "kafka-migration ver": ["verdict"],
    "kafka-migration verdict sh": ["shelf", "shop"],
    "kafka-migration check shop she": ["shelf"],
    "kafka-migration preflight shop --mode f": ["fail_back", "follow"],
    "kafka-migration status --out": ["--output"],
    "kafka-migration verdict shop -o j": ["json"],
    "kafka-migration completion z": ["zsh"],
    "kafka-migration explain GAP": ["GAP", "GAP_DURING_RUN"],
    "kafka-migration explain copy_d": ["copy_differs"],
    "kafka-migration decommission shop --qui": ["--quiet-for"],
}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment with the command, and with two migration files in the configured folder."""
    home = tmp_path_factory.mktemp("home")
    command = home / "bin" / "kafka-migration"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m kafka_migration "$@"\n')
    command.chmod(0o755)
    folder = home / "migrations"
    folder.mkdir()
    for name in ("shop", "shelf"):
        (folder / f"{name}.yaml").write_text(MIGRATION_TEXT)
    return {
        "PATH": f"{command.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(PLUGINS),
        "HOME": str(home),
        "AIRFLOW__KAFKA_MIGRATION__MIGRATIONS_FOLDER": str(folder),
    }


def asked(environment: dict[str, str], line: str, shell: str) -> dict[str, str]:
    """Return the variables with which a shell asks to complete a line."""
    return {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_SHELL": shell,
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer_of(environment, line, shell)),
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
    }


def answer_of(environment: dict[str, str], line: str, shell: str) -> Path:
    """Return the file that gets the answer."""
    return Path(environment["HOME"]) / f"{shell} {line.replace('/', ' ')}"


def offered(environment: dict[str, str], line: str, shell: str) -> list[str]:
    """Return what the command has answered to a shell that completes a line."""
    lines = answer_of(environment, line, shell).read_text().split("\n")
    return sorted(each.partition("\t")[0].partition(":")[0] for each in lines)


@pytest.fixture(scope="module")
def answered(environment: dict[str, str]) -> dict[str, str]:
    """The same environment, after each shell has asked for each line."""
    questions = [asked(environment, line, shell) for line in LINES for shell in SHELLS]
    subprocess.run(
        [sys.executable, "-c", ANSWER_ALL], env=environment, input=json.dumps(questions), text=True, check=True
    )
    return environment


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(("line", "expected"), LINES.items())
def test_words_that_fit_are_offered(answered: dict[str, str], shell: str, line: str, expected: list[str]) -> None:
    """Each shell is offered the verbs, names, options and values that begin with what was typed."""
    assert expected == offered(answered, line, shell)


def test_names_come_from_the_folder_of_the_option(environment: dict[str, str], tmp_path: Path) -> None:
    """With --migrations the names are those of its files."""
    (tmp_path / "bank.yaml").write_text(MIGRATION_TEXT)

    line = f"kafka-migration acls --migrations {tmp_path} b"
    subprocess.run(["kafka-migration"], env=environment | asked(environment, line, "bash"), check=True)

    assert ["bank"] == offered(environment, line, "bash")


@pytest.mark.parametrize("shell", ASK)
def test_the_shell_takes_the_script(environment: dict[str, str], shell: str) -> None:
    """A real shell reads the script and completes a name with it."""
    line = "kafka-migration verdict sho"
    begin = [installed(shell), "-c", ASK[shell], *(["shell"] if shell == "bash" else []), line]
    done = subprocess.run(begin, env=environment, check=True, capture_output=True, text=True)

    assert "shop" == done.stdout.strip().split()[-1]


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_has_a_script(environment: dict[str, str], shell: str) -> None:
    """The script names the command for which it completes."""
    begin = ["kafka-migration", "completion", shell]
    done = subprocess.run(begin, env=environment, check=True, capture_output=True, text=True)

    assert "kafka-migration" in done.stdout
    assert "" == done.stderr
