"""Where the job runs, and whether it gets the executors that it needs; in local mode neither matters."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from kafka_digest.runtime.job_errors import NO_RESOURCES, JobError, tell

ASKED_EVERY_S = 5.0


@dataclass
class Lack:
    """Since when there has been work but no executor.

    :param limit_s: how long that may last
    """

    limit_s: float
    clock: Callable[[], float] = time.monotonic
    is_over: bool = False
    _since: float | None = None

    def note(self, executors: int, stages: int) -> None:
        """Record the executors and the stages that wait or run."""
        if executors or not stages:
            self._since = None
            return
        now = self.clock()
        self._since = now if self._since is None else self._since
        self.is_over = self.is_over or now - self._since >= self.limit_s


_LEVEL = "spark.log.level"


def tell_place(session: SparkSession) -> None:
    """Say which application of which cluster the job is, with YARN's page of it; nothing in local mode.

    From here on Spark logs warnings only, unless its settings name a level.
    """
    if is_local(session):
        return
    context = session.sparkContext
    if not context.getConf().contains(_LEVEL):
        context.setLogLevel("WARN")
    page = _yarn_page(session) if context.master.startswith("yarn") else ""
    tell(f"Spark {session.version} runs this job on {context.master} as {context.applicationId}{page}")


def is_local(session: SparkSession) -> bool:
    """Whether driver and executor are one process."""
    return bool(session.sparkContext._jsc.sc().isLocal())


def _yarn_page(session: SparkSession) -> str:
    utilities = session._jvm.org.apache.hadoop.yarn.webapp.util.WebAppUtils
    try:
        base = utilities.getResolvedRMWebAppURLWithScheme(session.sparkContext._jsc.hadoopConfiguration())
    except Py4JError:
        return ""
    return f": {base}/cluster/app/{session.sparkContext.applicationId}"


@contextmanager
def needing_executors(session: SparkSession, limit_s: float | None) -> Iterator[None]:
    """End the body if Spark has work for it, but no executor for `limit_s` seconds; without a limit it waits.

    Raises `JobError` (`SPARK_NO_RESOURCES`) instead of Spark's error.
    """
    if limit_s is None or is_local(session):
        yield
        return
    lack, is_done = Lack(limit_s), threading.Event()
    thread = threading.Thread(target=_watch, args=(session, lack, is_done), name="executors", daemon=True)
    thread.start()
    try:
        yield
    except JobError as error:
        if lack.is_over:
            raise JobError(_words(session, limit_s), NO_RESOURCES) from error
        raise
    finally:
        is_done.set()
        thread.join(ASKED_EVERY_S)


def _watch(session: SparkSession, lack: Lack, is_done: threading.Event) -> None:
    while not is_done.wait(ASKED_EVERY_S):
        try:
            lack.note(_executors(session.sparkContext), len(session.sparkContext.statusTracker().getActiveStageIds()))
            if lack.is_over:
                session.sparkContext.cancelAllJobs()
        except Py4JError:
            # The driver's JVM is gone or ends.
            return


def _executors(context: Any) -> int:
    """Return the number of executors; Spark counts the driver too."""
    return int(context._jsc.sc().getExecutorMemoryStatus().size()) - 1


def _words(session: SparkSession, limit_s: float) -> str:
    context = session.sparkContext
    return f"{context.applicationId} on {context.master} runs, but got no executor within {limit_s:.0f} s"
