"""Reads and writes whole documents of the evidence store, in a folder or an object store.

Documents may come from any user with write access to the evidence root, so reading is limited in size and depth, and
locally follows no link (`local_files.py`). A local document and its parent folders are flushed to disk before a
writer returns, so that they survive a power loss.
"""

from __future__ import annotations

import errno
import gc
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from kafka_migration.adapters.store import local_files
from kafka_migration.adapters.store.local_files import LocalPath, local_path
from kafka_migration.core.documents.codec import DoesNotFit
from kafka_migration.core.evidence.root import not_readable, not_writable
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import EvidenceUnfit, EvidenceUnreadable, Finding, StoreFailed
from kafka_migration.core.text.terminal_text import storable

# `LocalPath`, `pathlib.Path` or Airflow's `ObjectStoragePath`: all have `/`, `name`, `parent` and `str`.
Folder = Any

MAX_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 64
# Errors of a local file system if something else is in a document's place, such as a link.
_NO_DOCUMENT = {errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.ENOENT, errno.EACCES}


def rooted(folder: Folder) -> Folder:
    """Return the evidence root at this path: only a local root itself may be a link, or be below links."""
    return LocalPath(str(getattr(folder, "path", folder))) if is_local(folder) else folder


def listed(folder: Folder, *, only_folders: bool = False) -> list[str]:
    """Return the current names in a folder, or only those of its folders and links; none if it does not exist.

    Raises `EvidenceUnreadable` for a link or a file in its place, `StoreFailed` if it cannot be read.
    """
    try:
        if is_local(folder):
            return local_files.names_in(local_path(folder), only_folders=only_folders)
        return _names_in(folder, only_folders)
    except (NotADirectoryError, FileNotFoundError):
        return []
    except Exception as error:
        # An object store may raise anything.
        if is_local(folder) and isinstance(error, OSError) and error.errno == errno.ELOOP:
            raise unreadable(folder, str(error.strerror)) from None
        raise not_readable(str(folder), error) from None


def _names_in(folder: Folder, only_folders: bool) -> list[str]:
    """Return the names in a folder of an object store, by one request whatever their number."""
    entries = _current(folder).ls(folder.path, detail=True)
    found = [each["name"].strip("/") for each in entries if not only_folders or each["type"] == "directory"]
    # A store may list the folder itself, as an object without content.
    return [path.rpartition("/")[2] for path in found if path != folder.path.strip("/")]


def _current(path: Any) -> Any:
    """Return the file system of an object store, which knows no listing from before.

    A storage client may cache a listing for the life of its process, while other processes write. Every request goes
    through this file system, because a path of Airflow has another one for some methods, with a cache of its own.
    """
    path.fs.invalidate_cache()
    return path.fs


def is_there(path: Any) -> bool:
    """Return whether a document or a folder currently exists at a path, from any process.

    Raises `EvidenceUnreadable` for a local link or file in the place of a folder, and `StoreFailed` if the store does
    not answer.
    """
    with _reading(path):
        return local_files.exists(local_path(path)) if is_local(path) else bool(_current(path).exists(path.path))


def is_local(path: Any) -> bool:
    """Return whether a path is on a local file system, not in an object store."""
    return getattr(path, "protocol", "file") in {"file", "local", ""}


def is_of_document(error: Exception, path: Any) -> bool:
    """Return whether the document causes the error; any other error means that the store does not answer."""
    if isinstance(error, OSError):
        return is_local(path) and error.errno in _NO_DOCUMENT
    return isinstance(error, EvidenceUnreadable)


def to_json(document: Mapping[str, Any], indent: int | None = 1) -> str:
    """Return the document as JSON, by default indented."""
    # Half a character, of a file's name or of a client's text, must not stop what is to be written.
    return storable(json.dumps(document, indent=indent, ensure_ascii=False)) + "\n"


def read_json(path: Any, most: int | None = None) -> dict[str, Any]:
    """Return the JSON document at a path; raises `EvidenceUnreadable` for any other content, and like `read_whole`."""
    return parse_json(read_whole(path, most), path)


def read_whole(path: Any, most: int | None = None) -> bytes:
    """Return the bytes of a document, at most `most`, by default `MAX_BYTES`.

    Raises `EvidenceUnreadable` for more bytes, and locally for anything but a regular file in folders. Raises
    `StoreFailed` if the store does not answer. Other errors of the document, such as `FileNotFoundError`, are passed
    on.
    """
    most = MAX_BYTES if most is None else most
    with _reading(path), naming(path):
        data = local_files.read(local_path(path), most + 1) if is_local(path) else _got(path, most + 1)
        if len(data) > most:
            raise ValueError(f"it has more than {most:,} bytes")
        return data


def _got(path: Any, most: int) -> bytes:
    with _current(path).open(path.path, "rb") as file:
        data: bytes = file.read(most)
        return data


def parse_json(data: bytes, path: Any) -> dict[str, Any]:
    """Return the JSON object in these bytes; `path` names it in the error (`EvidenceUnreadable`)."""
    document = parse_typed(data, path)
    with naming(path):
        _require_shallow(document)
    return document


def parse_typed(data: bytes, path: Any) -> dict[str, Any]:
    """Like `parse_json`, for a document that is read by its types only, so that its depth does not matter."""
    with naming(path):
        document = json.loads(data)
        if not isinstance(document, dict):
            raise TypeError(f"a JSON object was expected, not {type(document).__name__}")
        return document


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause Python's garbage collector, which would visit all of a large document again and again while it is read.

    A document that was read has no cycles, so the collector would find nothing in it. Afterwards it counts as old.
    """
    was_running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        # Both calls together move all objects to the oldest generation, without a visit to any of them.
        gc.freeze()
        gc.unfreeze()
        if was_running:
            gc.enable()


def _require_shallow(document: dict[str, Any]) -> None:
    level: list[Any] = [document]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return
    raise ValueError(f"it is nested more than {MAX_DEPTH} levels deep")


@contextmanager
def naming(path: Any) -> Iterator[None]:
    """Name the document in every error that its content causes."""
    try:
        yield
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise unreadable(path, f"{type(error).__name__}: {error}") from None


@contextmanager
def _reading(path: Any) -> Iterator[None]:
    """Raise `StoreFailed` if the store does not answer; what the document itself causes is passed on."""
    try:
        yield
    except (EvidenceUnreadable, FileNotFoundError):
        raise
    except Exception as error:
        # An object store may raise anything.
        if is_of_document(error, path):
            raise unreadable(path, getattr(error, "strerror", None) or str(error)) from None
        raise not_readable(str(path), error) from None


@contextmanager
def _writing(path: Any) -> Iterator[None]:
    """Raise `StoreFailed` if the store refuses a write."""
    try:
        yield
    except Exception as error:
        # An object store may raise anything.
        if is_local(path) and not isinstance(error, OSError):
            raise
        raise not_writable(str(path.parent), error, _free_bytes(path)) from None


def _free_bytes(path: Any) -> int | None:
    """Return the free bytes of a local document's disk; `None` if they are unknown."""
    places = Path(str(local_path(path))).parents if is_local(path) else ()
    try:
        return next((shutil.disk_usage(place).free for place in places if place.is_dir()), None)
    except OSError:
        return None


def write_whole(path: Any, text: str) -> None:
    """Write a document atomically, so that no reader sees a part of it and it survives a power loss.

    Locally it is written to a temporary file in the same folder, flushed and renamed. An object store's put is atomic.
    Raises `StoreFailed` if the store refuses the write, or if a link or a file is in the place of a folder. Then no
    part of the document remains.
    """
    with _writing(path):
        if is_local(path):
            local_files.replace(local_path(path), text)
        else:
            path.fs.pipe_file(path.path, text.encode())


def create_whole(path: Any, text: str) -> bool:
    """Write a document like `write_whole`, but only if none exists; return whether it was written.

    Of several concurrent writers exactly one succeeds. An object store uses a conditional put: fsspec's mode `create`,
    which s3fs, gcsfs and adlfs send as `If-None-Match` or similar. If a reply is lost, the file system or the client
    retries the request and then finds its own document. Raises `StoreFailed` like `write_whole`.
    """
    with _writing(path):
        return local_files.create(local_path(path), text) if is_local(path) else _put_new(path, text)


def _put_new(path: Any, text: str) -> bool:
    try:
        path.fs.pipe_file(path.path, text.encode(), mode="create")
    except OSError:
        # S3-compatible stores report a failed condition with different errors.
        found = _found_instead(path)
        if found is None:
            raise
        return found == text.encode()
    return True


def _found_instead(path: Any) -> bytes | None:
    """Return the document that is in the place of a refused one; `None` if there is none or reading is refused too."""
    try:
        return read_whole(path)
    except (FileNotFoundError, StoreFailed):
        return None


def removed(path: Any) -> None:
    """Remove a file if it exists. Raises `StoreFailed` if the store refuses it."""
    with _writing(path), suppress(FileNotFoundError):
        if is_local(path):
            local_files.remove(local_path(path))
        else:
            path.fs.rm_file(path.path)


def flush(path: Any) -> None:
    """Flush a local document that another program wrote, and its folder, to disk; raises like `read_whole`."""
    if is_local(path):
        with _reading(path):
            local_files.flush(local_path(path))


def unreadable(path: Any, reason: str) -> EvidenceUnreadable:
    """Return the error for a document, or for a folder with it, whose content has not the expected form."""
    return EvidenceUnreadable([_unreadable(path, reason)])


def unfit(path: Any, error: DoesNotFit) -> EvidenceUnfit:
    """Return the error for a JSON object that has not the form of its kind."""
    return EvidenceUnfit([_unreadable(path, f"{type(error).__name__}: {error}")], str(error))


def _unreadable(path: Any, reason: str) -> Finding:
    return Finding(
        Code.EVIDENCE_UNREADABLE,
        str(path),
        reason,
        "a document that this version of the package wrote",
        "Restore the document from a backup of the evidence root. If there is no backup, trigger a new run.",
        happened=f"The document {path} cannot be read as this package wrote it: {reason}.",
        matters="What an earlier task or run recorded in this document is unknown, so nothing was decided from it.",
    )
