"""Two processes that make one try of a task over real parts, and take turns: each stops before and after each write."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.managers import SyncManager
from typing import Any, ClassVar

import pytest

from kafka_migration.adapters.host.mirrorctl_host import ScriptMirrorHost
from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.adapters.store import local_files
from tests.airflow.conftest import FakeStateStore, FakeTaskInstance
from tests.contract.memory_anchor import MemoryAnchor
from tests.steps.cuts import actions_on, watch
from tests.steps.turns import Moment

ANSWER_S = 600
_FORK = get_context("fork")


@dataclass
class Rows(MutableMapping[Any, Any]):
    """Rows that processes share. A proxy of Python gives a process only what is no proxy itself, such as a list."""

    rows: Any

    def __getitem__(self, key: Any) -> Any:
        return self.rows[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.rows[key] = value

    def __delitem__(self, key: Any) -> None:
        del self.rows[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self.rows.keys()))

    def __len__(self) -> int:
        return len(self.rows)


class Airflow(SyncManager):
    """A process that has the rows of Airflow for all others: dictionaries, and anchors of ledgers."""

    anchor: Callable[[], MemoryAnchor]


Airflow.register("anchor", MemoryAnchor)


WRITES: tuple[tuple[Any, tuple[str, ...]], ...] = (
    *actions_on(ConfluentCluster, ScriptMirrorHost)[:2],
    (local_files, ("create", "replace")),
    (FakeTaskInstance, ("begin", "xcom_push")),
    (FakeStateStore, ("set",)),
)


class Stops:
    """Stops the process of a copy at each write, until the test resumes it; without effect in the test itself."""

    test: ClassVar[Connection | None] = None
    lock: ClassVar[threading.Lock] = threading.Lock()

    @classmethod
    def add(cls, monkeypatch: pytest.MonkeyPatch, anchor: MemoryAnchor) -> None:
        """Add the stops to all that writes; the anchor is one that processes share."""
        watch(monkeypatch, (*WRITES, (type(anchor), ("keep", "announce", "withdraw"))), cls.stop)

    @classmethod
    def stop(cls, where: str) -> None:
        """Stop until the test resumes this process. Groups are written by several threads, one after the other."""
        if cls.test is not None:
            with cls.lock:
                cls.test.send(where)
                cls.test.recv()


class Copy:
    """A process that makes a try, as the test sees it."""

    def __init__(self, act: Callable[[], None]) -> None:
        self._pipe, theirs = _FORK.Pipe()
        self._process = _FORK.Process(target=_act, args=(theirs, act), daemon=True)
        self._process.start()
        theirs.close()
        self.where = ""
        # How the try ended, as text; `None` while it runs.
        self.end: str | None = None
        self._wait()

    def resume(self) -> None:
        """Let the process run to its next stop, or to its end."""
        self._pipe.send("")
        self._wait()

    def kill(self) -> None:
        """Kill the process where it has stopped."""
        assert self._process.pid is not None
        os.kill(self._process.pid, signal.SIGKILL)
        self.end = "killed"

    def close(self) -> None:
        """Wait for the end of the process."""
        self._process.join(ANSWER_S)

    def _wait(self) -> None:
        assert self._pipe.poll(ANSWER_S), f"nothing came after {self.where}"
        told = self._pipe.recv()
        if isinstance(told, str):
            self.where = told
        else:
            (self.end,) = told


def _act(test: Connection, act: Callable[[], None]) -> None:
    Stops.test = test
    Stops.stop("begin")
    end = "succeeded"
    try:
        act()
    except BaseException as error:
        end = f"{type(error).__name__}: {error}"
    test.send((end,))
    # What the test's process has open is not this process's to close.
    os._exit(0)


def meet(act: Callable[[], None], order: Iterable[int], killed_at: int = 0) -> tuple[list[Moment], tuple[str, str]]:
    """Let two processes make a try in this order; return when each was resumed, and how each ended.

    The first one is killed at its stop of the number `killed_at`; 0: it is not.
    """
    copies, moments, turns = (Copy(act), Copy(act)), list[Moment](), iter(order)
    try:
        while living := [number for number, copy in enumerate(copies) if copy.end is None]:
            turn = next(turns, living[0])
            number = turn if turn in living else living[0]
            moments.append((number, copies[number].where))
            if killed_at and [first for first, _ in moments].count(0) == killed_at and number == 0:
                copies[0].kill()
            else:
                copies[number].resume()
    finally:
        for copy in copies:
            copy.close() if copy.end else copy.kill()
    return moments, (str(copies[0].end), str(copies[1].end))
