"""The watchdog of a sandbox: `python -m sandbox.reaper OWNER_PID MARKER STATE_FILE`.

It reads `pid ticks` lines of started parts from its standard input. When that ends, or when the owner is
gone (Ctrl-C, SIGTERM and kill -9 look alike from here), it ends everything that belongs to the sandbox and
removes the state file. After an orderly stop it has nothing to do.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from pathlib import Path

from sandbox.processes import Process, end_all, identify, is_alive

POLL_S = 1.0
INPUT = 0


def main() -> int:
    """Wait for the owner's end, then clean up; 1 when something survived SIGKILL."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    owner, marker, state_file = identify(int(sys.argv[1])), sys.argv[2], Path(sys.argv[3])
    tracked = _watch(owner)
    survivors = end_all(marker, tracked)
    _remove_state(state_file, marker)
    return 1 if survivors else 0


def _watch(owner: Process | None) -> set[Process]:
    """Collect the parts' identities until the pipe ends or the owner is gone."""
    text = b""
    while owner is not None and is_alive(owner):
        readable, _, _ = select.select([INPUT], [], [], POLL_S)
        if not readable:
            continue
        chunk = os.read(INPUT, 65536)
        if not chunk:
            break
        text += chunk
    whole_lines = text.decode().rpartition("\n")[0].splitlines()
    return {Process(int(pid), int(ticks)) for pid, ticks in (line.split() for line in whole_lines)}


def _remove_state(state_file: Path, marker: str) -> None:
    try:
        if json.loads(state_file.read_text())["sandbox_id"] == marker:
            state_file.unlink()
    except (OSError, ValueError, KeyError):
        return


if __name__ == "__main__":
    sys.exit(main())
