"""The MirrorMaker host answers."""

from __future__ import annotations

from kafka_migration.preflight.scene.check import Asked, Check, Findings
from kafka_migration.preflight.scene.scene import Scene


def _check(scene: Scene) -> Findings:
    if scene.mode.mirrors or scene.mode.rolls_back:
        scene.run.process.status()
    return ()


CHECK = Check("host", _check, asks={Asked.HOST}, needs=("connections",))
