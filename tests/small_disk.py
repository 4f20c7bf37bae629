"""A real disk that is small enough to be filled."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

Full = Callable[[], AbstractContextManager[None]]


@contextmanager
def small_disk(folder: Path, size: str = "1m") -> Iterator[Full]:
    """Mount a disk of its own at a folder; give a context in which that disk is full. Only root may mount a disk."""
    folder.mkdir(exist_ok=True)
    words = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", str(folder)]
    mount = subprocess.run(words, capture_output=True)
    if mount.returncode != 0:
        pytest.skip("only root may mount a disk")

    @contextmanager
    def full() -> Iterator[None]:
        ballast = folder / "ballast"
        with ballast.open("wb", buffering=0) as file:
            while file.write(b"\0" * 4096) == 4096 and os.statvfs(folder).f_bavail:
                pass
        yield
        ballast.unlink()

    try:
        yield full
    finally:
        subprocess.run(["umount", str(folder)], check=True)
