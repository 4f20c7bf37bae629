"""Checks that both clusters still answer during the read: logs a silence within half a minute, gives up after five.

Spark's readers wait silently for an unreachable broker until their own time-out.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JNetworkError

from kafka_digest.reading.log_bounds import ask_leaders, partition_per_leader
from kafka_digest.runtime.admin import admin_client
from kafka_digest.runtime.job_errors import CLUSTER_UNREACHABLE, RECORDS_DELETED, JobError, naming, root_cause, tell

if TYPE_CHECKING:
    from kafka_digest.reading.kafka_clusters import Clusters

ASKED_EVERY_S = 15.0
TOLD_EVERY = timedelta(minutes=1)
GIVE_UP_AFTER = timedelta(minutes=5)
# The maximum wait for the last request.
LAST_ANSWER_S = 12.0


@dataclass
class Silence:
    """Records which cluster has not answered and since when.

    :param give_up: stops the read; called repeatedly until the read ends
    :param now: the clock, which tests replace
    """

    give_up: Callable[[], None]
    now: Callable[[], datetime] = lambda: datetime.now(timezone.utc)
    _heard: dict[str, datetime] = field(default_factory=dict)
    _told: dict[str, datetime] = field(default_factory=dict)

    def heard(self, cluster: str) -> None:
        """Record an answer; log it if the silence was logged."""
        self._heard[cluster] = self.now()
        if self._told.pop(cluster, None):
            tell(f"the {cluster} answers again")

    def missed(self, cluster: str, why: str) -> None:
        """Record a missing answer; log it once a minute, and finally give up."""
        now, since = self.now(), self._heard[cluster]
        if now - self._told.get(cluster, since) >= TOLD_EVERY or cluster not in self._told:
            self._told[cluster] = now
            tell(f"{self._words(cluster)}: {why}; the job gives up at {since + GIVE_UP_AFTER:%H:%M:%S} UTC")
        if now - since >= GIVE_UP_AFTER:
            self.give_up()

    def reason(self) -> str:
        """Return which clusters do not answer; nothing if both do."""
        return ", ".join(self._words(cluster) for cluster in sorted(self._told))

    def _words(self, cluster: str) -> str:
        return f"the {cluster} has not answered since {self._heard[cluster]:%H:%M:%S} UTC"


@dataclass
class Reading:
    """The driver's JVM thread that reads.

    It may wait for a broker before a Spark job runs: to plan a read, Spark requests the topic's partitions. With a rate
    limit this request has the long time-out of a throttled reader.
    """

    _thread: Any = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def interruptible(self, jvm: Any) -> Iterator[None]:
        """Let `interrupt` end the body; PySpark uses one JVM thread per Python thread."""
        with self._lock:
            self._thread = jvm.java.lang.Thread.currentThread()
        try:
            yield
        finally:
            with self._lock:
                self._thread = None
            # The interrupt must not affect code after the body.
            jvm.java.lang.Thread.interrupted()

    def interrupt(self) -> None:
        """Interrupt the thread's wait."""
        with self._lock:
            if self._thread is not None:
                self._thread.interrupt()


@contextmanager
def noticing_silence(clusters: Clusters, topics: Mapping[str, Collection[str]]) -> Iterator[Reading]:
    """Log when a cluster does not answer while the body reads, and end the read after five minutes without an answer.

    :param topics: per side, the topics that are read

    Raises `JobError` that names the cluster, instead of Spark's error.
    """
    reading = Reading()

    def give_up() -> None:
        clusters.session.sparkContext.cancelAllJobs()
        reading.interrupt()

    silence = Silence(give_up)
    with ExitStack() as stack:
        for side, client in clusters.clients.items():
            cluster = f"{side} cluster ({client.get('kafka.bootstrap.servers')})"
            ask = stack.enter_context(_leaders(clusters.session._jvm, side, client, topics[side]))
            stack.enter_context(asking(cluster, ask, silence))
        try:
            yield reading
        except JobError as error:
            if (reason := silence.reason()) and error.code != RECORDS_DELETED:
                raise JobError(f"{reason} ({error})", CLUSTER_UNREACHABLE) from error
            raise


@contextmanager
def _leaders(jvm: Any, side: str, client: Mapping[str, str], topics: Collection[str]) -> Iterator[Callable[[], None]]:
    """Yield a function that sends a request to one partition of each broker that leads any of these topics."""
    with admin_client(jvm, client) as admin:
        with naming(f"asking the {side} cluster for the leaders of {len(topics)} topics"):
            partitions = partition_per_leader(admin, topics)
        yield lambda: ask_leaders(jvm, admin, partitions)


@contextmanager
def asking(cluster: str, ask: Callable[[], None], silence: Silence, every_s: float = ASKED_EVERY_S) -> Iterator[None]:
    """Send a request to a cluster every `every_s` seconds while the body runs."""
    is_done = threading.Event()
    silence.heard(cluster)
    thread = threading.Thread(target=_ask, args=(cluster, ask, silence, is_done, every_s), name="silence", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_done.set()
        thread.join(LAST_ANSWER_S)


def _ask(cluster: str, ask: Callable[[], None], silence: Silence, is_done: threading.Event, every_s: float) -> None:
    while not is_done.wait(every_s):
        try:
            ask()
        except Py4JNetworkError:
            # The driver's JVM is gone.
            return
        except Exception as error:
            if not is_done.is_set():
                silence.missed(cluster, root_cause(error))
        else:
            silence.heard(cluster)
