"""Findings about an evidence store that cannot be written or read."""

from __future__ import annotations

import errno

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, StoreFailed

_NO_SPACE = "Free space on its disk, or raise the quota."
_REMEDIES = {
    errno.ENOSPC: _NO_SPACE,
    errno.EDQUOT: _NO_SPACE,
    errno.EROFS: "Mount its file system for writing.",
    errno.EACCES: "Give the user of Airflow's tasks read and write access to it.",
    errno.ELOOP: "Remove what is in that place, and find out who put it there: nothing below the evidence root may be "
    "a link.",
    errno.EPERM: "Give the user of Airflow's tasks read and write access to it.",
}
_ANY = "Check its disk or its object store."


def not_writable(folder: str, error: Exception, free_bytes: int | None) -> StoreFailed:
    """Return the error for a write that the store refused; `free_bytes` is `None` if unknown, as in an object store."""
    free = "" if free_bytes is None else f"; {free_bytes:,} bytes are free"
    finding = Finding(
        Code.EVIDENCE_NOT_WRITABLE,
        folder,
        f"{_reason(error)}{free}",
        "a folder that can be written",
        f"{_remedy(error)} Then clear the task with downstream, or trigger a new run.",
        happened=f"The evidence store did not take a document ({_reason(error)}{free}).",
        matters="An action that is not recorded is unknown to later runs, so the step ended.",
    )
    return StoreFailed([finding])


def not_readable(path: str, error: Exception) -> StoreFailed:
    """Return the error for a read that the store refused."""
    finding = Finding(
        Code.EVIDENCE_ROOT_UNREACHABLE,
        path,
        _reason(error),
        "a location that can be read",
        f"{_remedy(error)} Then clear the task with downstream, or trigger a new run.",
        happened=f"The evidence store did not return a document ({_reason(error)}).",
        matters="Without its records it is unknown what earlier steps did, so the step ended.",
    )
    return StoreFailed([finding])


def _reason(error: Exception) -> str:
    strerror = error.strerror if isinstance(error, OSError) else None
    return f"{type(error).__name__}: {strerror or error}"


def _remedy(error: Exception) -> str:
    return _REMEDIES.get(error.errno or 0, _ANY) if isinstance(error, OSError) else _ANY
