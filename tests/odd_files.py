"""Files of other kinds, for tests of what is read as a document."""

from __future__ import annotations

import os
import socket
from pathlib import Path


def make_socket(path: Path) -> None:
    """Leave a socket at a path, which may be longer than an address."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(f"/proc/self/fd/{folder}/{path.name}")
    finally:
        os.close(folder)
