"""No other migration file copies a topic of this one between the same clusters."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.run.overlap import overlap_findings
from kafka_migration.preflight.scene.check import Check, Subject


def _check(subject: Subject) -> Iterable[Finding]:
    return overlap_findings(subject.migration, subject.others)


CHECK = Check("overlap", _check)
