"""The line that says what a command does, as soon as that takes more than two seconds; on standard error alone.

On a terminal the line is rewritten, and erased before the answer. Without a terminal, a line is written each minute.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import TextIO

from kafka_migration.core.text.shortened import brief
from kafka_migration.core.text.terminal_text import duration, shown

QUIET_S = 2.0
RENEW_S = 1.0
# Between two lines where nothing can be rewritten, such as the log of a CI system.
EVERY_S = 60.0
# A carriage return, and the erasure of the whole line.
_ERASE = "\r\x1b[2K"
_COLUMNS = 80


class ProgressLine:
    """What a command does from now to `end`, shown by a thread."""

    def __init__(self, stream: TextIO, phase: str) -> None:
        self.phase = phase
        self._stream, self._began_s, self._ended = stream, time.monotonic(), Event()
        shows = self._in_place if stream.isatty() and os.environ.get("TERM") != "dumb" else self._in_lines
        self._thread = Thread(target=shows, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Erase the line, so that other text may follow."""
        self._ended.set()
        self._thread.join()

    # Nothing is imported below: the other thread may be importing the same modules.
    def _in_place(self) -> None:
        wait_s = QUIET_S
        while not self._ended.wait(wait_s):
            self._write(f"{_ERASE}{brief(self._line(), self._columns() - 1)}")
            wait_s = RENEW_S
        if wait_s == RENEW_S:
            self._write(_ERASE)

    def _in_lines(self) -> None:
        while not self._ended.wait(EVERY_S):
            self._write(f"{self._line()}\n")

    def _write(self, text: str) -> None:
        # A terminal that is gone ends no command.
        with suppress(OSError, ValueError):
            self._stream.write(text)
            self._stream.flush()

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or _COLUMNS
        except (OSError, ValueError):
            return _COLUMNS

    def _line(self) -> str:
        return f"{shown(self.phase)} … ({duration(time.monotonic() - self._began_s)})"


class _Shown:
    """The line of the running command, if it has one. `is_on`: a command runs."""

    is_on = False
    line: ProgressLine | None = None


@contextmanager
def progress_shown() -> Iterator[None]:
    """Let `working` show what a command does."""
    _Shown.is_on = True
    try:
        yield
    finally:
        end_progress()
        _Shown.is_on = False


def working(phase: str) -> None:
    """Name what the command does from now on, such as `Reading both clusters`, until it writes something."""
    if _Shown.is_on:
        _Shown.line = _Shown.line or ProgressLine(sys.stderr, phase)
        _Shown.line.phase = phase


def end_progress() -> None:
    """Erase the line; everything that is written calls this first."""
    if _Shown.line is not None:
        _Shown.line.end()
        _Shown.line = None
