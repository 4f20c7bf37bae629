"""Files that the command line reads: what is no regular file is refused and never waited for."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path

import pytest

from kafka_migration.cli.shell.airflow_server import CA_FILE

pytestmark = pytest.mark.unit

ROOT = Path(__file__).parents[3]
LIMIT_S = 120
# Each command line, and the code with which it refuses the file `x.yaml`.
COMMANDS = {
    "lint x.yaml": "MIRROR_FILE_UNREADABLE",
    "import x.yaml --name y": "MIRROR_FILE_UNREADABLE",
    "check --migrations .": "MIGRATION_FILE_MISSING",
    "trigger y --server https://127.0.0.1:1": "COMMAND_INVALID",
}
RUN = """
import os, sys
from kafka_migration.cli.main import main
place = sys.argv.index("--")
for folder in sys.argv[1:place]:
    os.chdir(folder)
    print("@", folder, flush=True)
    for command in sys.argv[place + 1 :]:
        print(">", command, flush=True)
        print("<", main(command.split()), flush=True)
"""


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


KINDS: dict[str, Callable[[Path], None]] = {
    "pipe": os.mkfifo,
    "directory": Path.mkdir,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "terminal": lambda path: path.symlink_to("/dev/tty"),
    "socket": _socket,
    "loop of links": lambda path: path.symlink_to(path),
    "missing": lambda path: path.symlink_to("nowhere"),
}


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each command prints, by the kind of file; one process runs them all, because its start takes longest."""
    folders = {kind: tmp_path_factory.mktemp("kind") for kind in KINDS}
    for kind, folder in folders.items():
        # The path of a socket has a limit of a hundred letters, so it is relative.
        with chdir(folder):
            KINDS[kind](Path("x.yaml"))
    done = subprocess.run(
        [sys.executable, "-c", RUN, *map(str, folders.values()), "--", *COMMANDS],
        env={**os.environ, "PYTHONPATH": str(ROOT / "plugins"), CA_FILE: "x.yaml"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    return dict(zip(folders, done.stdout.split("@ ")[1:], strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_no_verb_waits_for_a_file(printed: dict[str, str], kind: str) -> None:
    """Pipes, devices, sockets, directories and loops of links are findings with a code, and each verb ends."""
    answers = printed[kind].split("> ")[1:]

    assert len(answers) == len(COMMANDS), printed[kind]
    assert [code for code, answer in zip(COMMANDS.values(), answers, strict=True) if code not in answer] == []
    assert all(answer.rstrip().endswith(("< 1", "< 2", "< 3")) for answer in answers), printed[kind]
