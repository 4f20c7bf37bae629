"""The `[kafka_migration]` section of Airflow's configuration."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow.sdk import conf

import kafka_migration

if TYPE_CHECKING:
    from kafka_migration.core.evidence.root import EvidencePlace

SECTION = "kafka_migration"
_PACKAGE = Path(kafka_migration.__file__).resolve().parent
# In a wheel the Spark jobs are inside the package; in a folder copy they are next to `plugins/`.
_SPARK_JOBS_OF_WHEEL = _PACKAGE / "spark_jobs"
_IS_INSTALLED = _SPARK_JOBS_OF_WHEEL.is_dir()


def _evidence_root_setting() -> str:
    from airflow.configuration import AIRFLOW_HOME

    return str(conf.get(SECTION, "evidence_root", fallback=f"{AIRFLOW_HOME}/kafka_migration"))


def evidence_root() -> Any:
    """Return `evidence_root`: a folder or an object-store URL; by default below `AIRFLOW_HOME`."""
    return folder_at(_evidence_root_setting())


def evidence_place() -> EvidencePlace:
    """Return the evidence root with Spark's spelling of it: `spark_evidence_root`, by default derived."""
    from kafka_migration.core.evidence.root import EvidencePlace

    stated = conf.get(SECTION, "spark_evidence_root", fallback="") or None
    return EvidencePlace(str(evidence_root()), _evidence_root_setting(), stated)


def folder_at(place: str) -> Any:
    """Return the evidence root at a path, or at the URL of an object store."""
    from airflow.sdk import ObjectStoragePath

    from kafka_migration.adapters.store.document_files import rooted

    return rooted(ObjectStoragePath(place))


def migrations_folder() -> Path:
    """Return `migrations_folder`; by default `include/migrations` next to `plugins/`, for a wheel next to the DAGs."""
    return Path(conf.get(SECTION, "migrations_folder", fallback=str(_project() / "include" / "migrations")))


def _project() -> Path:
    return Path(conf.get("core", "dags_folder")).parent if _IS_INSTALLED else _PACKAGE.parents[1]


def default_timezone() -> str:
    """Return the name of Airflow's `[core] default_timezone`; for `system`, that of this machine's time zone."""
    named = str(conf.get("core", "default_timezone", fallback="utc"))
    if named == "system":
        from pendulum import local_timezone

        named = str(local_timezone().name)
    return "UTC" if named == "utc" else named


def alerts_file() -> Path | None:
    """Return `alerts_file`, with the notifiers for migration files without `alerts`, or `None` if not set."""
    named = conf.get(SECTION, "alerts_file", fallback="")
    return Path(named) if named else None


def min_masked_length() -> int:
    """Return how many characters the shortest secret has that Airflow masks in logs."""
    return int(conf.getint("logging", "min_length_masked_secret", fallback=5))


def token_endpoints() -> tuple[str, ...]:
    """Return `token_endpoints`: the addresses from which clients may fetch OAuth tokens, comma-separated."""
    return tuple(filter(None, (each.strip() for each in conf.get(SECTION, "token_endpoints", fallback="").split(","))))


def host_tools() -> bool:
    """Return `host_tools`: whether preflight asks the clusters from the MirrorMaker host; true by default."""
    return bool(conf.getboolean(SECTION, "host_tools", fallback=True))


def spark_jobs_folder() -> Path:
    """Return `spark_jobs_folder`; by default `spark_jobs` next to `plugins/`, or the wheel's own folder."""
    own = _SPARK_JOBS_OF_WHEEL if _IS_INSTALLED else _PACKAGE.parents[1] / "spark_jobs"
    return Path(conf.get(SECTION, "spark_jobs_folder", fallback=str(own)))


def spark_jars() -> str | None:
    """Return `spark_jars`, a comma-separated list of the Kafka connector's jars, or `None` if not set."""
    return conf.get(SECTION, "spark_jars", fallback="") or None


def spark_start_limit_s() -> float:
    """Return `spark_start_limit`: how many seconds a job may wait for a cluster's resources; ten minutes by default."""
    return float(conf.getint(SECTION, "spark_start_limit", fallback=600))


def class_archives() -> Path | None:
    """Return `class_archives`, the folder of the class archives of Spark's driver; by default in the user's cache.

    `None` if it is set to an empty text, or if the user has no home.
    """
    named = conf.get(SECTION, "class_archives", fallback=None)
    try:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    except RuntimeError:
        cache = None
    default = cache / "kafka-migration" / "class-archives" if cache is not None else None
    return default if named is None else (Path(named) if named else None)
