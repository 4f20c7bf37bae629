"""For which JVM and which class path a class archive is: what a JVM compares, without the start of one."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path


def key_of(kind: str, place: str, *seen: object) -> str:
    """Return the beginning of an archive's name: kind, a digest of the place of the jars, and one of what was seen."""
    return f"{kind}-{_digest(place)[:12]}-{_digest([place, *seen])[:24]}"


def _digest(values: object) -> str:
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()


def java_build() -> list[object]:
    """Return what changes with each build of the JVM that `JAVA_HOME` or the `PATH` names.

    Raises `OSError` if there is none, or if it has not the files of a HotSpot JVM.
    """
    home = _java_home()
    return [str(home), *(seen(home / name) for name in ("release", "lib/modules", "lib/server/libjvm.so"))]


def _java_home() -> Path:
    java = Path(home, "bin", "java") if (home := os.environ.get("JAVA_HOME")) else shutil.which("java")
    if java is None:
        raise FileNotFoundError("no java is on the PATH")
    return Path(java).resolve().parents[1]


def jars_in(folder: Path) -> list[Sequence[object]]:
    """Return the files of a folder in its own order, which is that of the class path. Raises `OSError`."""
    with os.scandir(folder) as entries:
        return [[entry.name, *seen(Path(entry.path))] for entry in entries]


def seen(path: Path) -> list[int]:
    """Return size and time of a file in whole seconds, by which a JVM recognizes a jar. Raises `OSError`."""
    found = path.stat()
    return [found.st_size, int(found.st_mtime)]
