"""The migration file has the engine, alias and topic names of earlier runs; removed topics are a warning."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.ledger.copy_basis import changed_settings
from kafka_migration.core.target.removed_topics import removed_topic_warnings
from kafka_migration.preflight.scene.check import Check, Subject


def _check(subject: Subject) -> Iterable[Finding]:
    return changed_settings(subject.ledger.basis, subject.migration)


def _warn(subject: Subject) -> Iterable[Finding]:
    return removed_topic_warnings(subject.migration, subject.ledger)


CHECK = Check("earlier runs", _check, warn=_warn)
