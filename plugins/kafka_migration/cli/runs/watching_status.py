"""`status --watch`: the status of an active run until it ends, in place on a terminal, else a line per change."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from kafka_migration.cli.shell.output import say
from kafka_migration.cli.shell.progress_line import end_progress
from kafka_migration.core.text.terminal_text import shown
from kafka_migration.steps.answers.status_answer import ActiveRun, StatusAnswer

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

EVERY_S = 5.0

Read = Callable[[], StatusAnswer]
Lines = Callable[[StatusAnswer], list[str]]


def watched(read: Read, lines: Lines, stream: TextIO, sleep: Callable[[float], None]) -> StatusAnswer:
    """Show the status until no run is active, then once more; return the last one."""
    if stream.isatty():
        return _in_place(read, lines, stream, sleep)
    told = ""
    while (answer := read()).now is not None:
        if (line := brief_line(answer.now)) != told:
            say([line])
            told = line
        sleep(EVERY_S)
    say(lines(answer))
    return answer


def brief_line(now: ActiveRun) -> str:
    """Return the step, its progress and the end of the run on one line, without what changes with time alone."""
    ends = f"ends {now.forecast.words(now.local)}" if now.forecast else ""
    silent = [f"{each.party} does not answer" for each in now.silent]
    return "; ".join(filter(None, (now.step, now.stage, now.words, ends, *silent)))


def _in_place(read: Read, lines: Lines, stream: TextIO, sleep: Callable[[float], None]) -> StatusAnswer:
    # It takes time to import, and only this needs it.
    from rich.console import Console
    from rich.live import Live

    end_progress()
    console = Console(file=stream)
    with Live(console=console, auto_refresh=False, transient=True) as live:
        while (answer := read()).now is not None:
            live.update(_screen(answer, lines, console), refresh=True)
            sleep(EVERY_S)
    say(lines(answer))
    return answer


def _screen(answer: StatusAnswer, lines: Lines, console: Console) -> RenderableType:
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    # As many lines as the terminal has, so that it does not scroll; names are text, never markup.
    text = Text(
        "\n".join(shown(line) for line in lines(answer)[: max(1, console.height - 3)]),
        no_wrap=True,
        overflow="ellipsis",
    )
    share = answer.now.share if answer.now else None
    return text if share is None else Group(text, ProgressBar(total=1.0, completed=share))
