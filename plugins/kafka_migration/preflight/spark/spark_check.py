"""Spark protects Kafka's credentials from everyone else who uses the cluster or its network."""

from __future__ import annotations

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.spark.spark_target import SparkTarget, cipher_findings, unprotected_findings
from kafka_migration.core.spark.spark_versions import Version
from kafka_migration.preflight.scene.check import Asked, Check, Findings
from kafka_migration.preflight.scene.scene import Scene


def _check(scene: Scene) -> Findings:
    if scene.mode is Mode.RESTORE or scene.migration.validation.spark_unprotected:
        return ()
    target = _target(scene)
    return (*_unprotected(scene, declared=False), *cipher_findings(target, _version(scene, target)))


def _declared(scene: Scene) -> tuple[Finding, ...]:
    """Return the findings that the migration file allows as warnings."""
    return _unprotected(scene, declared=True) if scene.migration.validation.spark_unprotected else ()


def _unprotected(scene: Scene, *, declared: bool) -> tuple[Finding, ...]:
    target = _target(scene)
    return unprotected_findings(target, _version(scene, target), declared=declared)


def _target(scene: Scene) -> SparkTarget:
    return scene.airflow.spark.spark_target(scene.migration.validation.spark_connection)


def _version(scene: Scene, target: SparkTarget) -> Version:
    """Return Spark's version; none if it decides nothing, because the question starts Java."""
    return scene.airflow.spark.spark_numbers(target) if target.needs_version else ()


CHECK = Check("spark", _check, asks={Asked.SPARK}, needs=("connections",), warn=_declared)
