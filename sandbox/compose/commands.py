"""Runs docker, Compose and debootstrap, and measures their time."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from sandbox.compose.failure import ComposeTestFailed

TAIL_LINES = 40


def run(
    command: Sequence[str],
    timeout_s: float,
    *,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
    stdin: str | None = None,
) -> str:
    """Return what a command printed on standard output.

    Raises:
        ComposeTestFailed: it did not end with 0 or took too long; the text has the end of its output.
    """
    try:
        done = subprocess.run(
            command,
            env=environment,
            cwd=folder,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ComposeTestFailed(f"{' '.join(command)} did not end within {timeout_s:.0f} s") from error
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-TAIL_LINES:])
        raise ComposeTestFailed(f"{' '.join(command)} ended with {done.returncode}:\n{tail}")
    return done.stdout


def found(program: str) -> str | None:
    """Return the path of a program, also from the `sbin` folders; `None` if it is not installed."""
    return shutil.which(program) or shutil.which(program, path="/usr/sbin:/sbin")


class Steps:
    """Prints each step and its duration."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        """Time a block under a title."""
        print(f"{title} …", flush=True)
        began = time.monotonic()
        try:
            yield
        finally:
            self.seconds[title] = time.monotonic() - began
            print(f"{title}: {self.seconds[title]:.0f} s", flush=True)

    def table(self) -> str:
        """Return one line per step."""
        return "\n".join(f"  {seconds:6.0f} s  {title}" for title, seconds in self.seconds.items())
