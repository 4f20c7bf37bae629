"""The MirrorMaker host, controlled by sending `mirrorctl` over a transport (SSH)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Protocol

import kafka_migration
from kafka_migration.adapters.system.deadlines import time_left
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import MigrationError, OutcomeUnknown, TransientError
from kafka_migration.core.mirror.host import HostProbe, HostReply, MirrorLaunch
from kafka_migration.core.mirror.mirrorctl_protocol import (
    HostRequest,
    NoReply,
    UnreadableReply,
    checked,
    foreign_output,
    launch_variables,
    parse_reply,
    printed,
    probe_variables,
    render_request,
    unreadable_reply,
)

# mirrorctl's own longest waits, plus time for a slow network.
READ_TIMEOUT_S = 30.0
LOCKED_TIMEOUT_S = 45.0
START_TIMEOUT_S = 90.0
# A probe waits for another one of the same migration, and then runs; each takes up to two minutes.
PROBE_TIMEOUT_S = 290.0


class ScriptMirrorHost:
    """A `MirrorProcess` and `HostTools` that send mirrorctl itself with every call: the host needs no installation.

    If the reply of an acting call is lost, the host's status is read and the call is sent once more if that is safe
    (all verbs are idempotent). Only if this fails too, the outcome is unknown. A reading call is sent once more
    immediately if its connection broke. A host with mirrorctl as an OpenSSH forced command accepts the same requests.
    """

    def __init__(self, migration: str, transport: Transport, home: str | None = None) -> None:
        """`home`: the base folder on the host; default is the host's KAFKA_MIGRATION_HOME or ~/.kafka-migration."""
        self.migration = migration
        self._transport = transport
        self._home = home or ""

    def reserve(self, holder: str, take_over_from: str | None = None) -> HostReply:
        """See `MirrorProcess.reserve`."""
        return self._act("reserve", {"HOLDER": holder, "TAKE_OVER_FROM": take_over_from or ""})

    def release(self, holder: str) -> HostReply:
        """See `MirrorProcess.release`."""
        return self._act("release", {"HOLDER": holder})

    def start(self, holder: str, generation: int, launch: MirrorLaunch) -> HostReply:
        """See `MirrorProcess.start`."""
        variables = {"HOLDER": holder, **launch_variables(launch)}
        return self._act("start", variables, (str(generation), str(launch.lease_s)), timeout_s=START_TIMEOUT_S)

    def renew(self, holder: str, generation: int) -> HostReply:
        """See `MirrorProcess.renew`."""
        return self._read("renew", {"HOLDER": holder}, (str(generation),))

    def status(self) -> HostReply:
        """See `MirrorProcess.status`."""
        return self._read("status")

    def stop(self, holder: str, generation: int | None, grace_s: int) -> HostReply:
        """See `MirrorProcess.stop`."""
        words = (_generation_word(generation), str(grace_s))
        # The lock may be held by another stop, which waits for its own grace time.
        return self._act("stop", {"HOLDER": holder}, words, timeout_s=2 * grace_s + START_TIMEOUT_S)

    def logs(self, generation: int | None, lines: int) -> HostReply:
        """See `MirrorProcess.logs`."""
        return self._read("logs", words=(_generation_word(generation), str(lines)))

    def fingerprint(self, kafka_home: str | None, java_home: str | None) -> HostReply:
        """See `HostTools.fingerprint`."""
        return self._read("fingerprint", {"KAFKA_HOME": kafka_home or "", "JAVA_HOME": java_home or ""})

    def probe(self, probe: HostProbe) -> HostReply:
        """See `HostTools.probe`."""
        return self._read("probe", probe_variables(probe), (str(probe.subject),), PROBE_TIMEOUT_S)

    def clean(self, holder: str, keep: int) -> HostReply:
        """See `MirrorProcess.clean`."""
        return self._act("clean", {"HOLDER": holder}, (str(keep),))

    def close(self) -> None:
        """Close the transport; a later call opens it again."""
        self._transport.close()

    def _read(
        self,
        verb: str,
        variables: Mapping[str, str] | None = None,
        words: tuple[str, ...] = (),
        timeout_s: float = READ_TIMEOUT_S,
    ) -> HostReply:
        request = self._request(verb, variables or {}, words)
        try:
            return checked(self._call_again_if_broken(request, timeout_s))
        except NoReply as error:
            raise TransientError.of(foreign_output(request, str(error))) from error
        except (ReplyLost, UnreadableReply) as error:
            raise TransientError.of(unreadable_reply(request, str(error))) from error

    def _call_again_if_broken(self, request: HostRequest, timeout_s: float) -> HostReply:
        try:
            return self._call(request, time_left(timeout_s))
        except (ReplyTimedOut, ReplyTooLong):
            raise
        except ReplyLost:
            return self._call(request, time_left(timeout_s))

    def _act(
        self,
        verb: str,
        variables: Mapping[str, str],
        words: tuple[str, ...] = (),
        timeout_s: float = LOCKED_TIMEOUT_S,
    ) -> HostReply:
        request = self._request(verb, variables, words)
        try:
            return checked(self._call(request, timeout_s))
        except (ReplyLost, UnreadableReply) as error:
            return self._act_again(request, timeout_s, lost=error)

    def _act_again(self, request: HostRequest, timeout_s: float, lost: Exception) -> HostReply:
        """Read the status before repeating the call; if that fails, do not repeat it."""
        try:
            present = self.status()
            reply = _ended_at_once(request, present) or self._call(request, timeout_s)
        except (MigrationError, ReplyLost, UnreadableReply) as error:
            raise OutcomeUnknown(
                f"{request.verb} of migration {self.migration} was sent and its reply was lost ({lost}). "
                f"A second request did not clarify the outcome ({error})."
            ) from error
        return checked(reply)

    def _request(self, verb: str, variables: Mapping[str, str], words: tuple[str, ...]) -> HostRequest:
        return HostRequest(verb, self.migration, words, {"HOME": self._home, **variables})

    def _call(self, request: HostRequest, timeout_s: float) -> HostReply:
        command, stdin = render_request(request, mirrorctl_text())
        exit_status, stdout, stderr = self._transport(command, stdin, timeout_s)
        try:
            return parse_reply(stdout)
        except UnreadableReply as error:
            raise type(error)(f"{error}; {printed(request, exit_status, stdout, stderr)}") from None


@cache
def mirrorctl_text() -> str:
    """Return the text of mirrorctl: the sections in the package, in the order of their names."""
    sections = sorted((Path(kafka_migration.__file__).parent / "host" / "mirrorctl").glob("*.sh"))
    return "".join(section.read_text(encoding="utf-8") for section in sections)


def _ended_at_once(request: HostRequest, present: HostReply) -> HostReply | None:
    """Return the reply to a start whose reply was lost, if its process has already ended."""
    if request.verb != "start" or str(present.generation) != request.words[0] or present.is_running:
        return None
    message = f"generation {present.generation} ended at its start with exit code {present.exit_code}"
    return replace(present, ok=False, code=str(Code.MIRROR_DEAD), message=message)


def _generation_word(generation: int | None) -> str:
    return "last" if generation is None else str(generation)


class ReplyLost(Exception):
    """The command may have run on the host, but its output was lost."""


class ReplyTimedOut(ReplyLost):
    """The command's timeout was reached; a repeated call would wait as long."""


class ReplyTooLong(ReplyLost):
    """The command's output exceeds the limit; a repeated call would return as much."""


class Transport(Protocol):
    """Runs one command at a time on one host."""

    def __call__(self, command: str, stdin: str, timeout_s: float) -> tuple[int, str, str]:
        """Run a command with a text on its standard input; return (exit status, stdout, stderr).

        Raises `TransientError` if the command was certainly not sent, `ReplyLost` if it may have been,
        and `Refused` if the host must not be trusted or refuses the login. Bytes that are not UTF-8 are
        replaced.
        """

    def close(self) -> None:
        """Close the connection; the next call opens a new one."""
