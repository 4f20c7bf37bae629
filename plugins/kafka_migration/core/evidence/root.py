"""The two spellings of the evidence root: Airflow writes to it with fsspec, Spark reads it with Hadoop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

LOCAL = "file"
# Schemes and their kind of store. Airflow and Hadoop spell some of them differently.
_KINDS = {
    **dict.fromkeys(("", "file", "local"), LOCAL),
    **dict.fromkeys(("s3", "s3a", "s3n"), "s3"),
    **dict.fromkeys(("gs", "gcs"), "gs"),
    **dict.fromkeys(("abfs", "abfss", "az", "adl"), "abfs"),
    **dict.fromkeys(("hdfs", "webhdfs", "viewfs"), "hdfs"),
}
# Stores whose address starts with a bucket. A bucket has only one name.
_WITH_BUCKET = {"s3", "gs", "abfs"}


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
    if _KINDS.get(parts.scheme) == "abfs" or not parts.netloc:
        return root
    scheme = "s3a" if parts.scheme == "s3" else parts.scheme
    return parts._replace(scheme=scheme, netloc=parts.netloc.rpartition("@")[2]).geturl()


def _place(root: str) -> _Place:
    parts = urlsplit(root)
    kind = _KINDS.get(parts.scheme, parts.scheme)
    before, _, host = parts.netloc.rpartition("@")
    # Hadoop: container@account.dfs.core.windows.net; Airflow: connection@container.
    bucket = before if kind == "abfs" and "." in host else host
    # A folder may be mounted under another path elsewhere.
    path = None if kind == LOCAL else parts.path.rstrip("/")
    return _Place(kind, bucket if kind in _WITH_BUCKET else None, path)
