"""The target would create every topic that it lacks: its controller was asked, and nothing was created."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.mirror.target_topics import refused_creations
from kafka_migration.preflight.check import Check, Subject


def _check(subject: Subject) -> Iterable[Finding]:
    if not subject.mode.mirrors or subject.mode is Mode.INTERVAL or not subject.new_topics:
        return ()
    return refused_creations(subject.migration, subject.target.refused_topics(subject.new_topics))


CHECK = Check("creation", _check, needs=("topics", "limits"))
