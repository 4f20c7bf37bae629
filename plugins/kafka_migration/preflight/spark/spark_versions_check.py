"""Spark, its Kafka connector and its Python have versions with which the jobs work."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.migration.settings import Mode
from kafka_migration.preflight.scene.check import Check, Subject


def _check(subject: Subject) -> Iterable[Finding]:
    return () if subject.mode is Mode.RESTORE else subject.spark_version_findings[0]


def _unknown(subject: Subject) -> Iterable[Finding]:
    return () if subject.mode is Mode.RESTORE else subject.spark_version_findings[1]


CHECK = Check("spark versions", _check, needs=("connections",), warn=_unknown)
