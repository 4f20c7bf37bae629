"""The target would create every topic that it lacks: its controller was asked, and nothing was created."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.target.target_topics import refused_creations
from kafka_migration.preflight.scene.asking_host import only_with_mirrormaker
from kafka_migration.preflight.scene.check import Check, NotApplicable, Subject


def _check(subject: Subject) -> Iterable[Finding]:
    if subject.mode is Mode.INTERVAL:
        raise NotApplicable("only the plan of a backfill shows whether there is anything to copy")
    if not subject.new_topics:
        raise NotApplicable("the target has every topic")
    return refused_creations(subject.migration, subject.target.refused_topics(subject.new_topics))


CHECK = Check("creation", only_with_mirrormaker(_check), needs=("topics", "limits"))
