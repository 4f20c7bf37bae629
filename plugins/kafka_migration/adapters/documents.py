"""Documents of the evidence store, read and written whole, in a folder or an object store.

Documents may come from anyone who can write to the evidence root, so reading is bounded in size and depth. A local
document and the folders that lead to it are flushed to disk before a writer returns: a step may rely on them after a
power loss.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import EvidenceUnreadable, Finding

# `pathlib.Path` or Airflow's `ObjectStoragePath`: both have `/`, `exists`, `iterdir`, `open`, `write_text`.
Folder = Any

MAX_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 64
# What a local file system answers where something else is in a document's place, such as a link to itself.
_NO_DOCUMENT = {errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.ENOENT, errno.EACCES}
# File systems without hard links, such as some network and FUSE mounts, answer with one of these.
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}


def listed(folder: Folder) -> list[str]:
    """Return the names in a folder as they are now; none where there is no folder."""
    try:
        return [path.name for path in folder.iterdir()] if is_there(folder) else []
    except NotADirectoryError:
        return []


def is_there(path: Any) -> bool:
    """Tell whether there is a document or a folder at a path now, whoever wrote it."""
    if (file_system := getattr(path, "fs", None)) is not None:
        # A storage client may remember a listing for as long as its process lives; other processes write meanwhile.
        file_system.invalidate_cache()
    return bool(path.exists())


def is_local(path: Any) -> bool:
    """Tell whether a path is on a file system of this machine, not in an object store."""
    return getattr(path, "protocol", "file") in {"file", "local", ""}


def is_of_document(error: Exception, path: Any) -> bool:
    """Tell whether an error is the document's fault; any other says that its store does not answer now."""
    if isinstance(error, OSError):
        return is_local(path) and error.errno in _NO_DOCUMENT
    return isinstance(error, EvidenceUnreadable)


def to_json(document: Mapping[str, Any]) -> str:
    """Return the document as indented JSON."""
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def read_json(path: Any) -> dict[str, Any]:
    """Return the JSON document at a path; raises `EvidenceUnreadable` where there is something else."""
    return parse_json(read_whole(path), path)


def read_whole(path: Any) -> bytes:
    """Return the bytes of a document.

    Raises `EvidenceUnreadable` for more than `MAX_BYTES`, and locally for anything but a regular file. Raises what the
    store raises, such as `FileNotFoundError`.
    """
    with naming(path):
        if is_local(path) and not stat.S_ISREG(_local(path).stat().st_mode):
            raise TypeError("a regular file was expected")
        with path.open("rb") as file:
            data: bytes = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise ValueError(f"it has more than {MAX_BYTES:,} bytes")
        return data


def parse_json(data: bytes, path: Any) -> dict[str, Any]:
    """Return the JSON object in these bytes; `path` names it in the error (`EvidenceUnreadable`)."""
    with naming(path):
        document = json.loads(data)
        if not isinstance(document, dict):
            raise TypeError(f"a JSON object was expected, not {type(document).__name__}")
        _require_shallow(document)
        return document


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
    """Name the document in every error that its content makes."""
    try:
        yield
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise EvidenceUnreadable([_unreadable(path, f"{type(error).__name__}: {error}")]) from None


def write_whole(path: Any, text: str) -> None:
    """Write a document so that no reader ever sees half of it, and so that it outlives a power loss.

    Locally it is written beside its place, flushed and renamed; an object store's put is whole by itself.
    """
    if is_local(path):
        beside = _written_beside(path, text)
        beside.replace(_local(path))
        _flush(beside.parent)
    else:
        path.write_text(text, encoding="utf-8")


def create_whole(path: Any, text: str) -> bool:
    """Write a document like `write_whole`, but only where none is; return whether it was written.

    Of several writers at the same time exactly one succeeds. An object store does that by a conditional put: fsspec's
    mode `create`, which s3fs, gcsfs and adlfs turn into `If-None-Match` or the like. A request whose reply was lost is
    sent again by the file system or the client, and then finds its own document.
    """
    if not is_local(path):
        return _put_new(path, text)
    beside = _written_beside(path, text)
    try:
        os.link(beside, _local(path))
    except FileExistsError:
        if not beside.samefile(_local(path)):
            return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        return _create_in_place(_local(path), text)
    finally:
        beside.unlink()
    _flush(beside.parent)
    return True


def _put_new(path: Any, text: str) -> bool:
    try:
        path.fs.pipe_file(path.path, text.encode(), mode="create")
    except OSError:
        # Stores that are like S3 name the refused condition in several ways.
        if not is_there(path):
            raise
        return read_whole(path) == text.encode()
    return True


def flush(path: Any) -> None:
    """Flush a local document that another program wrote, and its folder, to disk."""
    if is_local(path):
        for place in (_local(path), _local(path).parent):
            _flush(place)


def _create_in_place(local: Path, text: str) -> bool:
    """Write where hard links are missing: a power loss may leave half a document, which is then named as broken."""
    try:
        with local.open("xb") as file:
            _write_flushed(file, text)
    except FileExistsError:
        return False
    _flush(local.parent)
    return True


def _written_beside(path: Any, text: str) -> Path:
    local = _local(path)
    _make_folder(local.parent)
    beside = local.with_name(f".{local.name}.{uuid.uuid4().hex}")
    with beside.open("xb") as file:
        _write_flushed(file, text)
    return beside


def _write_flushed(file: Any, text: str) -> None:
    file.write(text.encode())
    file.flush()
    os.fsync(file.fileno())


def _make_folder(folder: Path) -> None:
    """Make a folder and those that lead to it; each new one is flushed into the folder that holds it."""
    if not folder.is_dir():
        _make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        _flush(folder.parent)


def _flush(place: Path) -> None:
    descriptor = os.open(place, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _local(path: Any) -> Path:
    return Path(getattr(path, "path", path))


def _unreadable(path: Any, reason: str) -> Finding:
    return Finding(
        Code.EVIDENCE_UNREADABLE,
        str(path),
        reason,
        "a document that this version of the package wrote",
        "Look at the document. Restore it from a backup of the evidence root, or trigger a new run.",
    )
