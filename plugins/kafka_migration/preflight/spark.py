"""Spark protects Kafka's credentials, and its Kafka client is new enough to be given them."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.validation.spark_target import unprotected_findings
from kafka_migration.preflight.check import Check, Subject


def _check(subject: Subject) -> Iterable[Finding]:
    if subject.mode is Mode.RESTORE or subject.migration.validation.spark_unprotected:
        return ()
    return _unprotected(subject, declared=False)


def _check_client(subject: Subject) -> Iterable[Finding]:
    sides = (subject.migration.source, subject.migration.target)
    has_login = any(subject.connections.has_login(side) for side in sides)
    return subject.connections.spark_client_findings() if has_login and subject.mode is not Mode.RESTORE else ()


def _declared(subject: Subject) -> tuple[Finding, ...]:
    """Return the findings that the migration file allows as warnings."""
    return _unprotected(subject, declared=True) if subject.migration.validation.spark_unprotected else ()


def _unprotected(subject: Subject, *, declared: bool) -> tuple[Finding, ...]:
    connection = subject.migration.validation.spark_connection
    return unprotected_findings(subject.connections.spark_target(connection), declared=declared)


CHECK = Check("spark", _check, needs=("connections",), warn=_declared)
CLIENT_CHECK = Check("spark client", _check_client, needs=("clusters",))
