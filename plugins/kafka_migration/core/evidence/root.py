"""The two spellings of the evidence root, and findings about one that cannot be written or read.

Airflow writes to it with fsspec, Spark reads it with Hadoop.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, StoreFailed

LOCAL = "file"
_AZURE = "abfs"
# Schemes and their kind of store. Airflow and Hadoop spell some of them differently.
_KINDS = {
    **dict.fromkeys(("", "file", "local"), LOCAL),
    **dict.fromkeys(("s3", "s3a", "s3n"), "s3"),
    **dict.fromkeys(("gs", "gcs"), "gs"),
    **dict.fromkeys(("abfs", "abfss", "wasb", "wasbs", "az", "adl"), _AZURE),
    **dict.fromkeys(("hdfs", "webhdfs", "viewfs"), "hdfs"),
}
# Stores whose address starts with a bucket. A bucket has only one name.
_WITH_BUCKET = {"s3", "gs", _AZURE}


class _Place(NamedTuple):
    """The parts of an address that both spellings must share; `None` means that the address does not show it."""

    kind: str
    bucket: str | None
    path: str | None


@dataclass(frozen=True, slots=True)
class EvidencePlace:
    """The location of the evidence root.

    :param location: the root as Airflow's paths print it; the path of every document starts with it
    :param setting: the value of `evidence_root`; Airflow's paths lose parts of some addresses
    :param stated_for_spark: the value of `spark_evidence_root`, `None` if it is not set
    """

    location: str
    setting: str
    stated_for_spark: str | None = None

    @property
    def root(self) -> str:
        """The root as it was set; if it was set without a scheme, as Airflow prints it."""
        return self.setting if "://" in self.setting else self.location

    @property
    def spark_root(self) -> str:
        """The root as Spark spells it."""
        return (self.stated_for_spark or spark_spelling(self.root)).rstrip("/")

    def for_spark(self, path: str) -> str:
        """Return Spark's spelling of a path that starts with `location`; `ValueError` for any other path."""
        begin = self.location.rstrip("/")
        if not path.startswith(f"{begin}/"):
            raise ValueError(f"{path} is not below {begin}")
        return self.spark_root + path.removeprefix(begin)

    @property
    def is_local(self) -> bool:
        """Whether the root is a local folder, which other machines may not have."""
        return _place(self.root).kind == LOCAL

    @property
    def lacks_account(self) -> bool:
        """Whether Spark's spelling is one of Azure without the account, which Hadoop cannot open."""
        parts = urlsplit(self.spark_root)
        return _KINDS.get(parts.scheme) == _AZURE and "." not in parts.netloc.rpartition("@")[2]

    @property
    def may_be_one(self) -> bool:
        """Whether both spellings can refer to the same location, judged by kind, bucket and path if known."""
        pairs = zip(_place(self.root), _place(self.spark_root), strict=True)
        return all(one == other or one is None or other is None for one, other in pairs)


def spark_spelling(root: str) -> str:
    """Return Hadoop's spelling of an Airflow address.

    `s3` becomes `s3a`. The id of an Airflow connection, as in `s3://my_conn@bucket/x`, is removed. Everything else is
    unchanged. Azure's addresses cannot be derived, because Hadoop's contain the account.
    """
    parts = urlsplit(root)
    if _KINDS.get(parts.scheme) == _AZURE or not parts.netloc:
        return root
    scheme = "s3a" if parts.scheme == "s3" else parts.scheme
    return parts._replace(scheme=scheme, netloc=parts.netloc.rpartition("@")[2]).geturl()


def _place(root: str) -> _Place:
    parts = urlsplit(root)
    kind = _KINDS.get(parts.scheme, parts.scheme)
    before, _, host = parts.netloc.rpartition("@")
    # Hadoop: container@account.dfs.core.windows.net; Airflow: connection@container.
    bucket = before if kind == _AZURE and "." in host else host
    # A folder may be mounted under another path elsewhere.
    path = None if kind == LOCAL else parts.path.rstrip("/")
    return _Place(kind, bucket if kind in _WITH_BUCKET else None, path)


_NO_SPACE = "Free space on the disk of the evidence root, or raise its quota."
_NO_ACCESS = "Give the user of Airflow's tasks read and write access to the evidence root."
_REMEDIES = {
    errno.ENOSPC: _NO_SPACE,
    errno.EDQUOT: _NO_SPACE,
    errno.EROFS: "Mount the file system of the evidence root for writing.",
    errno.EACCES: _NO_ACCESS,
    errno.ELOOP: "Remove this object: the evidence root may have only folders and regular files.",
    errno.EPERM: _NO_ACCESS,
}
_AGAIN = "Then clear the task with its downstream tasks, or trigger a new run."
_ANY = "Check the disk or the object store of the evidence root."


def not_writable(folder: str, error: Exception, free_bytes: int | None) -> StoreFailed:
    """Return the error for a write that the store refused; `free_bytes` is `None` if unknown, as in an object store."""
    free = "" if free_bytes is None else f"; {free_bytes:,} bytes are free"
    finding = Finding(
        Code.EVIDENCE_NOT_WRITABLE,
        folder,
        f"{_reason(error)}{free}",
        "a folder that can be written",
        f"{_remedy(error)} {_AGAIN}",
        happened=f"The evidence store did not take a document ({_reason(error)}{free}).",
        matters="Later tasks and runs would not know what this task did, so it ended.",
    )
    return StoreFailed([finding])


def not_readable(path: str, error: Exception) -> StoreFailed:
    """Return the error for a read that the store refused."""
    finding = Finding(
        Code.EVIDENCE_ROOT_UNREACHABLE,
        path,
        _reason(error),
        "a location that can be read",
        f"{_remedy(error)} {_AGAIN}",
        happened=f"The evidence store did not return a document ({_reason(error)}).",
        matters="Without this document it is unknown what earlier tasks or runs did, so the task ended.",
    )
    return StoreFailed([finding])


def _reason(error: Exception) -> str:
    strerror = error.strerror if isinstance(error, OSError) else None
    return f"{type(error).__name__}: {strerror or error}"


def _remedy(error: Exception) -> str:
    return _REMEDIES.get(error.errno or 0, _ANY) if isinstance(error, OSError) else _ANY
