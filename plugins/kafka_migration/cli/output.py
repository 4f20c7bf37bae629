"""How a verb ends and how it writes: exit codes, and plain aligned lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum


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


def say(lines: Iterable[str]) -> None:
    """Write lines to standard output, at once: somebody may be waiting for the next."""
    for line in lines:
        print(line, flush=True)
