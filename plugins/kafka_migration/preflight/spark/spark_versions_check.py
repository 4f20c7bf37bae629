"""Spark, its Kafka connector and its Python have versions with which the jobs work."""

from __future__ import annotations

from kafka_migration.core.migration.settings import Mode
from kafka_migration.preflight.scene.check import Asked, Check, Findings
from kafka_migration.preflight.scene.scene import Scene, asked_once


@asked_once
def _findings(scene: Scene) -> tuple[Findings, Findings]:
    """Return which versions of Spark cannot work together, and which are unknown; mode `restore` needs no Spark."""
    if scene.mode is Mode.RESTORE:
        return (), ()
    return scene.airflow.spark.spark_version_findings(scene.migration.validation.spark_connection)


CHECK = Check(
    "spark versions",
    lambda scene: _findings(scene)[0],
    asks={Asked.SPARK},
    needs=("connections",),
    warn=lambda scene: _findings(scene)[1],
)
