"""One part of the sandbox: a process with a log, a readiness check and a stop."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import SystemRandom

from sandbox.errors import ForeignFolder, PartDied, PartNotReady, PortTaken
from sandbox.processes import POLL_S, Process, identify, send

HOST = "127.0.0.1"
# Below Linux's range for outgoing connections (32768…), which could take a port between the test and its use.
PORTS = range(20000, 32000)
TAIL_LINES = 25
# A line that begins with an exception's class, as both Java and Python print it below the log line.
_EXCEPTION = re.compile(r"(?:Caused by: )?((?:[\w$]+\.)*[A-Z]\w*(?:Exception|Error|Interrupt|Exit)\b.*)")
SHOWN_EXCEPTIONS = 4


@dataclass(frozen=True)
class PartSpec:
    """The definition of a part: its command and its readiness check.

    `is_ready` gets what the process has logged since this start, and may also query the part.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    log: Path
    is_ready: Callable[[str], bool]
    start_timeout_s: float = 240.0
    stop_grace_s: float = 15.0
    stop_signal: signal.Signals = signal.SIGTERM


@dataclass
class Part:
    """A part's process, started, watched and ended."""

    spec: PartSpec
    process: subprocess.Popen[bytes] | None = None
    identity: Process | None = None
    is_expected_to_run: bool = False
    _log_start_bytes: int = field(default=0, repr=False)
    _started: float = field(default=0.0, repr=False)

    def start(self) -> Process:
        """Start the process in a session of its own, so that a terminal's Ctrl-C does not reach it."""
        self.spec.log.parent.mkdir(parents=True, exist_ok=True)
        with self.spec.log.open("ab") as log:
            self._log_start_bytes = log.tell()
            self.process = subprocess.Popen(
                self.spec.command,
                env=dict(self.spec.environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.is_expected_to_run = True
        self._started = time.monotonic()
        # A process that is gone already is not in /proc any more; `is_ready` reports its death.
        self.identity = identify(self.process.pid) or Process(self.process.pid, -1)
        return self.identity

    def is_ready(self) -> bool:
        """True once the part answers.

        Raises:
            PartDied: its process has ended.
            PartNotReady: it has not answered within the spec's time.
        """
        ready = self.spec.is_ready(self.log_since_start())
        self._check_alive()
        if not ready and self.age_s() > self.spec.start_timeout_s:
            raise PartNotReady(self._report(f"did not answer within {self.spec.start_timeout_s:.0f} s"))
        return ready

    def age_s(self) -> float:
        """Seconds since the latest start."""
        return time.monotonic() - self._started

    def has_ended(self) -> bool:
        """True if its process has ended, for any reason."""
        return self.process is not None and self.process.poll() is not None

    def check(self) -> None:
        """Raise `PartDied` if the process ended without being stopped."""
        if self.is_expected_to_run:
            self._check_alive()

    def kill(self, number: signal.Signals = signal.SIGKILL) -> None:
        """Send a signal; from now on the part's end is expected. SIGSTOP and SIGCONT do not end it."""
        if number not in (signal.SIGSTOP, signal.SIGCONT):
            self.is_expected_to_run = False
        if self.identity:
            send(self.identity, number)

    def stop(self) -> None:
        """Ask it to stop, wait, KILL; return when the process is gone and collected."""
        self.is_expected_to_run = False
        if not self.process or not self.identity:
            return
        send(self.identity, self.spec.stop_signal)
        try:
            self.process.wait(self.spec.stop_grace_s)
        except subprocess.TimeoutExpired:
            send(self.identity, signal.SIGKILL)
            self.process.wait()

    def log_since_start(self) -> str:
        """Return what the process has logged since its latest start."""
        with self.spec.log.open("rb") as log:
            log.seek(self._log_start_bytes)
            return log.read().decode(errors="replace")

    def _check_alive(self) -> None:
        code = self.process.poll() if self.process else None
        if code is not None:
            raise PartDied(self._report(f"ended with {exit_words(code)}"))

    def _report(self, what: str) -> str:
        return f"{self.spec.name} {what}.\n{summary(self.log_since_start())}\nIts log: {self.spec.log}"


def wait_ready(parts: Iterable[Part], report: Callable[[str], None] | None = None) -> None:
    """Return once all parts answer; report when each of them does.

    Raises:
        PartDied, PartNotReady: see `Part.is_ready`; the first one found.
    """
    waiting = list(parts)
    while waiting:
        for part in [part for part in waiting if part.is_ready()]:
            waiting.remove(part)
            if report:
                report(f"{part.spec.name} answers {part.age_s():.0f} s after its start")
        time.sleep(POLL_S if waiting else 0)


@contextmanager
def running(*parts: Part) -> Iterator[None]:
    """Run parts until the end of the block: each starts once the one before it is ready, and the last one stops first.

    Raises:
        PartDied, PartNotReady: see `Part.is_ready`.
    """
    try:
        for part in parts:
            part.start()
            wait_ready([part])
        yield
    finally:
        for part in reversed(parts):
            part.stop()


def exit_words(code: int) -> str:
    """Return how a process ended: `exit code 3`, or `signal SIGKILL` for -9."""
    return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"


def summary(log: str) -> str:
    """Return the last exceptions (class and text) and the end of a log, without Java's stack lines."""
    lines = [line for line in log.splitlines() if line.strip() and not line.startswith(("\tat ", "\t... "))]
    matches = (_EXCEPTION.match(line) for line in lines)
    # Counted from the end: a repeated exception is listed at its last position.
    latest = list(dict.fromkeys(match[1] for match in reversed(list(matches)) if match))[:SHOWN_EXCEPTIONS]
    head = ["Exceptions in its log, the last one at the end:", *(f"  {text}" for text in reversed(latest))]
    tail = ["End of its log:", *(f"  {line}" for line in lines[-TAIL_LINES:] or ["(empty)"])]
    return "\n".join([*(head if latest else []), *tail])


def free_ports(count: int) -> list[int]:
    """Return different free ports of 127.0.0.1, claimed for this process as long as it lives.

    A part needs seconds to start listening; another sandbox that starts meanwhile must not choose the same port.
    """
    found: list[int] = []
    with _claims_folder() as folder:
        for port in SystemRandom().sample(PORTS, len(PORTS)):
            if len(found) == count:
                break
            if is_free(port) and _claim(port, folder):
                found.append(port)
    return found


@contextmanager
def _claims_folder() -> Iterator[int]:
    """Open the folder of this user's claims, which is created if it is missing.

    Its name is known beforehand, so another user could have created it, or a link, to have files written elsewhere.
    Raises `ForeignFolder` then.
    """
    folder = Path(tempfile.gettempdir(), f"kafka-migration-ports-{os.geteuid()}")
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise _foreign(folder) from error
    try:
        found = os.fstat(handle)
        if found.st_uid != os.geteuid() or found.st_mode & 0o077:
            raise _foreign(folder)
        yield handle
    finally:
        os.close(handle)


def _foreign(folder: Path) -> ForeignFolder:
    return ForeignFolder(
        f"{folder} is not a folder that only this user may enter, so its files may lead elsewhere. Remove it, or set "
        "TMPDIR to a folder of your own."
    )


def _claim(port: int, folder: int) -> bool:
    """Lock a file that stands for the port; the kernel frees it with this process."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(str(port), flags, 0o600, dir_fd=folder)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return False
    return True


def require_free(port: int, purpose: str) -> int:
    """Return the port.

    Raises:
        PortTaken: another process listens on it.
    """
    if not is_free(port):
        raise PortTaken(f"port {port} for {purpose} is taken on {HOST}; free it or choose another one")
    return port


def is_free(port: int) -> bool:
    """True if the port can be bound now; connections that are only closing do not count."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True
