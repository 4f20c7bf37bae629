"""The sandbox's root folder: one sandbox at a time. The start ends old processes and deletes all files but evidence."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from sandbox import shell
from sandbox.errors import AlreadyRunning, ForeignFolder
from sandbox.processes import Process, end_all, identify
from sandbox.state import FILE_NAME, save_json

# Everything that the sandbox creates below its root, and therefore may delete there.
CONTENT = (
    *("source", "target", "security", "ssh", "mirror-host", "mirror-memory", "connect"),
    *("postgres", "airflow", "evidence", "logs"),
    *(shell.PROGRAMS, shell.FILE_NAME, FILE_NAME),
)
EARLIER_EVIDENCE = "earlier-evidence"
_LOCK = ".lock"
_OWNER = "owner.json"
# A start keeps these, or replaces them.
KEPT = (_LOCK, _OWNER, EARLIER_EVIDENCE)


@dataclass(frozen=True)
class Owner:
    """The last sandbox in a folder, and the process that started it."""

    sandbox_id: str
    supervisor: Process | None


class Folder:
    """A root folder with a lock file, an owner file and the state file."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.state_file = root / FILE_NAME
        self._owner_file = root / _OWNER
        self._lock: int | None = None

    def acquire(self) -> None:
        """Take the lock, which the kernel releases when this process ends.

        Raises:
            AlreadyRunning: another process holds it.
            ForeignFolder: the folder was not created by a sandbox and holds names that the sandbox would delete.
        """
        self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock_file = self.root / _LOCK
        foreign = [name for name in CONTENT if (self.root / name).exists()]
        if foreign and not lock_file.exists():
            raise ForeignFolder(f"{self.root} is not a sandbox but contains {', '.join(foreign)}; choose another root")
        handle = os.open(lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise AlreadyRunning(f"a sandbox is already running in {self.root}") from None
        self._lock = handle

    def release(self) -> None:
        """Release the lock; harmless if it is not held."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def is_locked(self) -> bool:
        """True while a living process runs a sandbox here."""
        try:
            self.acquire()
        except AlreadyRunning:
            return True
        self.release()
        return False

    def begin(self, sandbox_id: str) -> Path | None:
        """End processes of a dead predecessor, empty the folder and record the new owner.

        Returns:
            The folder with the predecessor's evidence; `None` if there is none.
        """
        self.end_leftovers()
        kept = self._keep_evidence()
        for name in CONTENT:
            path = self.root / name
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        own = identify(os.getpid())
        save_json(self._owner_file, {"sandbox_id": sandbox_id, "supervisor": asdict(own) if own else None})
        return kept

    def end_leftovers(self) -> set[Process]:
        """End the last owner's processes, in case owner and watchdog were both killed; return the survivors."""
        owner = self.owner()
        survivors = end_all(owner.sandbox_id) if owner else set()
        self.withdraw()
        if not survivors:
            self.forget()
        return survivors

    def withdraw(self) -> None:
        """Remove the files with the sandbox's addresses."""
        self.state_file.unlink(missing_ok=True)
        (self.root / shell.FILE_NAME).unlink(missing_ok=True)

    def _keep_evidence(self) -> Path | None:
        evidence = self.root / "evidence"
        if not evidence.is_dir() or not any(evidence.iterdir()):
            return None
        kept = self.root / EARLIER_EVIDENCE / datetime.now(UTC).strftime("%Y-%m-%dT%H%M%SZ")
        kept.parent.mkdir(exist_ok=True)
        return evidence.rename(kept)

    def forget(self) -> None:
        """Remove the owner record, because none of its processes is running."""
        self._owner_file.unlink(missing_ok=True)

    def owner(self) -> Owner | None:
        """Return the owner of the last sandbox here."""
        try:
            document = json.loads(self._owner_file.read_text())
        except FileNotFoundError:
            return None
        supervisor = document["supervisor"]
        return Owner(document["sandbox_id"], Process(**supervisor) if supervisor else None)
