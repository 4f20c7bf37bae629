"""How far the reading is: what Spark's scans of Kafka have read so far, told on stderr while they go on.

Spark counts the rows of every scan; executors report them with their heartbeats (each 10 s), and the driver keeps them
for its pages, also when it shows none. What is to be read is known as offsets, of which some hold no record: an upper
bound.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kafka_digest.reading.windows import SideRange, WindowPlan
from kafka_digest.shell.errors import tell

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TOLD_EVERY_S = 20.0
# A look into Spark's books takes some milliseconds; a driver that does not answer is not waited for.
LAST_LOOK_S = 5.0
# What Spark calls its scans of Kafka, by the older and by the newer kind of source.
_SCANS, _ROWS = ("Scan KafkaRelation", "BatchScan KafkaTable"), "number of output rows"


@dataclass(slots=True)
class Workload:
    """How many offsets are to be read: those of the plan, and what is read a second time to look into it."""

    planned: int = 0
    again: int = 0
    _read_to: dict[tuple[str, str, int], int] = field(default_factory=dict)

    @property
    def offsets(self) -> int:
        """All that is to be read as far as it is known."""
        return self.planned + self.again

    def plan(self, plans: Sequence[WindowPlan]) -> None:
        """Count both sides of what will be read once."""
        self.planned += sum(_span(piece) for plan in plans for piece in (plan.source, plan.target))

    def note(self, side: str, ranges: Sequence[SideRange]) -> None:
        """Note that ranges of a side are going to be read; what begins within something read counts again."""
        for piece in ranges:
            place = (side, *piece.place)
            if piece.start < self._read_to.get(place, 0):
                self.again += _span(piece)
            self._read_to[place] = max(piece.end, self._read_to.get(place, 0))


def _span(piece: SideRange) -> int:
    return max(piece.end - piece.start, 0)


def progress_line(read: int, offsets: int, elapsed_s: float) -> str:
    """Return the words for so many records read of at most so many, after so long.

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
    """The scans of Kafka in a session, as Spark's own books have them (`SQLAppStatusStore`, Spark 4.0)."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session
        self._first_open = 0
        self._ended = 0

    @cached_property
    def _store(self) -> Any:
        return self._session._jsparkSession.sharedState().statusStore()

    def records(self) -> int:
        """Return how many records all scans have read so far. Raises what py4j raises."""
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
        # A plan may show a scan twice, for example where its result is kept.
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
    """Tell every so many seconds how far the body has read, when it has read on; nothing of it can fail the body."""
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
        # Spark's books are none of its public parts; without them the work goes on all the same.
        tell(f"how far the reading is cannot be told ({type(error).__name__})")
