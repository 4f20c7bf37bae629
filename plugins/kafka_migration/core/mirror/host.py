"""What the package asks of the MirrorMaker host: values, and the Protocol that the adapter implements.

One migration has at most one MirrorMaker at any time, and that is kept on the host, not in Airflow. A
*generation* is one start of MirrorMaker's JVM, numbered from 1. A *reservation* says which run may act; it
has no expiry. The *lease* is a dead-man's switch: a generation that is not renewed in time ends by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, Protocol

# In arguments, Java options and files of a launch the host puts the generation's own directory in its place.
GENERATION_DIR = "@GENERATION_DIR@"
# The file in that directory that the launched program logs to; what it prints goes to `console.log`.
LOG_FILE = "mirrormaker.log"
LOG4J_FILE = "log4j.properties"
# The one tool that a probe runs: `kafka-transactions.sh describe-producers`.
PROBE_CLASS = "org.apache.kafka.tools.TransactionsCommand"
# How many lines of the log come with the reply to a stop, or on a dead generation.
LOG_TAIL_LINES = 40


class ProcessState(StrEnum):
    """What is known of a generation's process.

    `none`: nothing was ever started. `dead`: it was started, nobody told it to stop, and it is not alive.
    """

    NONE = "none"
    RUNNING = "running"
    STOPPED = "stopped"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class MirrorLaunch:
    """What the host needs to start one generation.

    `files` are written below the generation's directory, readable by its owner only; all but the log4j file
    are removed when the process ends. `kafka_home` and `java_home` default to the host's own variables.
    `GENERATION_DIR` is replaced in `arguments`, `java_options` and the texts of `files`. A file named
    `log4j.properties` becomes log4j's configuration. The host takes MirrorMaker's main classes only, and the
    Java options and lines for log4j that docs/mirrorctl.md lists.

    `alarms`: texts of one line; the newest line of the log that holds one comes with each status. With
    `private_arguments` the arguments reach Java 9 or newer in a file, so that no process list shows them.
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
class HostProbe:
    """One run of Kafka's tool that tells who writes to a partition; the host takes this one form, and no other.

    `files`, `arguments` and the homes are as in a launch; `GENERATION_DIR` stands for the folder of the probe,
    which is removed at its end. `timeout_s` is what the tool may take.
    """

    main_class: str
    arguments: tuple[str, ...]
    files: Mapping[str, str]
    timeout_s: int
    kafka_home: str | None
    java_home: str | None


@dataclass(frozen=True, slots=True)
class HostReply:
    """One reply of the host: how the request went, and what is true right after it.

    `generation` is 0 when nothing was ever started; `state`, `pid` and everything about a process belong to
    that generation. `pid`, `started_at` (epoch s), `uptime_s`, `exit_code` and `lease_remaining_s` are None
    where they are unknown or make no sense. `holder` is empty when the migration is free. `adopted` tells
    that a start found its own process running already, `killed` that the process did not end on TERM.
    `exit_reason` is `stopped`, `lease-expired`, `ended` (by itself), or empty when unknown. `log` holds the
    last lines, where the verb brings them.

    `alarm` is the newest line (up to 500 characters) in the last 256 KiB of the log that holds one of the launch's
    alarms; a renewal, a status and a stop bring it. A probe's `exit_code` and `log` are those of the tool, its output
    before its errors. `facts` come with a fingerprint: `kafka`, `java` (versions), `java_path`, `kafka_home`,
    `base` (folder), `mirrorctl` (SHA-256), `user`, `kernel`; empty where unknown.
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

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> HostReply:
        """Read a reply's JSON object; fields of a newer mirrorctl are left out.

        Raises `ValueError`, `KeyError` or `TypeError` for an object that is not a reply.
        """
        known = {field.name: document[field.name] for field in fields(cls) if field.name in document}
        wrong = [name for name, value in known.items() if not _FITS.get(name, _is_text)(value)]
        if wrong:
            raise TypeError(f"{', '.join(wrong)} of another type than a reply has")
        return cls(**{**known, "state": ProcessState(document["state"])})


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool))


def _is_generation(value: Any) -> bool:
    return value is not None and _is_number(value) and value >= 0


def _are_facts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(fact, str) for fact in value.values())


# What a field of a reply may be; every other is a text.
_FITS: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("ok", "adopted", "killed"), _is_flag),
    **dict.fromkeys(("pid", "started_at", "uptime_s", "exit_code", "lease_remaining_s"), _is_number),
    "generation": _is_generation,
    "facts": _are_facts,
}


class MirrorHost(Protocol):
    """The MirrorMaker of one migration on its host.

    Every method raises `Refused` when the host refuses or must not be trusted, and `TransientError` when it
    could not be reached or was busy, so that nothing was done. An acting method (`reserve`, `release`, `start`,
    `stop`, `clean`) raises `OutcomeUnknown` when it may have happened and asking did not tell.
    """

    def reserve(self, holder: str, take_over_from: str | None = None) -> HostReply:
        """Take the reservation; holding it already is fine.

        Another's is taken over only when its holder is exactly `take_over_from`, else `RESERVED_BY`.
        """

    def release(self, holder: str) -> HostReply:
        """Free the reservation; one that is free already is fine, another holder's is `RESERVED_BY`.

        `ALREADY_RUNNING` while a process of the migration is alive: without a reservation nobody would stop it.
        """

    def start(self, holder: str, generation: int, launch: MirrorLaunch) -> HostReply:
        """Start a generation; return once its process is alive.

        Asked again by the same holder while that generation runs, it starts nothing and the reply is
        `adopted`. Refusals: `NOT_RESERVED`; `ALREADY_RUNNING`; `GENERATION_STOPPED` for one that was told to
        stop, started or not; `GENERATION_UNEXPECTED` for any but the next after the last started or stopped
        one; `JAVA_MISSING`, `MM_BINARY_NOT_FOUND`, `HOST_TOOL_MISSING`. A process that ends at once raises
        `MirrorFailed` (`MIRROR_DEAD`); the generation is then used up.
        """

    def renew(self, holder: str, generation: int) -> HostReply:
        """Renew the lease of a generation and return its status; one that is not alive is not renewed.

        Refusals: `NOT_RESERVED`, `GENERATION_UNEXPECTED`.
        """

    def status(self) -> HostReply:
        """Return what is true now, with the log's last lines when the generation is dead."""

    def stop(self, holder: str, generation: int | None, grace_s: int) -> HostReply:
        """End a generation (None: the last one) for good: TERM, after `grace_s` KILL; return when it is gone.

        With a `grace_s` of 0 there is no TERM: nothing is done in a shutdown hook.
        It leaves a tombstone, so a late start of it or an earlier one is refused. Stopped already, or never
        started, is fine: the reply then tells what was recorded; its generation is the last one really started
        when that is lower, and that one is ended too. `RESERVED_BY` when another holds the reservation; a free
        one is no obstacle. A process that survives KILL raises `MirrorFailed` (`MIRROR_NOT_STOPPED`).
        """

    def logs(self, generation: int | None, lines: int) -> HostReply:
        """Return the last lines of a generation's log (None: of the last one)."""

    def fingerprint(self, kafka_home: str | None, java_home: str | None) -> HostReply:
        """Return what the host is and has, in `facts`; the homes default to the host's own variables.

        Refusals: `JAVA_MISSING`, `MM_BINARY_NOT_FOUND`, `HOST_TOOL_MISSING`.
        """

    def probe(self, probe: HostProbe) -> HostReply:
        """Run Kafka's tool and return its output; an `exit_code` other than 0 is no refusal.

        Needs no reservation and waits for nobody. Raises `TransientError` (`PROBE_TIMED_OUT`) for a tool that did
        not end in time. Refusals: as `fingerprint`; `HOST_REFUSED` for another tool, other arguments or
        settings than those of `core.producers.producers_probe`, or an output over 4 MiB.
        """

    def clean(self, holder: str, keep: int) -> HostReply:
        """Remove the folders of old generations, but the last and the `keep` newest ones, and what dead probes left.

        `RESERVED_BY` when another holds the reservation; a free one is no obstacle.
        """

    def close(self) -> None:
        """Close the connection, if one is open; a later call opens it again."""
