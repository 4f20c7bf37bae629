"""The line that says what a command does, as soon as that takes more than two seconds; on standard error alone.

On a terminal the line is rewritten, and erased before the answer. Without a terminal, a line is written each minute.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TextIO

from kafka_migration.core.text.terminal_text import duration, shown

QUIET_S = 2.0
RENEW_S = 1.0
# Between two lines where nothing can be rewritten, such as the log of a CI system.
EVERY_S = 60.0


class ProgressLine:
    """What a command does from `tell` to `end`, shown by a thread."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._phase, self._began_s = stream, "", time.monotonic()
        self._ended = Event()
        self._thread = Thread(target=self._show, daemon=True)
        self._thread.start()

    def tell(self, phase: str) -> None:
        """Name what the command does from now on."""
        self._phase = phase

    def end(self) -> None:
        """Erase the line, so that other text may follow."""
        self._ended.set()
        self._thread.join()

    def _show(self) -> None:
        if self._stream.isatty():
            if not self._ended.wait(QUIET_S):
                self._in_place()
        else:
            while not self._ended.wait(EVERY_S):
                print(self._line(), file=self._stream, flush=True)

    def _in_place(self) -> None:
        # They take time to import, and few commands take so long.
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        console = Console(file=self._stream)
        # The streams stay as they are: other threads write to them.
        with Live(
            console=console, transient=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False
        ) as live:
            while True:
                # Names are text, never markup.
                live.update(Text(self._line(), no_wrap=True, overflow="ellipsis"), refresh=True)
                if self._ended.wait(RENEW_S):
                    return

    def _line(self) -> str:
        return f"{shown(self._phase)} … ({duration(time.monotonic() - self._began_s)})"


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
        _Shown.line = _Shown.line or ProgressLine(sys.stderr)
        _Shown.line.tell(phase)


def end_progress() -> None:
    """Erase the line; everything that is written calls this first."""
    if _Shown.line is not None:
        _Shown.line.end()
        _Shown.line = None
