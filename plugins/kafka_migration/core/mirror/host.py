"""The interface to the MirrorMaker host: values, and the Protocol that the adapter implements.

One migration has at most one MirrorMaker process at any time. The host enforces this, not Airflow. A *generation* is
one MirrorMaker process from its start to its stop, numbered from 1. A *reservation* says which run may act; it does not
expire. The *lease* is a dead-man's switch: a generation that is not renewed in time ends by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from kafka_migration.core.documents.codec import Document

# The host replaces it by the generation's directory in arguments, Java options and files of a launch.
GENERATION_DIR = "@GENERATION_DIR@"
# The log file of the launched program in that directory; its console output goes to `console.log`.
LOG_FILE = "mirrormaker.log"
LOG4J_FILE = "log4j.properties"
LOG4J2_FILE = "log4j2.properties"
# How many log lines the reply to a stop contains, or the status of a dead generation.
LOG_TAIL_LINES = 40


class ProcessState(StrEnum):
    """The state of a generation's process.

    `none`: no process was ever started. `dead`: it was started and is not alive, although no stop was requested.
    """

    NONE = "none"
    RUNNING = "running"
    STOPPED = "stopped"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class MirrorLaunch:
    """What the host needs to start one generation.

    `files` are written in the generation's directory, readable only by its owner; all but the logging files
    are removed when the process ends. `kafka_home` and `java_home` default to the host's own variables.
    `GENERATION_DIR` is replaced in `arguments`, `java_options` and the texts of `files`. `log4j.properties`
    configures the logging of Kafka before 4.0, `log4j2.properties` that of newer ones. The host accepts only
    MirrorMaker's main classes and the Java options and logging lines that docs/reference/mirrorctl.md lists.

    `alarms` are one-line texts; each status contains the newest log line with one of them. With
    `private_arguments` Java 9 or newer reads the arguments from a file, so that no process list shows them.
    """

    main_class: str
    arguments: tuple[str, ...]
    files: Mapping[str, str]
    java_options: tuple[str, ...]
    kafka_home: str | None
    java_home: str | None
    lease_s: int
    alarms: tuple[str, ...] = ()
    private_arguments: bool = False


@dataclass(frozen=True, slots=True)
class HostReply(Document):
    """One reply of the host: the result of the request, and the state right after it.

    `generation` is 0 when nothing was ever started; `state`, `pid` and everything about a process belong to
    that generation. `pid`, `started_at` (epoch s), `uptime_s`, `exit_code` and `lease_remaining_s` are None
    if unknown or not applicable. `holder` is empty when the migration is not reserved. `adopted` says that a start
    found its own process already running, `killed` that the process did not end on TERM. `exit_reason` is `stopped`,
    `lease-expired`, `ended` (by itself), or empty when unknown. `log` holds the last lines, for verbs that return them.

    `alarm` is the newest line (up to 500 characters) in the last 256 KiB of the log that contains one of the launch's
    alarms; a renewal, a status and a stop return it. `facts` come with a fingerprint: `kafka`, `java` (versions),
    `java_path`, `kafka_home`, `base` (folder), `mirrorctl` (SHA-256), `user`, `kernel`; empty where unknown. Those of a
    probe are in docs/reference/mirrorctl.md.
    """

    ok: bool
    code: str
    message: str
    verb: str
    migration: str
    generation: int = 0
    state: ProcessState = ProcessState.NONE
    pid: int | None = None
    started_at: int | None = None
    uptime_s: int | None = None
    exit_code: int | None = None
    exit_reason: str = ""
    holder: str = ""
    lease_remaining_s: int | None = None
    boot_id: str = ""
    adopted: bool = False
    killed: bool = False
    log: str = ""
    alarm: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_running(self) -> bool:
        """Whether the generation's process is alive."""
        return self.state is ProcessState.RUNNING


class ProbeSubject(StrEnum):
    """What a probe asks: the host itself, or one of Kafka's own tools there about one cluster."""

    HOST = "host"
    BROKERS = "brokers"
    SPACE = "space"
    QUOTAS = "quotas"
    CLOCK = "clock"


@dataclass(frozen=True, slots=True)
class HostProbe:
    """One question to the host. It changes nothing, and needs no reservation.

    For `HOST` only `names` are used: the host names to look up there. All other subjects log in to one cluster with
    `bootstrap` and `properties`, the text of a Java properties file that the host keeps like a launch's secrets;
    `topics` limit the answer for `SPACE`. Of a launch's `java_options` only those of logins are allowed.
    """

    subject: ProbeSubject
    kafka_home: str | None = None
    java_home: str | None = None
    names: tuple[str, ...] = ()
    bootstrap: str = ""
    properties: str = ""
    java_options: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()


class MirrorHost(Protocol):
    """The MirrorMaker of one migration on its host.

    Every method raises `Refused` when the host refuses or must not be trusted, and `TransientError` when it
    was unreachable or busy and nothing was done. An acting method (`reserve`, `release`, `start`, `stop`, `clean`)
    raises `OutcomeUnknown` when the action may have happened and a status request did not show it.
    """

    def reserve(self, holder: str, take_over_from: str | None = None) -> HostReply:
        """Take the reservation; it is no error to hold it already.

        The reservation of another run is taken over only if its holder is exactly `take_over_from`, else `RESERVED_BY`.
        """

    def release(self, holder: str) -> HostReply:
        """Free the reservation, also if it is already free; `RESERVED_BY` if another run holds it.

        `ALREADY_RUNNING` while a process of the migration is alive: without a reservation no run would stop it.
        """

    def start(self, holder: str, generation: int, launch: MirrorLaunch) -> HostReply:
        """Start a generation; return once its process is alive.

        A second request of the same holder while that generation runs starts nothing; the reply is then
        `adopted`. Refusals: `NOT_RESERVED`; `ALREADY_RUNNING`; `GENERATION_STOPPED` if a stop of this generation was
        requested, started or not; `GENERATION_UNEXPECTED` if it does not follow the last started or stopped one;
        `JAVA_MISSING`, `MM_BINARY_NOT_FOUND`, `HOST_TOOL_MISSING`. A process that ends at once raises
        `MirrorFailed` (`MIRROR_DEAD`); the generation is then used up.
        """

    def renew(self, holder: str, generation: int) -> HostReply:
        """Renew the lease of a generation if it is alive, and return its status.

        Refusals: `NOT_RESERVED`, `GENERATION_UNEXPECTED`.
        """

    def status(self) -> HostReply:
        """Return the current state, with the log's last lines if the generation is dead."""

    def stop(self, holder: str, generation: int | None, grace_s: int) -> HostReply:
        """End a generation (None: the last one) for good: TERM, then KILL after `grace_s`; return when it has ended.

        With a `grace_s` of 0 there is no TERM, so no shutdown hook runs.
        The stop leaves a tombstone, so a late start of this or an earlier generation is refused. A generation that is
        already stopped or was never started is no error: the reply then has the recorded state. Its generation is the
        last one really started if that is lower, and that one is ended too. `RESERVED_BY` if another run holds the
        reservation; none is needed. A process that survives KILL raises `MirrorFailed` (`MIRROR_NOT_STOPPED`).
        """

    def logs(self, generation: int | None, lines: int) -> HostReply:
        """Return the last lines of a generation's log (None: of the last one)."""

    def fingerprint(self, kafka_home: str | None, java_home: str | None) -> HostReply:
        """Return the host's versions and paths in `facts`; the homes default to the host's own variables.

        Refusals: `JAVA_MISSING`, `MM_BINARY_NOT_FOUND`, `HOST_TOOL_MISSING`.
        """

    def probe(self, probe: HostProbe) -> HostReply:
        """Return in `facts` what the host answers to a probe; `preflight.scene` reads it.

        Refusals: `HOST_REFUSED`, `JAVA_MISSING`, `MM_BINARY_NOT_FOUND`, `HOST_TOOL_MISSING` if it needs Kafka.
        """

    def clean(self, holder: str, keep: int) -> HostReply:
        """Remove the folders of all generations except the last and the `keep` newest ones.

        `RESERVED_BY` if another run holds the reservation; none is needed.
        """

    def close(self) -> None:
        """Close the connection, if one is open; a later call opens it again."""
