"""The moment of a cutover at which the producers must stop: its instruction and its question.

The answer is recorded and may end the cutover. It proves nothing; the proof is the fence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.text import markdown
from kafka_migration.core.text.local_time import IN_UTC, LocalTime
from kafka_migration.core.text.shortened import MOST_NAMES, some
from kafka_migration.core.text.terminal_text import counted, duration, shown

STOPPED = "They have stopped"
ABORT = "Abort the cutover"
OPTIONS = (STOPPED, ABORT)


@dataclass(frozen=True, slots=True)
class ProducersAsk(Document):
    """The question: when it was announced, the deadline of the fence, and who answered what.

    `chosen` is `None` while there is no answer, and if the fence was proved without one.
    """

    announced_at: str
    until: str
    chosen: str | None = None
    answered_at: str | None = None
    by: str | None = None


@dataclass(frozen=True, slots=True)
class StopProducers:
    """Which producers must stop, and until when.

    :param topics: the topics that the run cuts over, by their names on the source
    :param source: the Airflow connection of the source
    :param is_chosen: whether the run names its topics, so that not all remaining topics are cut over
    :param local: how people read its moments
    """

    migration: str
    topics: Sequence[str]
    source: str
    announced_at: datetime
    wait_s: float
    quiet_s: float
    is_chosen: bool = False
    local: LocalTime = IN_UTC

    @property
    def until(self) -> datetime:
        """The deadline of the fence."""
        return self.announced_at + timedelta(seconds=self.wait_s)

    @property
    def deadline(self) -> str:
        """The deadline as people read it."""
        return self.local.weekday(self.until)

    @property
    def instruction(self) -> str:
        """Say what to stop and until when, without a full stop; it is true whenever it is read."""
        topics = counted(len(self.topics), "topic")
        return f"Stop producers of {topics} on {shown(self.source)} before {self._clock_time()}"

    def at(self, now: datetime) -> str:
        """Return the instruction with the time that is left."""
        left_s = (self.until - now).total_seconds()
        left = _span(left_s) if left_s > 0 else "this time has passed: stop them now"
        return f"{self.instruction} ({left})."

    def named(self, word: Callable[[str], str] = shown) -> str:
        """Return the first topics, and what lists all of them."""
        return some(self.topics, word=word, where="" if len(self.topics) <= MOST_NAMES else self._where())

    def _where(self) -> str:
        if self.is_chosen:
            return "the field topics of this run has all"
        return f"kafka-migration plan {self.migration} --mode cutover lists all"

    def _clock_time(self) -> str:
        # Rounded down: producers that stop by this time have stopped in time.
        return self.local.clock(self.until, self.announced_at, seconds=self.wait_s < _SHORT_S)


_SHORT_S = 600


def _span(seconds: float) -> str:
    """Write a time that is left, rounded down."""
    hours, minutes = divmod(int(seconds) // 60, 60)
    words = [counted(number, unit) for number, unit in ((hours, "hour"), (minutes, "minute")) if number]
    return " ".join(words) or counted(int(seconds), "second")


def question_body(stop: StopProducers) -> str:
    """Return the text of the question, as Markdown."""
    asked = stop.local.clock(stop.announced_at, stop.announced_at)
    return (
        f"**{markdown.escaped(stop.instruction)}.** Stop everything that writes to these topics. Consumers may "
        "continue.\n\n"
        f"- Topics: {stop.named(markdown.shown)}\n"
        f"- Deadline: {stop.deadline}, {duration(stop.wait_s)} (`cutover.fence_wait`) after {asked}. If this run was "
        "cleared since, the log of `watch_lag` has the new times.\n"
        f"- The run checks this itself: for {duration(stop.quiet_s)} no partition may receive a record, and no "
        "transaction may be open. It then continues, with or without an answer. After the deadline it fails, and no "
        "group is moved.\n\n"
        f"**{STOPPED}** is recorded in the evidence and the report; it does not replace the proof.\n\n"
        f"**{ABORT}** stops MirrorMaker and ends the run as failed. No group is moved, copied records are kept, and "
        "the producers may start again on the source."
    )


def aborted(ask: ProducersAsk) -> Finding:
    """Return the finding for a cutover that a user aborted."""
    return Finding(
        Code.CUTOVER_ABORTED,
        "the question about the producers",
        f"the answer {ABORT!r} by {ask.by} at {ask.answered_at}",
        f"{STOPPED!r}, or a source without new records",
        "If the producers were stopped, start them on the source again. Trigger a new cutover later.",
        happened=f"The cutover was aborted by {ask.by} at {ask.answered_at}, in the answer to the question whether the "
        "producers have stopped.",
        matters="No group was changed, and copied records are kept.",
    )
