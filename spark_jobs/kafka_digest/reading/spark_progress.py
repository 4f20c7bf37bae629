"""Progress of the read: the records that Spark's scans of Kafka have read so far, printed on stderr.

Spark counts the rows of every scan. Executors report them with their heartbeats (every 10 s), and the driver keeps them
for its UI, even if the UI is disabled. The total is a number of offsets. Some offsets hold no record, so it is an upper
bound.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from pyspark.sql import SparkSession

from kafka_digest.reading.read_windows import SideRange, WindowPlan
from kafka_digest.runtime.job_errors import tell

TOLD_EVERY_S = 20.0
# Reading Spark's counters takes some milliseconds; the job does not wait for a driver that does not answer.
LAST_LOOK_S = 5.0
# Spark's names for its scans of Kafka, for the older and the newer kind of source.
_SCANS, _ROWS = ("Scan KafkaRelation", "BatchScan KafkaTable"), "number of output rows"


@dataclass
class Workload:
    """The number of offsets to read: those of the plan, and those that are read again to examine differences."""

    offsets: int = 0
    _read_to: dict[tuple[str, str, int], int] = field(default_factory=dict)

    def plan(self, plans: Sequence[WindowPlan]) -> None:
        """Count both sides of the planned windows."""
        self.offsets += sum(piece.offsets for plan in plans for piece in (plan.source, plan.target))

    def note(self, side: str, ranges: Sequence[SideRange]) -> None:
        """Add ranges of a side that will be read; a range that begins within one already counted counts again."""
        for piece in ranges:
            place = (side, *piece.place)
            if piece.start < self._read_to.get(place, 0):
                self.offsets += piece.offsets
            self._read_to[place] = max(piece.end, self._read_to.get(place, 0))


def progress_line(read: int, offsets: int, elapsed_s: float) -> str:
    """Return the progress text for the records read, their upper limit and the elapsed time.

    12,400,000 of 40,000,000 in 108 s: `12,400,000 of at most 40,000,000 records read (31 %), about 4 min left`.
    """
    at_most = max(offsets, read)
    share = f" ({read * 100 // at_most} %)" if at_most else ""
    left = f", {_duration((at_most - read) * elapsed_s / read)} left" if 0 < read < at_most else ""
    return f"{read:,} of at most {at_most:,} records read{share}{left}"


def _duration(seconds: float) -> str:
    hours, minutes = divmod(round(seconds / 60), 60)
    if not hours:
        return f"about {minutes} min" if minutes else "less than a minute"
    return f"about {hours} h {minutes} min"


class KafkaScans:
    """The scans of Kafka in a session, from Spark's own counters (`SQLAppStatusStore`, Spark 4.0)."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session
        self._first_open = 0
        self._ended = 0

    @cached_property
    def _store(self) -> Any:
        return self._session._jsparkSession.sharedState().statusStore()

    def records(self) -> int:
        """Return the number of records that all scans have read so far. Raises py4j's errors."""
        number, running = self._first_open, 0
        while (execution := self._store.execution(number)).isDefined():
            is_ended, read = execution.get().completionTime().isDefined(), self._read_by(number)
            if is_ended and number == self._first_open:
                self._first_open, self._ended = number + 1, self._ended + read
            else:
                running += read
            number += 1
        return self._ended + running

    def _read_by(self, execution: int) -> int:
        scans = [n for n in _each(self._store.planGraph(execution).allNodes()) if n.name().startswith(_SCANS)]
        # A plan may show a scan twice, for example if its result is cached.
        rows = {m.accumulatorId() for scan in scans for m in _each(scan.metrics()) if m.name() == _ROWS}
        if not rows:
            return 0
        values = self._store.executionMetrics(execution)
        counts = (values.get(accumulator) for accumulator in rows)
        return sum(int(count.get().replace(",", "")) for count in counts if count.isDefined())


def _each(sequence: Any) -> Iterator[Any]:
    iterator = sequence.iterator()
    while iterator.hasNext():
        yield iterator.next()


@contextmanager
def telling_progress(records: Callable[[], int], workload: Workload, every_s: float = TOLD_EVERY_S) -> Iterator[None]:
    """Log the body's progress every `every_s` seconds if it has changed; an error here never fails the body."""
    is_done = threading.Event()
    thread = threading.Thread(target=_tell, args=(records, workload, is_done, every_s), name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_done.set()
        thread.join(LAST_LOOK_S)


def _tell(records: Callable[[], int], workload: Workload, is_done: threading.Event, every_s: float) -> None:
    begun, told = time.monotonic(), 0
    try:
        before = records()
        while not is_done.wait(every_s):
            read = records() - before
            if read > told:
                told = read
                tell(progress_line(read, workload.offsets, time.monotonic() - begun))
    except Exception as error:
        # Spark's counters are not a public API; the job continues without them.
        tell(f"the progress of the read is unknown ({type(error).__name__})")
