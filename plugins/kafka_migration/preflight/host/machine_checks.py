"""Checks of the MirrorMaker host itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.text.shortened import some
from kafka_migration.preflight.host.asking_host import (
    NamesOnHost,
    broker_names,
    clock_findings,
    machine,
    names_of_brokers,
)
from kafka_migration.preflight.scene.check import (
    BOTH_AND_HOST,
    Asked,
    Fact,
    Findings,
    UnknownFact,
    check,
    unknown_warnings,
    without_mirrormaker,
)
from kafka_migration.preflight.scene.scene import SIDES, Scene, facts, topics_of


def _without_host(scene: Scene) -> str:
    return scene.migration.mirror.abilities.needs_host.why_not


@check("host", asks={Asked.HOST}, needs=("connections",), unless=_without_host)
def host(scene: Scene) -> Findings:
    """The MirrorMaker host answers."""
    if scene.mode.mirrors or scene.mode.rolls_back:
        scene.run.process.status()
    return ()


# mirrorctl bounds what one generation writes: 5 log files of 20 MB, and 20 MiB of Java's own output.
GENERATION_MIB = 125


@check("host disk", asks=BOTH_AND_HOST, needs=("clusters", "host"), unless=without_mirrormaker)
def host_disk(scene: Scene) -> Findings:
    """The disk of the MirrorMaker host has room for the logs of a run."""
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


# What MirrorMaker opens besides its connections: jars, logs, and the clients that Connect keeps for itself.
FIXED_FILES = 500
# A consumer and a producer per task, with two connections to each broker while leaders move.
CONNECTIONS_PER_BROKER = 4


@check("host files", asks=BOTH_AND_HOST, needs=("clusters", "topics", "host"), unless=without_mirrormaker)
def host_files(scene: Scene) -> Findings:
    """The MirrorMaker host allows as many open files as MirrorMaker needs."""
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


@check("host clock", asks=BOTH_AND_HOST, needs=("clusters", "host"), unless=without_mirrormaker, warns=True)
def host_clock(scene: Scene) -> Findings:
    """The clocks of the MirrorMaker host and of the Airflow worker agree."""
    answer = machine(scene)
    shown = datetime.fromtimestamp(answer.number("clock", "its time"), UTC)
    # The host shows whole seconds.
    earliest = answer.before - timedelta(seconds=1)
    return clock_findings("the MirrorMaker host", "the Airflow worker", shown, earliest, answer.after)


_NAMES = Fact(
    "whether the host resolves the names of all brokers", "MirrorMaker cannot reach a broker whose name has no address."
)


def _host_names_warnings(scene: Scene) -> Findings:
    answer = machine(scene)
    unknown = answer.names.unknown(names_of_brokers(scene))
    fact = _ended(unknown) if answer.facts.get("names") else _NO_GETENT
    return unknown_warnings({"the MirrorMaker host": fact} if unknown else {})


@check(
    "host names", asks=BOTH_AND_HOST, needs=("clusters", "host"), warn=_host_names_warnings, unless=without_mirrormaker
)
def host_names(scene: Scene) -> Findings:
    """The MirrorMaker host finds an address of every broker that both clusters advertise."""
    for side in SIDES:
        addresses, on_host = facts(scene, side).addresses, machine(scene).names
        on_worker = {name: scene.airflow.look_up(name) for name in broker_names(addresses) if name in on_host.missing}
        yield from resolve_findings(f"{side}.connection", addresses, on_host, on_worker)


def resolve_findings(
    subject: str, addresses: Sequence[str], on_host: NamesOnHost, on_worker: Mapping[str, Sequence[str]]
) -> Findings:
    """Yield the finding about broker names without an address on the host, with the lines for its `/etc/hosts`."""
    missing = [name for name in broker_names(addresses) if name in on_host.missing]
    if not missing:
        return
    block = "\n".join(f"{on_worker[name][0]} {name}" for name in missing if on_worker.get(name))
    yield Finding(
        Code.HOST_CANNOT_RESOLVE,
        subject,
        f"no address of {', '.join(missing)} on the MirrorMaker host",
        "an address of every broker that the cluster advertises",
        f"Add the names to the host's DNS, or these lines to /etc/hosts on the host:\n{block}\n"
        if block
        else "Add the names to the host's DNS, or correct advertised.listeners of the brokers.",
        happened=f"The MirrorMaker host finds no address for {', '.join(missing)}, which brokers of {subject} "
        "advertise.",
        matters="MirrorMaker cannot copy the partitions of a broker that it does not reach.",
    )


_NO_GETENT = UnknownFact(_NAMES, "getent is missing there", "Install getent on the MirrorMaker host.")


def _ended(names: Sequence[str]) -> UnknownFact:
    reason = f"the look-up of {some(names)} gave no answer in time"
    return UnknownFact(_NAMES, reason, "Check the DNS servers that the MirrorMaker host uses.")
