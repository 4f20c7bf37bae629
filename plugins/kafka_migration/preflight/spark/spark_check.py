"""Spark protects Kafka's credentials, and its Kafka client is new enough to be given them."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.spark.spark_target import (
    SparkTarget,
    cipher_findings,
    shipping_findings,
    unprotected_findings,
)
from kafka_migration.core.spark.spark_versions import Version
from kafka_migration.preflight.scene.check import Check, Subject


def _check(subject: Subject) -> Iterable[Finding]:
    if subject.mode is Mode.RESTORE or subject.migration.validation.spark_unprotected:
        return ()
    target = _target(subject)
    return (*_unprotected(subject, declared=False), *cipher_findings(target, _version(subject, target)))


def _check_client(subject: Subject) -> Iterable[Finding]:
    sides = (subject.migration.source, subject.migration.target)
    if subject.mode is Mode.RESTORE or not any(subject.connections.has_login(side) for side in sides):
        return ()
    return (*shipping_findings(_target(subject)), *subject.connections.spark_client_findings())


def _declared(subject: Subject) -> tuple[Finding, ...]:
    """Return the findings that the migration file allows as warnings."""
    return _unprotected(subject, declared=True) if subject.migration.validation.spark_unprotected else ()


def _unprotected(subject: Subject, *, declared: bool) -> tuple[Finding, ...]:
    target = _target(subject)
    return unprotected_findings(target, _version(subject, target), declared=declared)


def _target(subject: Subject) -> SparkTarget:
    return subject.connections.spark_target(subject.migration.validation.spark_connection)


def _version(subject: Subject, target: SparkTarget) -> Version:
    """Return Spark's version; none if it decides nothing, because the question starts Java."""
    return subject.connections.spark_numbers(target) if target.needs_version else ()


CHECK = Check("spark", _check, needs=("connections",), warn=_declared)
CLIENT_CHECK = Check("spark client", _check_client, needs=("clusters",))
