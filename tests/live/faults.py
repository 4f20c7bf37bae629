"""Finding exactly one process of a running sandbox and killing it, by its pid and in no other way."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from sandbox.sandbox import Sandbox
from tests.live.migrations import LiveMigration
from tests.waiting import wait_until

PROC = Path("/proc")


def command_line(pid: int) -> list[str]:
    """Return a process's words; empty when it is gone."""
    with suppress(OSError):
        return (PROC / str(pid) / "cmdline").read_bytes().decode(errors="replace").rstrip("\0").split("\0")
    return []


def parent(pid: int) -> int:
    """Return the pid of a process's parent."""
    return int((PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[1])


def descendants(pid: int) -> list[int]:
    """Return all pids below a process; empty when it is gone."""
    found: list[int] = []
    with suppress(OSError):
        for task in (PROC / str(pid) / "task").iterdir():
            for child in (task / "children").read_text().split():
                found += [int(child), *descendants(int(child))]
    return found


class OnHost(Protocol):
    """A migration on the MirrorMaker host of a sandbox."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def host_folder(self) -> Path:
        """Its folder on the host."""


def marked_pids(migration: OnHost) -> Iterator[int]:
    """Yield the pids of all processes that belong to a migration on this sandbox's host, as `mirrorctl` marks them."""
    marks = {
        f"KAFKA_MIGRATION_ID={migration.name}/".encode(),
        f"KAFKA_MIGRATION_HOME={migration.host_folder.parent}".encode(),
    }
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                words = (entry / "environ").read_bytes().split(b"\0")
                if all(any(word.startswith(mark) for word in words) for mark in marks):
                    yield int(entry.name)


def jvm_pids(migration: OnHost) -> list[int]:
    """Return the pids of all living MirrorMakers of a migration."""
    return [pid for pid in marked_pids(migration) if is_java(command_line(pid))]


def shell_of(migration: OnHost, *, is_leader: bool) -> int:
    """Return the pid of the shell that waits for the JVM, or of the one that keeps its lease."""
    shells = [pid for pid in marked_pids(migration) if "supervise" in command_line(pid)]
    (pid,) = [pid for pid in shells if (os.getpgid(pid) == pid) is is_leader]
    return pid


def is_java(words: list[str]) -> bool:
    """Tell whether a command line is a JVM's."""
    return bool(words) and words[0].rpartition("/")[2] == "java"


class Faults:
    """What can go wrong around one migration, each method one thing; `mend` brings back what the sandbox needs."""

    def __init__(self, sandbox: Sandbox, migration: LiveMigration) -> None:
        self._sandbox = sandbox
        self._migration = migration
        self._down: list[str] = []

    def kill_mirror(self) -> int:
        """Kill the one JVM of MirrorMaker; return its pid."""
        wait_until(lambda: jvm_pids(self._migration), 120, "MirrorMaker to run")
        (pid,) = jvm_pids(self._migration)
        return kill(pid)

    def kill_supervisor(self) -> None:
        """Kill the shell that waits for the JVM on the host."""
        kill(shell_of(self._migration, is_leader=True))

    def kill_lease_watch(self) -> None:
        """Kill the shell that keeps the JVM's lease on the host."""
        kill(shell_of(self._migration, is_leader=False))

    def kill_worker(self, run_id: str, task_id: str) -> None:
        """Kill the executor's process that supervises a task; the task's own process lives on, alone."""
        kill(parent(self._migration.task_pid(run_id, task_id)))

    def kill_part(self, part: str) -> None:
        """Kill a part of the sandbox with all processes below it, as the loss of its machine would.

        Below sshd these are its sessions: what was started through one of them stays.
        """
        pid = self._sandbox.state.pids[part]
        below = [child for child in descendants(pid) if part != "sshd" or _name(child).startswith("sshd")]
        self._sandbox.kill(part)
        self._down.append(part)
        for child in below:
            kill(child)

    def restart(self, part: str) -> None:
        """Start a killed part again and wait until it answers."""
        self._down.remove(part)
        self._sandbox.restart(part)

    def mend(self) -> None:
        """Start again whatever is still down."""
        for part in tuple(self._down):
            self.restart(part)


def _name(pid: int) -> str:
    with suppress(OSError):
        return (PROC / str(pid) / "comm").read_text().strip()
    return ""


def kill(pid: int) -> int:
    """Kill a process; return its pid. Nothing happens when it is gone."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    return pid
