"""Shows the demo: live on a terminal, as plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from sandbox.airflow_api import TaskState
from sandbox.demo.status import RunStatus, new_lines, task_words

# Between two progress lines in a file or a pipe.
PROGRESS_INTERVAL_S = 5.0
_COLOURS = {
    "success": "green",
    "failed": "bold red",
    "upstream_failed": "red",
    "skipped": "yellow",
    "running": "bold cyan",
    "deferred": "cyan",
    "up_for_retry": "yellow",
}


class RunView(Protocol):
    """The part of the screen that shows one run."""

    def show(self, status: RunStatus) -> None:
        """Show the run's progress."""


class Display(Protocol):
    """The demo's output."""

    def section(self, title: str) -> None:
        """Begin a chapter of the story."""

    def line(self, text: str) -> None:
        """Print a line."""

    def run_view(self) -> AbstractContextManager[RunView]:
        """Return a context manager over the view of one run."""


def open_display() -> Display:
    """Return the display that suits standard output."""
    return TerminalDisplay() if sys.stdout.isatty() else PlainDisplay()


class PlainDisplay:
    """Plain lines, each written at once."""

    def section(self, title: str) -> None:
        """Print the title between empty lines."""
        print(f"\n== {title}\n", flush=True)

    def line(self, text: str) -> None:
        """Print a line."""
        print(text, flush=True)

    @contextmanager
    def run_view(self) -> Iterator[RunView]:
        """Print what changes."""
        yield _PlainRunView()


class _PlainRunView:
    """Prints task changes at once and progress every few seconds."""

    def __init__(self) -> None:
        self._before: RunStatus | None = None
        self._progress_at_s = float("-inf")

    def show(self, status: RunStatus) -> None:
        """Print what has changed since the last time."""
        shown = self._before.progress if self._before else ""
        is_due = status.elapsed_s - self._progress_at_s >= PROGRESS_INTERVAL_S
        progress = status.progress if is_due or status.run.is_finished else shown
        now = RunStatus(status.run, status.elapsed_s, progress, status.sent_records)
        for text in new_lines(self._before, now):
            print(text, flush=True)
        if progress != shown:
            self._progress_at_s = status.elapsed_s
        self._before = now


class TerminalDisplay:
    """Rich's console with a table that is redrawn in place."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(highlight=False)

    def section(self, title: str) -> None:
        """Print the title as a rule."""
        self._console.print()
        self._console.rule(Text(title, style="bold"), align="left")

    def line(self, text: str) -> None:
        """Print a line as it is."""
        self._console.print(text, markup=False)

    @contextmanager
    def run_view(self) -> Iterator[RunView]:
        """Draw the run's table in place; its last state stays."""
        with Live(console=self._console, refresh_per_second=4) as live:
            yield _LiveRunView(live)


class _LiveRunView:
    """The table of tasks above the line of progress."""

    def __init__(self, live: Live) -> None:
        self._live = live

    def show(self, status: RunStatus) -> None:
        """Draw the status."""
        self._live.update(draw(status))


def draw(status: RunStatus) -> Group:
    """Return a status as something Rich can print."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for task in status.run.tasks:
        table.add_row(*_cells(task))
    sent = "" if status.sent_records is None else f" · {status.sent_records:,} records sent meanwhile"
    footer = Text(f"{status.run.state} for {status.elapsed_s:.0f} s{sent}", style="dim")
    return Group(table, Text(status.progress, style="cyan"), footer)


def _cells(task: TaskState) -> tuple[Text, Text]:
    return Text(task.task_id), Text(task_words(task), style=_COLOURS.get(task.state or "", "dim"))
