"""The logins of both connections have the rights that a run of this mode needs, as far as the brokers show them."""

from __future__ import annotations

from kafka_migration.engines.engine_rights import missing_rights
from kafka_migration.preflight.scene.check import BOTH, Check, Findings
from kafka_migration.preflight.scene.scene import Scene


def _check(scene: Scene) -> Findings:
    migration, principal_of = scene.migration, scene.airflow.connections.principal
    yield from missing_rights(scene.source, migration, "source", scene.mode, principal_of(migration.source))
    yield from missing_rights(scene.target, migration, "target", scene.mode, principal_of(migration.target))


CHECK = Check("rights", _check, asks=BOTH, needs=("earlier runs", "clusters"))
