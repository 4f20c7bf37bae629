"""The MirrorMaker host answers."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.errors import Finding
from kafka_migration.preflight.scene.check import Check, Subject


def _check(subject: Subject) -> Iterable[Finding]:
    if subject.mode.mirrors or subject.mode.rolls_back:
        subject.process.status()
    return ()


CHECK = Check("host", _check, needs=("connections",))
