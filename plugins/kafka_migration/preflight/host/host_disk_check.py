"""The disk of the MirrorMaker host has room for the logs of a run."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.errors import Finding
from kafka_migration.preflight.scene.asking_host import number, only_with_mirrormaker
from kafka_migration.preflight.scene.check import Check, Subject
from kafka_migration.preflight.scene.machine_rules import disk_findings


def _check(subject: Subject) -> Iterable[Finding]:
    return disk_findings(number(subject, "free_kib", "how much space is free"))


CHECK = Check("host disk", only_with_mirrormaker(_check), needs=("clusters", "host"))
