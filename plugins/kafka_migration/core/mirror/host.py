"""The MirrorMaker host: what a MirrorMaker process there is started with and answers, and the host's own tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Protocol

from kafka_migration.core.connect.connect_tools import ConnectTools
from kafka_migration.core.mirror.mirror_process import AnyProcess, HowEnded, ProcessEnding, ProcessReply

# The host replaces it by the generation's directory in arguments, Java options and files of a launch.
GENERATION_DIR = "@GENERATION_DIR@"
# The log file of the launched program in that directory; its console output goes to `console.log`.
LOG_FILE = "mirrormaker.log"
LOG4J_FILE = "log4j.properties"
LOG4J2_FILE = "log4j2.properties"
# The exit code of a process that KILL ended.
EXIT_OF_KILL = 137


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


@dataclass(frozen=True, slots=True, kw_only=True)
class HostReply(ProcessReply):
    """One reply of the host: the result of the request, and the state right after it.

    `killed` says that the process did not end on TERM. A generation on a host always has a log; `alarm` is the newest
    line (up to 500 characters) in the last 256 KiB of it that contains one of the launch's alarms; a renewal, a status
    and a stop return it. `uptime_s` is `None` if unknown. `facts` come with a fingerprint: `kafka`, `java` (versions),
    `java_path`, `kafka_home`, `base` (folder), `mirrorctl` (SHA-256), `user`, `kernel`; empty where unknown. Those of a
    probe are in docs/reference/mirrorctl.md.
    """

    ok: bool
    code: str
    message: str
    verb: str
    migration: str
    log: str = ""
    uptime_s: int | None = None
    boot_id: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)

    def ending(self, *, is_orderly: bool, distrusts_positions: bool = False) -> ProcessEnding:
        """Return how the process ended; the engine says what the log shows. Only KILL proves a kill."""
        if self.is_running:
            return ProcessEnding(HowEnded.UNKNOWN, distrusts_positions)
        if is_orderly:
            return ProcessEnding(HowEnded.ORDERLY, distrusts_positions)
        is_killed = self.killed or self.exit_code == EXIT_OF_KILL
        return ProcessEnding(HowEnded.KILLED if is_killed else HowEnded.UNKNOWN, distrusts_positions)


class ProbeSubject(StrEnum):
    """What a probe asks: the host itself, or a Kafka client there about both clusters."""

    HOST = "host"
    CLUSTERS = "clusters"


@dataclass(frozen=True, slots=True)
class HostProbe:
    """One question to the host. It changes nothing, and needs no reservation.

    For `HOST` only `names` are used: the host names to look up there. `CLUSTERS` logs in to both clusters with
    `properties`, the text of a Java properties file per side, which the host keeps like a launch's secrets; of sizes
    only those of `topics` are answered. Of a launch's `java_options` only those of logins are allowed.
    """

    subject: ProbeSubject
    kafka_home: str | None = None
    java_home: str | None = None
    names: tuple[str, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)
    java_options: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()


class HostTools(Protocol):
    """What the MirrorMaker host itself answers. It changes nothing, and needs no reservation.

    Every method raises `Refused` when the host refuses or must not be trusted, and `TransientError` when it was
    unreachable or busy.
    """

    def fingerprint(self, kafka_home: str | None, java_home: str | None) -> HostReply:
        """Return the host's versions and paths in `facts`; the homes default to the host's own variables.

        Refusals: `JAVA_MISSING`, `MM_BINARY_NOT_FOUND`, `HOST_TOOL_MISSING`.
        """

    def probe(self, probe: HostProbe) -> HostReply:
        """Return in `facts` what the host answers to a probe; `preflight.scene` reads it.

        Refusals: `HOST_REFUSED`, `JAVA_MISSING`, `MM_BINARY_NOT_FOUND`, `HOST_TOOL_MISSING` if it needs Kafka.
        """

    def close(self) -> None:
        """Close the connection, if one is open; a later call opens it again."""


@dataclass(frozen=True, slots=True)
class OpenedMirror:
    """One connection to where a migration's process runs.

    `host_tools` only if the engine needs a host, `connect_tools` only if it needs a Kafka Connect cluster.
    """

    process: AnyProcess
    host_tools: HostTools | None = None
    connect_tools: ConnectTools | None = None

    def close(self) -> None:
        """Close the connection; a later call opens it again."""
        self.process.close()
        for tools in (self.host_tools, self.connect_tools):
            if tools is not None:
                tools.close()


# A host may be hostile, and each later use of its words, such as a search in its log, takes time that grows with them.
# What mirrorctl sends: the end of a log, the output of the client there, and the end of its errors.
MOST_LOG = 128 * 1024
MOST_OUTPUT = 4 * 1024 * 1024
MOST_ERRORS = 4 * 1024
# The addresses of the 200 names that a probe of the host looks up.
MOST_NAMES = 128 * 1024
MOST_LINES = 2_000
LONGEST_LINE = 1_000
LONGEST_WORD = 1_000
MOST_FACTS = 32
CUT = "… (cut)"
_MOST = {"output": MOST_OUTPUT, "errors": MOST_ERRORS, "names": MOST_NAMES}


def bounded(reply: HostReply) -> HostReply:
    """Return the reply with each text cut to what mirrorctl sends, and the log to 2,000 lines of 1,000 letters."""
    values = {each.name: getattr(reply, each.name) for each in fields(reply)}
    words = {name: _word(value) for name, value in values.items() if type(value) is str}
    return HostReply(**{**values, **words, "log": _lines(reply.log, MOST_LOG), "facts": _facts(reply.facts)})


def _word(text: str) -> str:
    return text[:LONGEST_WORD]


def _lines(text: str, most: int) -> str:
    """Return the last lines of a text, the long ones cut at their ends."""
    lines = text[-most:].split("\n")[-MOST_LINES:]
    return "\n".join(line if len(line) <= LONGEST_LINE else line[:LONGEST_LINE] + CUT for line in lines)


def _facts(facts: Mapping[str, str]) -> dict[str, str]:
    """Return the first facts, each cut. An output that mirrorctl would not send is one that is too large."""
    kept = {_word(name): _fact(name, facts[name]) for name in list(facts)[:MOST_FACTS]}
    return {**kept, "exit": "large", "output": ""} if len(facts.get("output", "")) > MOST_OUTPUT else kept


def _fact(name: str, text: str) -> str:
    if name == "errors":
        return _lines(text, MOST_ERRORS)
    return text[: _MOST.get(name, LONGEST_WORD)]
