"""The task's side of the letters to a driver in a cluster: the logins, what the job says, and the end (ADR 0072)."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from kafka_migration.adapters.store.document_files import read_json, removed, to_json, write_whole
from kafka_migration.adapters.system.sealed_text import sealed
from kafka_migration.core.documents.codec import DoesNotFit
from kafka_migration.core.findings.errors import EvidenceUnreadable
from kafka_migration.core.spark.letter_forms import (
    LEASE_S,
    OF_DRIVER,
    OF_TASK,
    DriverSays,
    Letter,
    TaskSays,
    enclosed,
    opened,
    place_of,
)

log = logging.getLogger(__name__)

EVERY_S = 3.0
# Far more than 200 lines of a job.
MOST_BYTES = 1 << 20


@dataclass
class DriverLetters:
    """Answers a driver in a cluster while the task waits for it.

    :param result: the path of the job's result, beside which the letters are
    :param clients: Kafka's options of both sides, as JSON, which are sealed once, for the first driver that asks
    :param heard: gets each line of the job once
    """

    result: Any
    clients: str = field(repr=False)
    heard: Callable[[str], None]
    word: str = field(default_factory=lambda: secrets.token_hex(32), repr=False)
    _beat: int = 0
    _told: int = 0
    _logins: str = field(default="", repr=False)
    _is_given: bool = False
    _is_over: bool = False
    _has_driver: bool = False
    # A task that is killed while it writes its last letter writes another one in the same thread.
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def has_driver(self) -> bool:
        """Whether a driver has written, which therefore reads too."""
        return self._has_driver

    @contextmanager
    def exchanged(self) -> Iterator[None]:
        """Write and read letters during the body. If the body fails, tell a driver that still runs to end."""
        is_done = threading.Event()
        thread = threading.Thread(target=self._keep, args=(is_done,), name="letters", daemon=True)
        thread.start()
        try:
            yield
        except BaseException:
            _finish(is_done, thread)
            self._try(self._read)
            self.end()
            raise
        _finish(is_done, thread)
        self._try(self._read)
        self.remove()

    def end(self) -> None:
        """Tell the driver that the task was stopped, so that it ends the application."""
        self._is_over, self._logins = True, ""
        self._try(self._write)

    def remove(self) -> None:
        """Remove the letters of both, once the driver has ended."""
        self._try(self._remove)

    def _keep(self, is_done: threading.Event) -> None:
        while True:
            self._try(self._read)
            self._try(self._write)
            if is_done.wait(EVERY_S):
                return

    def _try(self, act: Callable[[], None]) -> None:
        """Whatever fails is tried again; without letters the driver would end its application."""
        try:
            act()
        except Exception as error:
            log.warning("The letters between task and driver do not arrive: %s", error)

    def _write(self) -> None:
        with self._lock:
            self._beat += 1
            says = TaskSays(self._beat, LEASE_S, self._is_over, self._logins)
            write_whole(self._place(OF_TASK), to_json(enclosed(self.word, OF_TASK, says).to_document()))

    def _read(self) -> None:
        says = self._driver_says()
        if says is None:
            return
        self._has_driver = True
        for line in says.since(self._told):
            self.heard(line)
        self._told = max(self._told, says.told)
        self._answer(says.key)

    def _driver_says(self) -> DriverSays | None:
        """Return what the driver says; `None` without a letter of this driver."""
        with suppress(FileNotFoundError, EvidenceUnreadable, DoesNotFit):
            return opened(self.word, Letter.from_document(read_json(self._place(OF_DRIVER), MOST_BYTES)))
        return None

    def _answer(self, key: str) -> None:
        """Seal the logins for the first driver that asks, and withdraw them once it has them."""
        if not key or self._is_over:
            self._logins = ""
        elif not self._is_given:
            self._is_given = True
            self._logins = sealed(key, self.clients)

    def _remove(self) -> None:
        for writer in (OF_DRIVER, OF_TASK):
            removed(self._place(writer))

    def _place(self, writer: str) -> Any:
        return self.result.parent / place_of(self.result.name, writer)


def _finish(is_done: threading.Event, thread: threading.Thread) -> None:
    is_done.set()
    thread.join()
