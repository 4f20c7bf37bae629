"""The requests to `mirrorctl` on the MirrorMaker host, and its replies.

A request is a command line of validated words, which process lists show, and a text on stdin, which they do not show.
The text assigns single-quoted shell variables, which are never exported. It is plain ASCII with backslash escapes for
everything else. The last variable is mirrorctl itself: as one quoted word it runs whole or not at all, however the
connection ends. A shell runs this text. A mirrorctl that is installed as a forced command reads the same lines without
running them, and ignores the copy of mirrorctl.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, MigrationError, MirrorFailed, Refused, TransientError
from kafka_migration.core.mirror.host import HostProbe, HostReply, MirrorLaunch, ProbeSubject, bounded
from kafka_migration.core.text.secret_forms import masked
from kafka_migration.core.text.shortened import brief, given, sentence
from kafka_migration.core.text.terminal_text import shown, storable_document

# The longest quote of a host's message, and of its log in a finding.
LONGEST_REASON = 1_000
LONGEST_LOG = 16_384
LOG_FOLLOWS = "; its log ends:\n"
# mirrorctl's numbers have fewer digits.
LARGEST_NUMBER = 10**15
# The files of a probe, by side; the host keeps them in memory if it can.
PROBE_FILES = {side: f"secrets/{side}.properties" for side in ("source", "target")}
_BEGIN, _END = "@@mirrorctl ", "@@"
# How a mirrorctl of another version refuses a verb or a subject that it does not know.
_OF_OTHER_VERSIONS = ("usage:", "the subject of a probe is")

_MIGRATION = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_WORD = re.compile(r"[a-z]+|0|[1-9][0-9]{0,8}")
_FILE_NAME = re.compile(r"[A-Za-z0-9._-]{1,255}(/[A-Za-z0-9._-]{1,255})*")
# All variables that are not numbered, and the end of the request: mirrorctl's SCALARS.
_OF_LAUNCHES = ("HOLDER", "TAKE_OVER_FROM", "MAIN_CLASS", "PRIVATE_ARGUMENTS")
_ALWAYS_UNSET = ("HOME", "KAFKA_HOME", "JAVA_HOME", *_OF_LAUNCHES, "NAMES", "TOPICS")
_COUNTS = ("FILES", "JAVA_OPTIONS", "ARGUMENTS", "ALARMS")

# The encoded form of each byte: octal unless it is plain.
_ENCODED = [chr(byte) if 32 <= byte < 127 and chr(byte) not in "'\\" else f"\\0{byte:03o}" for byte in range(256)]
_ENCODED[ord("\n")] = "\\n"


class UnreadableReply(ValueError):
    """The host's output contains no reply of mirrorctl, or more than one, or a broken one."""


class NoReply(UnreadableReply):
    """The host's output contains not even the begin of a reply: something else than mirrorctl answered."""


@dataclass(frozen=True, slots=True)
class HostRequest:
    """One call: its verb, the words after the migration on the command line, and variables for stdin."""

    verb: str
    migration: str
    words: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def carries_files(self) -> bool:
        """Whether it carries files, which may hold secrets that a host could send back."""
        return any(name.startswith("FILE_TEXT_") for name in self.variables)


def launch_variables(launch: MirrorLaunch) -> dict[str, str]:
    """Return the variables that carry a launch.

    Raises `ValueError` for a file name that leaves the generation's directory.
    """
    for file_name in launch.files:
        if not _FILE_NAME.fullmatch(file_name) or {".", ".."} & set(file_name.split("/")):
            raise ValueError(f"{file_name!r} is no file name below the generation's directory")
    return {
        "MAIN_CLASS": launch.main_class,
        "KAFKA_HOME": launch.kafka_home or "",
        "JAVA_HOME": launch.java_home or "",
        **_list_variables("ARGUMENT", launch.arguments),
        **_list_variables("FILE_NAME", tuple(launch.files), count="FILES"),
        **_list_variables("FILE_TEXT", tuple(launch.files.values()), count="FILES"),
        **_list_variables("JAVA_OPTION", launch.java_options),
        **_list_variables("ALARM", launch.alarms),
        "PRIVATE_ARGUMENTS": "1" if launch.private_arguments else "",
    }


def probe_variables(probe: HostProbe) -> dict[str, str]:
    """Return the variables that carry a probe."""
    files = {} if probe.subject is ProbeSubject.HOST else {PROBE_FILES[s]: probe.properties[s] for s in PROBE_FILES}
    return {
        "KAFKA_HOME": probe.kafka_home or "",
        "JAVA_HOME": probe.java_home or "",
        "NAMES": " ".join(probe.names),
        "TOPICS": ",".join(probe.topics),
        **_list_variables("FILE_NAME", tuple(files), count="FILES"),
        **_list_variables("FILE_TEXT", tuple(files.values()), count="FILES"),
        **_list_variables("JAVA_OPTION", probe.java_options),
    }


def _list_variables(name: str, values: tuple[str, ...], count: str = "") -> dict[str, str]:
    numbered = {f"{name}_{number}": value for number, value in enumerate(values, 1)}
    return {count or f"{name}S": str(len(values)), **numbered}


def render_request(request: HostRequest, script: str) -> tuple[str, str]:
    """Return (command, stdin) of a request; `script` is the text of mirrorctl.

    Raises `ValueError` for a migration or word that must not appear on a command line, and for a text with
    a zero byte, which no shell variable can hold.
    """
    if not _MIGRATION.fullmatch(request.migration):
        raise ValueError(f"{request.migration!r} is no name of a migration")
    if not all(_WORD.fullmatch(word) for word in (request.verb, *request.words)):
        raise ValueError(f"{request.verb} {request.words} must be plain words and whole numbers")
    command = " ".join(["sh", "-s", "--", request.verb, request.migration, *request.words])
    # Unset these names first: variables of the host's environment would be exported.
    names = sorted({*_ALWAYS_UNSET, *_COUNTS, *request.variables, "ENCODED", "SELF"})
    lines = [f"unset {' '.join(f'MIRRORCTL_{name}' for name in names)}"]
    lines += [f"MIRRORCTL_{name}='{encode(value)}'" for name, value in request.variables.items()]
    lines += ["MIRRORCTL_ENCODED='1'", f"MIRRORCTL_SELF={shell_quote(script)}", 'eval "$MIRRORCTL_SELF"']
    return command, "\n".join(lines) + "\n"


def encode(text: str) -> str:
    """Return the text in printable ASCII without single quotes, as the shell's `printf %b` decodes it.

    Raises `ValueError` for a text with a zero byte.
    """
    if "\0" in text:
        raise ValueError("a text for the MirrorMaker host holds a zero byte")
    return "".join(_ENCODED[byte] for byte in text.encode())


def shell_quote(text: str) -> str:
    """Return the text as one single-quoted word of a POSIX shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def parse_reply(stdout: str) -> HostReply:
    """Return the one reply in the host's output, ignoring login messages around it, with all its texts bounded.

    Raises `NoReply` if there is none, and `UnreadableReply` if there is more than one, or an incomplete one.
    """
    lines = stdout.split("\n")
    if not any(line.startswith(_BEGIN) for line in lines):
        raise NoReply(f"no reply of mirrorctl in {len(stdout):,} characters of output")
    found = [line for line in map(_framed, lines) if line]
    if len(found) != 1:
        raise UnreadableReply(f"{len(found)} replies of mirrorctl in {len(stdout):,} characters of output")
    try:
        reply = HostReply.from_document(storable_document(json.loads(found[0])))
        for name in ("generation", "pid", "started_at", "uptime_s", "exit_code", "lease_remaining_s"):
            _require_number(name, getattr(reply, name))
        return bounded(reply)
    except (ValueError, RecursionError) as error:
        raise UnreadableReply(f"broken reply of mirrorctl: {str(error)[:LONGEST_REASON]}") from None


def _framed(line: str) -> str:
    """Return the JSON of a line `@@mirrorctl {…}@@`; empty for any other line."""
    inner = line.removesuffix("\r").removeprefix(_BEGIN).removesuffix(_END)
    return inner if line.removesuffix("\r") == f"{_BEGIN}{inner}{_END}" and inner[:1] + inner[-1:] == "{}" else ""


def _require_number(name: str, number: int | None) -> None:
    if not (0 if name == "generation" else -LARGEST_NUMBER) <= (number or 0) <= LARGEST_NUMBER:
        raise ValueError(f"{name}: {given(number)}")


def checked(reply: HostReply) -> HostReply:
    """Return a reply that is ok.

    Raises `TransientError` if the migration was locked (nothing was done), `MirrorFailed` if a process did not survive
    its start or does not end, else `Refused`.
    """
    if reply.ok:
        return reply
    if reply.code == Code.HOST_LOCKED:
        message = reply.message[:LONGEST_REASON]
        raise TransientError.of(_locked(reply.migration, message))
    raise _error(reply)


def _locked(migration: str, message: str) -> Finding:
    return Finding(
        Code.HOST_LOCKED,
        host_of(migration),
        message,
        "no other call at the same time",
        "Wait until the other call has ended. Then clear the task or repeat the command.",
        happened=sentence(f"Another call works on migration {migration[:63]}: {message}"),
        matters="This call did nothing, because two calls at the same time could start two processes.",
    )


def host_of(migration: str) -> str:
    """Return the subject of findings about a migration's MirrorMaker host."""
    return f"migration {migration[:63]} on the MirrorMaker host"


def _error(reply: HostReply) -> MigrationError:
    code = _CODES.get(reply.code, Code.HOST_REFUSED)
    words = _WORDS.get(code, _WORDS[Code.HOST_REFUSED])
    message, remedy = reply.message[:LONGEST_REASON], words.remedy
    found = message if reply.code in _CODES else f"{reply.code[:LONGEST_REASON]}: {message}"
    if message.startswith(_OF_OTHER_VERSIONS):
        found, remedy = f"{reply.verb}: {message}", "Install this version's mirrorctl on the host again."
    happened = sentence(f"{words.happened}: {found}")
    if code in {Code.MIRROR_DEAD, Code.MIRROR_NOT_STOPPED} and reply.log.strip():
        log = f"{reply.log[-LONGEST_LOG:]}\n"
        found, happened = f"{found}{LOG_FOLLOWS}{log}", f"{happened} Its log ends:\n{log}"
    subject = host_of(reply.migration)
    finding = Finding(code, subject, found, words.expected, remedy, happened=happened, matters=words.matters)
    return (MirrorFailed if code in {Code.MIRROR_DEAD, Code.MIRROR_NOT_STOPPED} else Refused)([finding])


_CODES = {str(code): code for code in Code}


@dataclass(frozen=True, slots=True)
class _Refusal:
    """What a finding says of a refusal: what was expected, the begin of what happened, why it matters, what to do."""

    expected: str
    happened: str
    matters: str
    remedy: str


_NOT_STARTED = "MirrorMaker cannot be started there, so no records are copied."
_WORDS: Mapping[Code, _Refusal] = {
    Code.RESERVED_BY: _Refusal(
        "a migration without a reservation",
        "The reservation is taken",
        "Only one run may act on a migration, so this request did nothing.",
        "Wait until that run has ended, or end it: its task `finish` frees the reservation. Then trigger this run "
        "again.",
    ),
    Code.NOT_RESERVED: _Refusal(
        "this run's reservation",
        "This run does not hold the reservation",
        "Another run has taken over the migration, or the host lost its records. So this request did nothing.",
        "If another run of this migration is active, wait until it has ended. Then trigger a new run.",
    ),
    Code.ALREADY_RUNNING: _Refusal(
        "no running MirrorMaker of this migration",
        "A MirrorMaker of this migration is running",
        "Two of them would copy each record twice, so no second one was started.",
        "Clear the run that started this MirrorMaker, or mark that run as failed: its task `stop_mirror` then stops "
        "MirrorMaker. Then trigger this run again.",
    ),
    Code.GENERATION_STOPPED: _Refusal(
        "a generation that was never stopped",
        "The start came after the stop of this generation",
        "No run would stop a MirrorMaker that starts so late, so nothing was started.",
        "Trigger a new run.",
    ),
    Code.GENERATION_UNEXPECTED: _Refusal(
        "the generation that follows the host's last one",
        "The host counts other generations than the run",
        "A MirrorMaker may still run on the earlier host, and two would copy each record twice. Nothing was started.",
        "Make sure that the connection names the host, the user and the base folder of the earlier runs. If the host "
        "was replaced on purpose and no MirrorMaker runs on the old one, copy the old host's folder "
        "`~/.kafka-migration/<migration>` to the new host. Then trigger the run again.",
    ),
    Code.HOST_TOOL_MISSING: _Refusal(
        "a Linux host with POSIX tools and setsid",
        "The host lacks a tool that mirrorctl needs",
        _NOT_STARTED,
        "Install the tool on the host. Then trigger the run again.",
    ),
    Code.JAVA_MISSING: _Refusal(
        "a Java runtime",
        "The host has no Java for MirrorMaker",
        _NOT_STARTED,
        "Install Java, or name its folder in `mirror.java_home` or the host's JAVA_HOME. Then trigger the run again.",
    ),
    Code.MM_BINARY_NOT_FOUND: _Refusal(
        "a Kafka distribution with libs/*.jar",
        "The host has no Kafka for MirrorMaker",
        _NOT_STARTED,
        "Name the folder of Kafka in `mirror.kafka_home` or in the host's KAFKA_HOME. Then trigger the run again.",
    ),
    Code.MIRROR_DEAD: _Refusal(
        "a running process after the start",
        "MirrorMaker ended right after its start",
        "Nothing is running, so no further records are copied.",
        "Remove the cause that the log names. Then trigger the run again.",
    ),
    Code.MIRROR_NOT_STOPPED: _Refusal(
        "no process after TERM, grace time and KILL",
        "MirrorMaker did not end",
        "It may still copy records, so where it stopped is unknown.",
        "Log in to the host and end the process. Then clear the task. Trigger no run before that.",
    ),
    Code.HOST_REFUSED: _Refusal(
        "a request that mirrorctl can carry out",
        "The host refused the request",
        "The run cannot control MirrorMaker there.",
        "On the host, fix the problem that the message names (folder, permissions, disk space). Then trigger the run "
        "again.",
    ),
}


LONGEST_QUOTE = 300
NOT_QUOTED = "text that is not shown, because the request carried secrets"


def quoted(text: str) -> str:
    """Return the begin of a host's output on one line, without what looks like a secret."""
    lines = " | ".join(line.strip() for line in text[: 10 * LONGEST_QUOTE].splitlines() if line.strip())
    return brief(shown(masked(lines)), LONGEST_QUOTE)


def printed(request: HostRequest, exit_status: int, stdout: str, stderr: str) -> str:
    """Return what a host printed in answer to a request, in words.

    The answer to a request with files is not quoted, because a host may send back what it was sent.
    """
    said = {"output": quoted(stdout), "standard error": quoted(stderr)}
    quotes = [f'{name} "{NOT_QUOTED if request.carries_files else text}"' for name, text in said.items() if text]
    return f"exit status {exit_status}, {' and '.join(quotes) or 'no output'}"


def foreign_output(request: HostRequest, what: str) -> Finding:
    """Return the finding of a host on which something else than mirrorctl answered a request."""
    return Finding(
        Code.HOST_ANSWERS_OTHERWISE,
        host_of(request.migration),
        f"an answer that is not mirrorctl's, to {request.verb}: {what}",
        "a reply of mirrorctl",
        "Correct the forced command of the key (`command=` in authorized_keys), the user's login shell, or the shell's "
        "start files (such as .bashrc), which must not print or exit. Then clear the task or repeat the command.",
        happened=sentence(
            f"The host accepted the login, but another program than mirrorctl answered {request.verb}: {what}"
        ),
        matters="The run cannot control MirrorMaker there, and its state is unknown.",
    )


def unreadable_reply(request: HostRequest, what: str) -> Finding:
    """Return the finding of a host whose reply was lost on its way, or is broken."""
    return Finding(
        Code.HOST_REPLY_UNREADABLE,
        host_of(request.migration),
        f"no readable reply to {request.verb}: {what}",
        "one whole reply of mirrorctl in time",
        "Check the network path, and the host's load and disk, then clear the task or repeat the command.",
        happened=sentence(f"The host sent no readable reply to {request.verb}: {what}"),
        matters="The request changed nothing, and the state of MirrorMaker there is unknown.",
    )
