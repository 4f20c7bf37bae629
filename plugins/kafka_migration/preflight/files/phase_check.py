"""The migration's phase allows the mode."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.ledger.phases import phase_findings
from kafka_migration.preflight.scene.check import Check, Subject


def _check(subject: Subject) -> Iterable[Finding]:
    migration = subject.migration
    return phase_findings(subject.ledger, migration.name, subject.mode, migration.topics, subject.requested_topics)


CHECK = Check("phase", _check)
