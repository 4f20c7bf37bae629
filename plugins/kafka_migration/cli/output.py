"""How a verb ends and how it writes: exit codes, and plain aligned lines."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from enum import IntEnum
from typing import TextIO

_answers: ContextVar[TextIO | None] = ContextVar("answers", default=None)


class ExitCode(IntEnum):
    """What the exit code of the command says; 2 (usage) is argparse's own."""

    DONE = 0
    FAILED = 1
    REFUSED = 3
    PARTLY_DONE = 4
    NOT_READY = 5


def aligned(rows: Iterable[Sequence[str]]) -> list[str]:
    """Return one line per row, each column as wide as its widest cell."""
    cells = [tuple(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]


@contextmanager
def only_answers() -> Iterator[None]:
    """Keep standard output for what `say` writes; what Airflow and its providers log there goes to standard error."""
    token = _answers.set(sys.stdout)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _answers.reset(token)


def say(lines: Iterable[str]) -> None:
    """Write lines to standard output, at once: somebody may be waiting for the next."""
    for line in lines:
        print(line, file=_answers.get(), flush=True)
