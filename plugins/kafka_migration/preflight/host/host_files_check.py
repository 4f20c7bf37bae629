"""The MirrorMaker host allows as many open files as MirrorMaker needs."""

from __future__ import annotations

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.preflight.host.asking_host import machine
from kafka_migration.preflight.scene.check import BOTH_AND_HOST, Check, Findings, without_mirrormaker
from kafka_migration.preflight.scene.scene import SIDES, Scene, facts, topics_of

# What MirrorMaker opens besides its connections: jars, logs, and the clients that Connect keeps for itself.
FIXED_FILES = 500
# A consumer and a producer per task, with two connections to each broker while leaders move.
CONNECTIONS_PER_BROKER = 4


def _check(scene: Scene) -> Findings:
    answer = machine(scene)
    if answer.facts.get("open_files") == "unlimited":
        return ()
    limit = answer.number("open_files", "how many files may be open")
    brokers = sum(facts(scene, side).brokers for side in SIDES)
    partitions = sum(topic.partitions for topic in topics_of(scene, "source").values())
    return file_findings(limit, scene.migration.mirror.tasks, partitions, brokers)


def file_findings(limit: int, tasks: int, partitions: int, brokers: int) -> Findings:
    """Yield the finding about a limit of open files that is too low for MirrorMaker's connections.

    A client has connections to brokers, not to partitions; the partitions limit the number of tasks.
    """
    used = min(tasks, partitions)
    needed = FIXED_FILES + (used + 2) * brokers * CONNECTIONS_PER_BROKER
    if limit < needed:
        yield Finding(
            Code.HOST_FILE_LIMIT,
            "the MirrorMaker host",
            f"at most {limit:,} open files (ulimit -H -n)",
            f"{needed:,} for {used} task(s) and {brokers} brokers on both clusters",
            "Raise the limit `nofile` of the host's user (/etc/security/limits.conf, or the service that runs sshd), "
            "or lower `mirror.tasks`.",
            happened=f"The host's user may open {limit:,} files (ulimit -H -n), but MirrorMaker with {used} task(s) "
            f"and {brokers} brokers on both clusters needs up to {needed:,}.",
            matters="MirrorMaker stops when it can open no further connection.",
        )


CHECK = Check(
    "host files", _check, asks=BOTH_AND_HOST, needs=("clusters", "topics", "host"), unless=without_mirrormaker
)
