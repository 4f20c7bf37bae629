"""Folders that hold secrets for as long as a process works with them, and no longer than until the next one comes.

Each folder is locked while it is in use. The kernel takes the lock away with the process, however that ends, so an
unlocked folder belongs to nobody. Process ids would not tell that: containers with ids of their own share folders.
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
    """Yield a new folder that only this user may enter, removed at the end; remove those that dead processes left."""
    sweep()
    folder, lock = _made()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def sweep() -> None:
    """Remove every folder of this user that no process holds; what cannot be removed stays."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            _remove_if_left(path)


def _made() -> tuple[Path, int]:
    """Return a new folder and its lock; a sweep that came between the two has taken the folder away."""
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
    """Open a folder; a link is none."""
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
