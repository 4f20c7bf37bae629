"""Private folders for secrets, removed after use, or by the next process if their own process was killed.

Each folder is locked while it is in use. The kernel releases the lock when the process ends for any reason, so an
unlocked folder is unused. Process ids could not show that, because containers with separate ids share folders.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "kafka-migration-job-"


@contextmanager
def private_folder() -> Iterator[Path]:
    """Yield a new folder that only this user may enter and remove it at the end; also remove leftover folders."""
    sweep()
    folder, lock = _made()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def write_private(path: Path, text: str) -> str:
    """Write a new file that only this user may read or write, and return its path."""
    path.touch(mode=0o600)
    path.write_text(text)
    return str(path)


def sweep() -> None:
    """Remove every unlocked folder of this user; folders that cannot be removed are left."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            _remove_if_left(path)


def _made() -> tuple[Path, int]:
    """Return a new folder and its lock; retry if a concurrent sweep removed the folder before it was locked."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        with suppress(FileNotFoundError):
            lock = _opened(folder)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if folder.exists():
                return folder, lock
            os.close(lock)


def _remove_if_left(path: Path) -> None:
    lock = _opened(path)
    try:
        if os.fstat(lock).st_uid == os.getuid():
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path)
    finally:
        os.close(lock)


def _opened(folder: Path) -> int:
    """Open a folder; links are refused."""
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
