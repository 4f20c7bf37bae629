"""The rules about the MirrorMaker host itself: free disk space, open files and clock."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding

SUBJECT = "the MirrorMaker host"
# mirrorctl bounds what one generation writes: 5 log files of 20 MB, and 20 MiB of Java's own output.
GENERATION_MIB = 125
# What MirrorMaker opens besides its connections: jars, logs, and the clients that Connect keeps for itself.
FIXED_FILES = 500
# A consumer and a producer per task, with two connections to each broker while leaders move.
CONNECTIONS_PER_BROKER = 4
# Kerberos allows 5 minutes, and certificates and tokens begin at a moment. NTP keeps clocks within a second.
CLOCK_TOLERANCE = timedelta(seconds=60)


def disk_findings(free_kib: int) -> Iterator[Finding]:
    """Yield the finding about a disk that cannot hold the logs of one more generation."""
    if free_kib < GENERATION_MIB * 1024:
        yield Finding(
            Code.HOST_DISK_FULL,
            SUBJECT,
            f"{free_kib // 1024:,} MiB free for the base folder of mirrorctl",
            f"{GENERATION_MIB} MiB, the most that the logs of one MirrorMaker process take",
            "Free space on that disk, or move the base folder (KAFKA_MIGRATION_HOME) before the first run. On a full "
            "disk nothing starts, and no stop is recorded.",
        )


def file_findings(limit: int, tasks: int, partitions: int, brokers: int) -> Iterator[Finding]:
    """Yield the finding about a limit of open files that is too low for MirrorMaker's connections.

    A client has connections to brokers, not to partitions; the partitions limit the number of tasks.
    """
    needed = FIXED_FILES + (min(tasks, partitions) + 2) * brokers * CONNECTIONS_PER_BROKER
    if limit < needed:
        yield Finding(
            Code.HOST_FILE_LIMIT,
            SUBJECT,
            f"at most {limit:,} open files (ulimit -H -n)",
            f"{needed:,} for {min(tasks, partitions)} task(s) and {brokers} brokers on both clusters",
            "Raise the limit `nofile` of the host's user (/etc/security/limits.conf, or the service that runs sshd), "
            "or lower `mirror.tasks`.",
        )


def clock_findings(subject: str, shown: datetime, earliest: datetime, latest: datetime) -> Iterator[Finding]:
    """Yield the warning about a clock that showed a time outside of the moments between which it was read."""
    ahead, late = shown - latest, earliest - shown
    difference = max(ahead, late)
    if difference > CLOCK_TOLERANCE:
        yield Finding(
            Code.CLOCKS_DIFFER,
            subject,
            f"a clock that is {int(difference.total_seconds()):,} s {'ahead' if ahead > late else 'late'}",
            f"at most {int(CLOCK_TOLERANCE.total_seconds())} s of difference",
            "Let NTP set all clocks. Logins, certificates, retention and the times in reports depend on them.",
        )
