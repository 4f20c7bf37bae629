"""Files below the root of a local evidence store, opened without following any link.

Other users may write below the root, such as Spark's identity. With a link they could make Airflow read or write files
elsewhere. So each folder is opened relative to the one before it, and what is no folder or no regular file is refused
(`OSError` with `ELOOP`). Nothing is looked up twice by its path, so a folder that is replaced by a link between two
steps has no effect. The root itself may be a link, a mount, or below links: an administrator sets it.

A hard link is accepted. It has the same effect as a copy: what is read is compared with a digest, or is refused without
being shown, and a document is replaced, never written in place. A document that is being created has two names itself.
A mount below the root is accepted too, because only root can make one.

New files have mode 0640 and new folders 0750, independent of the umask. In a folder that its group may write, new
folders have that right too, so that Spark's user can write its results there.
"""

from __future__ import annotations

import errno
import os
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path, PurePath
from typing import Any, BinaryIO

FILE_MODE, FOLDER_MODE = 0o640, 0o750
# What a new folder takes over from its parent.
_OF_PARENT = stat.S_ISGID | stat.S_IWGRP
MOST_NAMES = 1_000_000
# Errors of file systems without hard links or without modes, such as some network and FUSE mounts.
_NOT_HERE = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}

# Linux opens a folder as a mere place, for which the right to enter it is sufficient.
_AS_PLACE = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY
_TO_LIST = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
# Without O_NONBLOCK, opening a pipe waits for its writer.
_TO_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
_TO_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
    stat.S_IFREG: "a file",
}


@dataclass(frozen=True, slots=True)
class LocalPath:
    """A file or folder: `parts` are the names from the root to it. Only this module opens it."""

    root: str
    parts: tuple[str, ...] = ()

    def __truediv__(self, names: str) -> LocalPath:
        """Return the path of a file or folder in this folder; `ValueError` for a name that leads elsewhere."""
        added = names.split("/")
        if any(name in {"", ".", ".."} or "\0" in name for name in added):
            raise ValueError(f"no name of a document: {names!r}")
        return LocalPath(self.root, (*self.parts, *added))

    def __str__(self) -> str:
        return str(PurePath(self.root, *self.parts))

    @property
    def name(self) -> str:
        """The last name."""
        return self.parts[-1] if self.parts else PurePath(self.root).name

    @property
    def parent(self) -> LocalPath:
        """The folder with this file or folder; the root is its own parent."""
        return LocalPath(self.root, self.parts[:-1])


def local_path(path: Any) -> LocalPath:
    """Return a local path of any type as `LocalPath`. Of a path without a root, no part may be a link."""
    if isinstance(path, LocalPath):
        return path
    root, *names = Path(getattr(path, "path", path)).absolute().parts
    return LocalPath(root) / "/".join(names) if names else LocalPath(root)


def exists(path: LocalPath) -> bool:
    """Return whether there is anything at a path, of whatever kind."""
    try:
        with _opened_folder(path.parent) as folder:
            if path.parts:
                os.stat(path.name, dir_fd=folder, follow_symlinks=False)
            return True
    except FileNotFoundError:
        return False


def names_in(path: LocalPath, *, only_folders: bool = False) -> list[str]:
    """Return the names in a folder. `only_folders`: those of folders, and of links, which are refused when opened."""
    with _opened_folder(path) as folder, _descriptor(".", _TO_LIST, folder) as listed, os.scandir(listed) as entries:
        found = list(islice((e.name for e in entries if not only_folders or _may_be_folder(e)), MOST_NAMES + 1))
    if len(found) > MOST_NAMES:
        raise OSError(errno.EFBIG, f"it has more than {MOST_NAMES:,} names")
    return found


def _may_be_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_symlink() or entry.is_dir(follow_symlinks=False)


def read(path: LocalPath, most: int) -> bytes:
    """Return at most this many bytes of a regular file."""
    with (
        _opened_folder(path.parent) as folder,
        _regular(path.name, folder) as descriptor,
        os.fdopen(descriptor, "rb", closefd=False) as file,
    ):
        return file.read(most)


def replace(path: LocalPath, text: str) -> None:
    """Write a file whole, instead of whatever file or link has its name; a folder there is an error."""
    with _opened_folder(path.parent, make=True) as folder:
        with _temporary_file(path.name, text, folder) as temporary:
            os.replace(temporary, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        _flush_folder(folder)


def create(path: LocalPath, text: str) -> bool:
    """Write a file whole if nothing has its name; return whether it was written."""
    with _opened_folder(path.parent, make=True) as folder:
        with _temporary_file(path.name, text, folder) as temporary:
            try:
                os.link(temporary, path.name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
            except FileExistsError:
                # A network file system that repeats a request finds the document of the first one.
                if not os.path.samestat(_status(temporary, folder), _status(path.name, folder)):
                    return False
            except OSError as error:
                if error.errno not in _NOT_HERE:
                    raise
                if not _create_in_place(path.name, text, folder):
                    return False
        _flush_folder(folder)
    return True


def remove(path: LocalPath) -> None:
    """Remove a file, or a link in its place."""
    with _opened_folder(path.parent) as folder:
        os.unlink(path.name, dir_fd=folder)


def flush(path: LocalPath) -> None:
    """Flush a regular file that another program wrote, and its folder, to disk."""
    with _opened_folder(path.parent) as folder:
        with _regular(path.name, folder) as descriptor:
            os.fsync(descriptor)
        _flush_folder(folder)


def _create_in_place(name: str, text: str, folder: int) -> bool:
    """Write without hard links: a power loss may leave an incomplete document, which is then reported as broken."""
    try:
        with _new_file(name, folder) as file:
            try:
                _write_flushed(file, text)
            except BaseException:
                # It would be read as a broken document.
                os.unlink(name, dir_fd=folder)
                raise
    except FileExistsError:
        return False
    return True


@contextmanager
def _temporary_file(name: str, text: str, folder: int) -> Iterator[str]:
    """Write a file next to a document; it is removed at the end unless it was renamed."""
    temporary = f".{name}.{uuid.uuid4().hex}"
    try:
        with _new_file(temporary, folder) as file:
            _write_flushed(file, text)
        yield temporary
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)


@contextmanager
def _new_file(name: str, folder: int) -> Iterator[BinaryIO]:
    with os.fdopen(os.open(name, _TO_CREATE, FILE_MODE, dir_fd=folder), "wb") as file:
        _set_mode(file.fileno(), FILE_MODE)
        yield file


def _write_flushed(file: Any, text: str) -> None:
    file.write(text.encode())
    file.flush()
    os.fsync(file.fileno())


@contextmanager
def _opened_folder(path: LocalPath, *, make: bool = False) -> Iterator[int]:
    """Yield the descriptor of a folder, which is created with its parents if it is missing and `make` is true.

    `OSError` (`ELOOP`) names a link or a file in its place.
    """
    if make:
        _make_root(Path(path.root).absolute())
    descriptor = os.open(path.root, _AS_PLACE)
    try:
        for name in path.parts:
            descriptor = _moved(descriptor, _folder_in(descriptor, name, make=make))
        yield descriptor
    finally:
        os.close(descriptor)


def _moved(before: int, after: int) -> int:
    os.close(before)
    return after


def _folder_in(folder: int, name: str, *, make: bool) -> int:
    try:
        return os.open(name, _AS_PLACE | os.O_NOFOLLOW, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
        _make_folder(name, folder)
        return _folder_in(folder, name, make=False)
    except OSError as error:
        if error.errno in {errno.ENOTDIR, errno.ELOOP}:
            raise _another_kind(name, folder, "the folder") from None
        raise


def _make_folder(name: str, folder: int, taken_over: int = _OF_PARENT) -> None:
    """Create a folder and flush it to its parent."""
    mode = FOLDER_MODE | os.fstat(folder).st_mode & taken_over
    try:
        os.mkdir(name, mode, dir_fd=folder)
    except FileExistsError:
        return
    with _descriptor(name, _TO_LIST, folder) as made:
        _set_mode(made, mode)
    _flush_folder(folder)


def _make_root(root: Path) -> None:
    """Create the root and its parents if they are missing."""
    if not root.is_dir():
        _make_root(root.parent)
        with _descriptor(str(root.parent), os.O_RDONLY | os.O_DIRECTORY) as folder:
            _make_folder(root.name, folder, stat.S_ISGID)


def _set_mode(descriptor: int, mode: int) -> None:
    """Set the mode of a new file or folder, unless the umask or an access list left it as it should be."""
    if stat.S_IMODE(os.fstat(descriptor).st_mode) == mode:
        return
    try:
        os.fchmod(descriptor, mode)
    except OSError as error:
        if error.errno not in _NOT_HERE:
            raise


@contextmanager
def _regular(name: str, folder: int) -> Iterator[int]:
    """Yield the descriptor of a regular file; `OSError` (`ELOOP`) names what else has its name."""
    try:
        descriptor = os.open(name, _TO_READ, dir_fd=folder)
    except OSError as error:
        # A link, or a socket or device without a counterpart.
        if error.errno in {errno.ELOOP, errno.ENXIO, errno.ENODEV}:
            raise _another_kind(name, folder, "the regular file") from None
        raise
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _another_kind(name, folder, "the regular file")
        yield descriptor
    finally:
        os.close(descriptor)


def _another_kind(name: str, folder: int, expected: str) -> OSError:
    kind = _KINDS.get(stat.S_IFMT(_status(name, folder).st_mode), "another file")
    return OSError(errno.ELOOP, f"{kind} instead of {expected} {name}")


def _status(name: str, folder: int) -> os.stat_result:
    return os.stat(name, dir_fd=folder, follow_symlinks=False)


@contextmanager
def _descriptor(name: str, flags: int, folder: int | None = None) -> Iterator[int]:
    descriptor = os.open(name, flags, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _flush_folder(folder: int) -> None:
    with _descriptor(".", _TO_LIST, folder) as descriptor:
        os.fsync(descriptor)
