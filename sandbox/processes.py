"""Which processes belong to a sandbox, and how they are ended. Linux only; standard library only.

A process belongs to it if its environment carries the marker, if the sandbox started it itself, or if it
descends from such a process. The marker alone is not enough: sshd overwrites the memory that
`/proc/PID/environ` shows with its process title.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

MARKER = "KAFKA_MIGRATION_SANDBOX"
POLL_S = 0.1
PROC = Path("/proc")


@dataclass(frozen=True)
class Process:
    """A process that cannot be mistaken for a later one of the same pid: pid and start time in clock ticks."""

    pid: int
    started_ticks: int


@dataclass(frozen=True)
class _Row:
    process: Process
    parent_pid: int


def identify(pid: int) -> Process | None:
    """Return the process of this pid, or `None` when it is gone or only waits to be collected."""
    row = _row(pid)
    return row.process if row else None


def is_alive(process: Process) -> bool:
    """True while this very process runs."""
    return identify(process.pid) == process


def belonging(marker: str, tracked: Iterable[Process] = ()) -> set[Process]:
    """Return the living processes of the sandbox with this marker value, never the caller or its ancestors."""
    rows = _rows()
    roots = {pid for pid, row in rows.items() if _carries(pid, marker)}
    roots |= {process.pid for process in tracked if _is(rows.get(process.pid), process)}
    return {rows[pid].process for pid in _with_descendants(roots, rows) - _own_line(rows)}


def end_all(marker: str, tracked: Iterable[Process] = (), grace_s: float = 5.0) -> set[Process]:
    """TERM everything that belongs to the sandbox, KILL what is left after the grace; return the survivors.

    What was seen once stays on the list, so a child whose parent went first is still found.
    """
    seen = set(tracked)
    for number, wait_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, 10.0)):
        if not _end(marker, seen, number, wait_s):
            return set()
    return belonging(marker, seen)


def send(process: Process, number: signal.Signals) -> None:
    """Send a signal to this very process; nothing happens when it is gone."""
    if is_alive(process):
        try:
            os.kill(process.pid, number)
        except ProcessLookupError:
            return


def _end(marker: str, seen: set[Process], number: signal.Signals, wait_s: float) -> bool:
    """Signal each process once, newcomers included, until none is left; return whether some are."""
    deadline = time.monotonic() + wait_s
    signalled: set[Process] = set()
    while alive := belonging(marker, seen):
        seen |= alive
        for process in alive - signalled:
            send(process, number)
        signalled |= alive
        if time.monotonic() > deadline:
            return True
        time.sleep(POLL_S)
    return False


def _rows() -> dict[int, _Row]:
    found = (_row(int(entry.name)) for entry in PROC.iterdir() if entry.name.isdigit())
    return {row.process.pid: row for row in found if row}


def _row(pid: int) -> _Row | None:
    try:
        # The command's name is in parentheses and may hold any character: count fields after the last one.
        fields = (PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, parent_pid, started_ticks = fields[0], int(fields[1]), int(fields[19])
    return None if state in "ZX" else _Row(Process(pid, started_ticks), parent_pid)


def _carries(pid: int, marker: str) -> bool:
    try:
        environment = (PROC / str(pid) / "environ").read_bytes()
    except OSError:  # another user's process, or gone
        return False
    return f"{MARKER}={marker}".encode() in environment.split(b"\0")


def _is(row: _Row | None, process: Process) -> bool:
    return row is not None and row.process == process


def _with_descendants(roots: set[int], rows: dict[int, _Row]) -> set[int]:
    found, fresh = set(roots), set(roots)
    while fresh:
        fresh = {pid for pid, row in rows.items() if row.parent_pid in fresh} - found
        found |= fresh
    return found


def _own_line(rows: dict[int, _Row]) -> set[int]:
    line, pid = set(), os.getpid()
    while pid in rows:
        line.add(pid)
        pid = rows[pid].parent_pid
    return line
