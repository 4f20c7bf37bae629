"""The end of a job whose task in Airflow does not wait for it any more."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.sql import SparkSession

from kafka_digest.runtime.job_errors import SPARK_FAILED, tell

EVERY_S = 3.0
# How long the job may take to end by itself, once no one waits for it.
GRACE_S = 30.0
# How long the last act before the end of the process may take.
LAST_S = 5.0
PROCESSES = Path("/proc")
# The fields of `/proc/PID/stat` after the command, which is in brackets: the state is the first, the start the 20th.
_STATE, _START = 0, 19
_ENDED = "ZX"


@dataclass
class Ending:
    """Ends the job once no one waits for it.

    :param over: says why no one waits; an empty text if the task waits
    :param session: Spark's session, once it has begun
    :param last: what is done before the process is ended
    """

    over: Callable[[], str]
    session: SparkSession | None = None
    last: Callable[[], None] | None = None
    _is_done: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Ask during the body whether the task still waits, and once before it ends."""
        thread = threading.Thread(target=self._watch, name="waiting", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._is_done.set()
            thread.join(GRACE_S)

    def _watch(self) -> None:
        over = self.over()
        while not over and not self._is_done.wait(EVERY_S):
            over = self.over()
        if over and not self._is_done.is_set():
            self._end(over)

    def _end(self, why: str) -> None:
        """Let the job end by itself, so that it removes its quotas; else end the process, and with it the driver."""
        # The reader of the log may be gone too.
        with suppress(OSError):
            tell(f"{SPARK_FAILED}: {why}, so the application ends")
        if self.session is not None:
            self.session.sparkContext.cancelAllJobs()
        if self.session is None or not self._is_done.wait(GRACE_S):
            self._do_last()
            os._exit(1)

    def _do_last(self) -> None:
        """Do the last act in another thread, because a store may not answer."""
        if self.last is not None:
            thread = threading.Thread(target=self.last, name="last", daemon=True)
            thread.start()
            thread.join(LAST_S)


def task_process(identity: str) -> Callable[[], str]:
    """Return what says that a process of this machine, `PID:START`, is gone; nothing if it was not seen at first.

    A command that stands for `spark-submit` may run it on another machine, where the task has no process.
    """
    pid, _, start = identity.partition(":")
    was_seen = _runs(pid, start)

    def over() -> str:
        return "the process of the task in Airflow is gone" if was_seen and not _runs(pid, start) else ""

    return over


def _runs(pid: str, start: str) -> bool:
    try:
        text = (PROCESSES / pid / "stat").read_text(errors="replace")
    except OSError:
        return False
    fields = text.rpartition(")")[2].split()
    return fields[_START] == start and fields[_STATE] not in _ENDED
