"""Reading of files that a user names, which may be pipes, devices or endless."""

from __future__ import annotations

import os
import stat
from pathlib import Path


class FileTooLarge(ValueError):
    """A file has more bytes than are read."""


def regular_bytes(path: Path, most: int) -> bytes:
    """Return the bytes of a regular file; do not wait for a pipe or a device.

    Raises `OSError` if it cannot be opened, `FileTooLarge` if it has more than `most` bytes, and `ValueError` if it is
    not a regular file, or would have to be waited for, as files of the kernel.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise ValueError("a directory" if stat.S_ISDIR(mode) else "not a regular file")
        with open(descriptor, "rb", closefd=False) as file:
            raw: bytes | None = file.read(most + 1)
    finally:
        os.close(descriptor)
    if raw is None:
        raise ValueError("not a regular file")
    if len(raw) > most:
        raise FileTooLarge(f"more than {most:,} bytes")
    return raw
