"""Both schema registries of the migration file answer."""

from __future__ import annotations

from contextlib import closing

from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.preflight.scene.check import Asked, Check, Findings
from kafka_migration.preflight.scene.scene import Scene

# Any id shows whether address, login and rights are good: a registry answers with its schema, or that it has none.
_ANY_ID = 1


def _check(scene: Scene) -> Findings:
    named = scene.migration.schema_registry
    if named is None:
        return
    yield from _ask(scene, "source", named.source)
    yield from _ask(scene, "target", named.target)


def _ask(scene: Scene, side: Side, connection: str) -> tuple[Finding, ...]:
    try:
        with closing(scene.run.deployment.open_registry(side, connection)) as registry:
            registry.schema(_ANY_ID)
    except Refused as refused:
        return refused.findings
    return ()


CHECK = Check("registries", _check, asks={Asked.REGISTRY}, needs=("connections",))
