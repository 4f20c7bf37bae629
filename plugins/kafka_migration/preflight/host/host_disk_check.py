"""The disk of the MirrorMaker host has room for the logs of a run."""

from __future__ import annotations

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.preflight.host.asking_host import machine
from kafka_migration.preflight.scene.check import BOTH_AND_HOST, Check, Findings, without_mirrormaker
from kafka_migration.preflight.scene.scene import Scene

# mirrorctl bounds what one generation writes: 5 log files of 20 MB, and 20 MiB of Java's own output.
GENERATION_MIB = 125


def _check(scene: Scene) -> Findings:
    return disk_findings(machine(scene).number("free_kib", "how much space is free"))


def disk_findings(free_kib: int) -> Findings:
    """Yield the finding about a disk that cannot hold the logs of one more generation."""
    if free_kib < GENERATION_MIB * 1024:
        free = f"{free_kib // 1024:,} MiB"
        yield Finding(
            Code.HOST_DISK_FULL,
            "the MirrorMaker host",
            f"{free} free for the base folder of mirrorctl",
            f"{GENERATION_MIB} MiB, the most that the logs of one MirrorMaker process take",
            "Free space on that disk. Before the first run of a migration, the base folder can also be moved "
            "(KAFKA_MIGRATION_HOME).",
            happened=f"The disk with the base folder of mirrorctl has {free} free, but the logs of one MirrorMaker "
            f"process take up to {GENERATION_MIB} MiB.",
            matters="On a full disk MirrorMaker does not start, and the host cannot record how it stopped.",
        )


CHECK = Check("host disk", _check, asks=BOTH_AND_HOST, needs=("clusters", "host"), unless=without_mirrormaker)
