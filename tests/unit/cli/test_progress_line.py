"""Rules of the line that says what a command does."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import socket
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PLUGINS = Path(__file__).parents[3] / "plugins"
PHASE = "Reading clusters"
# Works until a line is written to its standard input, and then gives its answer.
PROGRAM = f"""
import sys
from kafka_migration.cli.shell import progress_line
from kafka_migration.cli.shell.output import only_answers, say_json
progress_line.QUIET_S, progress_line.EVERY_S = map(float, sys.argv[1:])
with only_answers(), progress_line.progress_shown():
    progress_line.working({PHASE!r})
    sys.stdin.readline()
    say_json({{"schema": 1}})
"""
FOREVER_S = "1000"
ERASE = b"\r\x1b[2K"


@contextmanager
def started(arguments: list[str], stderr: int) -> Iterator[subprocess.Popen[bytes]]:
    """Start a Python of its own, whose standard input and output are pipes."""
    environment = {**os.environ, "PYTHONPATH": str(PLUGINS), "TERM": "xterm"}
    begin = [sys.executable, *arguments]
    with subprocess.Popen(
        begin, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, env=environment
    ) as process:
        yield process


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """Both ends of a terminal: of the one who looks at it, and of the program."""
    ours, theirs = pty.openpty()
    yield ours, theirs
    os.close(ours)


def set_columns(terminal: int, columns: int) -> None:
    """Set the size of a terminal."""
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


def seen(ours: int, until: bytes = b"\0") -> bytes:
    """Return what a terminal shows until a text is there, or until the program has closed it."""
    shown = b""
    while until not in shown:
        try:
            shown += os.read(ours, 4096)
        except OSError:
            # Linux tells the end of a terminal as an error.
            break
    return shown


def test_terminal_has_one_line_that_is_erased(terminal: tuple[int, int]) -> None:
    """The line is rewritten with its time and fits the terminal, and JSON on standard output is whole."""
    ours, theirs = terminal
    set_columns(theirs, 30)
    with started(["-c", PROGRAM, "0", FOREVER_S], theirs) as process:
        os.close(theirs)
        shown = seen(ours, b"s)")
        # Wait for the line to be written again, on a terminal that is narrow now.
        set_columns(ours, 10)
        shown += seen(ours, "…".encode())
        out, _ = process.communicate(b"\n")
    lines = (shown + seen(ours)).split(ERASE)

    assert {"schema": 1} == json.loads(out)
    assert re.fullmatch(rf"{PHASE} … \([0-9]+s\)", lines[1].decode())
    assert ["Reading …"] == list(dict.fromkeys(each.decode() for each in lines[2:-1]))
    assert (b"", b"") == (lines[0], lines[-1])


def test_without_a_terminal_there_are_whole_lines(tmp_path: Path) -> None:
    """A log gets a line now and then, without signs of a terminal."""
    with started(["-c", PROGRAM, "0", "0.01"], subprocess.PIPE) as process:
        assert process.stderr is not None
        line = process.stderr.readline().decode()
        out, _ = process.communicate(b"\n")

    assert (f"{PHASE} … (0s)\n", {"schema": 1}) == (line, json.loads(out))


@pytest.mark.parametrize("is_terminal", [True, False])
def test_quick_command_shows_nothing(terminal: tuple[int, int], is_terminal: bool) -> None:
    """Before its time the line is shown nowhere."""
    ours, theirs = terminal
    with started(["-c", PROGRAM, FOREVER_S, FOREVER_S], theirs if is_terminal else subprocess.PIPE) as process:
        os.close(theirs)
        out, err = process.communicate(b"\n")

    assert (b"", {"schema": 1}) == (seen(ours) + (err or b""), json.loads(out))


def test_verb_that_waits_says_for_what(terminal: tuple[int, int]) -> None:
    """A real verb that gets no answer names what it does; its finding follows on lines of their own."""
    ours, theirs = terminal
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with started(["-m", "kafka_migration", "trigger", "shop", "--server", address], theirs) as process:
            os.close(theirs)
            assert b"Asking Airflow's REST API \xe2\x80\xa6 (" in seen(ours, b"s)")
            silent.close()
            out, _ = process.communicate()
            rest = seen(ours)

    assert (b"", 1) == (out, process.returncode)
    assert rest.rpartition(ERASE)[2].startswith("AIRFLOW_API_UNREACHABLE · ".encode())
