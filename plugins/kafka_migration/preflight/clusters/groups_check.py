"""The requested groups exist on the source and belong to the migration."""

from __future__ import annotations

from kafka_migration.core.groups.selection import which_groups
from kafka_migration.core.run.run_conf import unknown_findings
from kafka_migration.preflight.scene.check import Asked, Check, Findings
from kafka_migration.preflight.scene.scene import Scene


def _check(scene: Scene) -> Findings:
    if requested := scene.run.request.groups:
        known = frozenset(which_groups(scene.source.list_groups(), scene.migration.cutover.groups))
        unknown = [group for group in requested if group not in known]
        expected = "groups on the source that match cutover.groups of the migration file"
        yield from unknown_findings("groups", unknown, expected)


CHECK = Check("groups", _check, asks={Asked.SOURCE}, needs=("clusters",))
