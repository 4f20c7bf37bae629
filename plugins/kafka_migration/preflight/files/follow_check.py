"""`follow_until` is in the future."""

from __future__ import annotations

from kafka_migration.core.run.run_conf import conf_finding
from kafka_migration.preflight.scene.check import Asked, Check, Findings
from kafka_migration.preflight.scene.scene import Scene


def _check(scene: Scene) -> Findings:
    until = scene.run.request.follow_until
    if until is not None and until <= scene.now:
        yield conf_finding(
            "follow_until", until.isoformat(), f"a moment after {scene.now.isoformat(timespec='seconds')}"
        )


CHECK = Check("follow", _check, asks={Asked.FILE})
