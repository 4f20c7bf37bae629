"""The `[kafka_migration]` section of Airflow's configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from airflow.sdk import ObjectStoragePath, conf

import kafka_migration
from kafka_migration.core.evidence_place import EvidencePlace

SECTION = "kafka_migration"
SPARK_KAFKA_PACKAGE = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0"
# plugins/kafka_migration/__init__.py lies two folders below the project's root in a folder copy.
_PROJECT = Path(kafka_migration.__file__).resolve().parents[2]


def _evidence_root_setting() -> str:
    from airflow.configuration import AIRFLOW_HOME

    return str(conf.get(SECTION, "evidence_root", fallback=f"{AIRFLOW_HOME}/kafka_migration"))


def evidence_root() -> Any:
    """Return `evidence_root`: a folder or an object-store URL; by default below `AIRFLOW_HOME`."""
    return folder_at(_evidence_root_setting())


def evidence_place() -> EvidencePlace:
    """Return the evidence root with Spark's spelling of it: `spark_evidence_root`, by default derived."""
    stated = conf.get(SECTION, "spark_evidence_root", fallback="") or None
    return EvidencePlace(str(evidence_root()), _evidence_root_setting(), stated)


def folder_at(place: str) -> Any:
    """Return the folder at a path, or at the URL of an object store."""
    return ObjectStoragePath(place)


def migrations_folder() -> Path:
    """Return `migrations_folder`; by default `include/migrations` beside `plugins/`."""
    return Path(conf.get(SECTION, "migrations_folder", fallback=str(_PROJECT / "include" / "migrations")))


def alerts_file() -> Path | None:
    """Return `alerts_file`, which says who is told of migrations whose file does not, or `None` when not set."""
    named = conf.get(SECTION, "alerts_file", fallback="")
    return Path(named) if named else None


def spark_jobs_folder() -> Path:
    """Return `spark_jobs_folder`; by default `spark_jobs` beside `plugins/`."""
    return Path(conf.get(SECTION, "spark_jobs_folder", fallback=str(_PROJECT / "spark_jobs")))


def spark_jars() -> str | None:
    """Return `spark_jars`, a comma-separated list of the Kafka connector's jars, or `None` when not set."""
    return conf.get(SECTION, "spark_jars", fallback="") or None
