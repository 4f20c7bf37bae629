"""The owner's side of the watchdog: starts it, reports started parts to it, and ends it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from sandbox.jars import PROJECT
from sandbox.processes import Process

DISMISS_TIMEOUT_S = 240


class Watchdog:
    """The process of `reaper.py`, which ends the sandbox when this process vanishes."""

    def __init__(self, sandbox_id: str, state_file: Path, log: Path) -> None:
        command = (sys.executable, "-m", "sandbox.reaper", str(os.getpid()), sandbox_id, str(state_file))
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=PROJECT,
                start_new_session=True,
            )

    def track(self, process: Process) -> None:
        """Send it a part's identity, for parts that hide the marker (sshd)."""
        if self._process.stdin:
            self._process.stdin.write(f"{process.pid} {process.started_ticks}\n".encode())
            self._process.stdin.flush()

    def dismiss(self) -> None:
        """Close the pipe and wait until it has confirmed that no process is left."""
        if self._process.stdin:
            self._process.stdin.close()
        self._process.wait(DISMISS_TIMEOUT_S)
