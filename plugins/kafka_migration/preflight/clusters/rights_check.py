"""The logins of both connections have the rights that a run of this mode needs, as far as the brokers show them."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.errors import Finding
from kafka_migration.engines.engine_rights import missing_rights
from kafka_migration.preflight.scene.check import Check, Subject


def _check(subject: Subject) -> Iterable[Finding]:
    migration, principal_of = subject.migration, subject.connections.principal
    yield from missing_rights(subject.source, migration, "source", subject.mode, principal_of(migration.source))
    yield from missing_rights(subject.target, migration, "target", subject.mode, principal_of(migration.target))


CHECK = Check("rights", _check, needs=("earlier runs", "clusters"))
