"""A folder of class archives, which a JVM maps into its memory as code.

A JVM does not notice every damage: Java 17 crashes with an archive that was cut off. So an archive's name has the
SHA-256 of its content, and only what has this digest is used. An archive is used only if no other user than root could
have written it: the folder belongs to this user and is closed to all others, and no folder above it lets another user
replace it.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path

# More than twice the largest archive that was seen; a run does not read a larger file.
MOST_BYTES = 512 << 20
# The number of archives that stay in a folder: one for each Spark of a worker.
MOST_ARCHIVES = 4
_NAME = re.compile(r"(?P<key>[\w.-]+)-(?P<digest>[0-9a-f]{64})\.jsa")
# A JVM writes an archive in some seconds; an older file is what a killed one left.
_BESIDE, _LEFT_S = ".new-", 3600
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def folder_problem(folder: Path) -> str:
    """Return why other users could replace the archives of a folder; empty if they could not.

    A missing folder raises `FileNotFoundError`.
    """
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        return f"{folder} is {'a link' if stat.S_ISLNK(found.st_mode) else 'not a folder'}"
    if found.st_uid != os.geteuid():
        return f"{folder} belongs to user {found.st_uid}, and this process is user {os.geteuid()}"
    if stat.S_IMODE(found.st_mode) & 0o077:
        return f"{folder} has mode {stat.S_IMODE(found.st_mode):04o}, and 0700 is needed"
    return next(filter(None, map(_parent_problem, folder.resolve().parents)), "")


def _parent_problem(folder: Path) -> str:
    found = folder.stat()
    if found.st_uid not in (0, os.geteuid()):
        return f"{folder} belongs to user {found.st_uid}"
    # In a folder with the sticky bit, such as /tmp, other users cannot rename what they do not own.
    if found.st_mode & _OTHERS_WRITE and not found.st_mode & stat.S_ISVTX:
        return f"other users may write to {folder} (mode {stat.S_IMODE(found.st_mode):04o})"
    return ""


def usable_archive(folder: Path, key: str) -> Path | None:
    """Return the newest undamaged archive of this key; `None` without one, or if others could have written it."""
    with suppress(OSError, RuntimeError):
        if folder_problem(folder):
            return None
        # No later change of a link leads the JVM elsewhere.
        found = [path for path in _archives(folder.resolve()) if _key_of(path) == key]
        return next(filter(_is_whole, found), None)
    return None


def _archives(folder: Path) -> list[Path]:
    """Return the archives in a folder, the newest first."""
    named = [path for path in folder.iterdir() if _NAME.fullmatch(path.name)]
    return sorted(named, key=lambda path: path.lstat().st_mtime_ns, reverse=True)


def _key_of(path: Path) -> str:
    match = _NAME.fullmatch(path.name)
    return match["key"] if match else ""


def _is_whole(path: Path) -> bool:
    """Whether the content of a regular file of this user has the digest of its name."""
    with suppress(OSError):
        return path.name.endswith(f"-{_digest(path)}.jsa")
    return False


def _digest(path: Path) -> str:
    """Return the SHA-256 of a file of this user. Raises `OSError` like `own_file`."""
    with own_file(path, MOST_BYTES) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def own_file(path: Path, most_bytes: int) -> Iterator[BufferedReader]:
    """Open a regular file that only this user may write. Raises `OSError` for all other files, and larger ones."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & _OTHERS_WRITE:
            raise PermissionError(f"{path.name} is not a file of this user alone")
        if found.st_size > most_bytes:
            raise OSError(f"{path.name} is larger than {most_bytes:,} bytes")
        yield file


@contextmanager
def new_archive(folder: Path) -> Iterator[Path]:
    """Yield a path in the folder to write an archive to, before it is kept; at the end nothing is there.

    Makes the folder if it is missing.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder.resolve() / f"{_BESIDE}{uuid.uuid4().hex}.jsa"
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def keep(made: Path, key: str) -> tuple[Path, list[Path]]:
    """Give a complete archive its name; return its path, and the older ones that were removed.

    Of one Spark (`key` up to its last hyphen) only the new archive stays.
    """
    made.chmod(0o400)
    digest = _digest(made)
    _flush(made)
    kept = made.rename(made.with_name(f"{key}-{digest}.jsa"))
    _flush(kept.parent)
    return kept, list(_removed(kept, key.rpartition("-")[0]))


def _removed(kept: Path, spark: str) -> Iterator[Path]:
    others = [path for path in _archives(kept.parent) if path != kept]
    same = [path for path in others if _key_of(path).rpartition("-")[0] == spark]
    rest = [path for path in others if path not in same]
    made_at = kept.stat().st_mtime
    left = [path for path in kept.parent.glob(f"{_BESIDE}*") if made_at - path.lstat().st_mtime > _LEFT_S]
    for path in (*same, *rest[MOST_ARCHIVES - 1 :], *left):
        with suppress(OSError):
            path.unlink()
            yield path


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
