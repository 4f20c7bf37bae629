"""The target would create every topic that it lacks: its controller was asked, and nothing was created."""

from __future__ import annotations

from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.target.target_topics import refused_creations
from kafka_migration.preflight.scene.check import BOTH, Check, Findings, NotApplicable, without_mirrormaker
from kafka_migration.preflight.scene.scene import Scene, new_topics


def _check(scene: Scene) -> Findings:
    if scene.mode is Mode.INTERVAL:
        raise NotApplicable("only the plan of a backfill shows whether there is anything to copy")
    if not new_topics(scene):
        raise NotApplicable("the target has every topic")
    return refused_creations(scene.migration, scene.target.refused_topics(new_topics(scene)))


CHECK = Check("creation", _check, asks=BOTH, needs=("topics", "limits"), unless=without_mirrormaker)
