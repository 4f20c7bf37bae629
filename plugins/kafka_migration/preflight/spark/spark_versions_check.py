"""Spark, its Kafka connector and its Python have versions with which the jobs work."""

from __future__ import annotations

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.migration.settings import Mode
from kafka_migration.preflight.scene.check import Asked, Check, Findings
from kafka_migration.preflight.scene.scene import Scene, asked_once


@asked_once
def _findings(scene: Scene) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Return which versions of Spark cannot work together, and which are unknown."""
    return scene.airflow.spark.spark_version_findings(scene.migration.validation.spark_connection)


def _check(scene: Scene) -> Findings:
    return () if scene.mode is Mode.RESTORE else _findings(scene)[0]


def _unknown(scene: Scene) -> Findings:
    return () if scene.mode is Mode.RESTORE else _findings(scene)[1]


CHECK = Check("spark versions", _check, asks={Asked.SPARK}, needs=("connections",), warn=_unknown)
