"""The MirrorMaker host answers."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.errors import Finding
from kafka_migration.preflight.scene.check import Asked, Check
from kafka_migration.preflight.scene.scene import Scene


def _check(scene: Scene) -> Iterable[Finding]:
    if scene.mode.mirrors or scene.mode.rolls_back:
        scene.run.process.status()
    return ()


CHECK = Check("host", _check, asks={Asked.HOST}, needs=("connections",))
