"""The progress line of the task log: copied/total, per cent, lag, rate, time left; if unknown, the reason first."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

from kafka_migration.core.kafka.offsets import Lag, Unknown
from kafka_migration.core.text.terminal_text import duration, shown

MIN_SAMPLES = 3
# MirrorMaker stores its positions now and then: a rate over less than some of these steps would jump. A dedicated one
# stores them every five seconds, workers of Kafka Connect every minute by default.
RATE_WINDOW_S, LONGEST_WINDOW_S = 60.0, 300.0
STEPS_OF_A_RATE = 4
MAX_LINE = 160
MIN_SHARE = 0.01


@dataclass(frozen=True, slots=True)
class Sample:
    """How many offsets were copied at a moment (monotonic seconds)."""

    at_s: float
    copied: int


class Share(NamedTuple):
    """How many offsets of a task's partitions are copied, and how many there are to copy."""

    copied: int
    total: int


@dataclass(slots=True)
class ProgressMeter:
    """Keeps the samples of the last minute and computes rate and time left.

    The time before the first record, in which the JVM starts, is not counted. Where positions are stored in longer
    steps, samples are kept for some of these, up to five minutes.

    `parts` are the meters of MirrorMaker's tasks, if they are known: the copy takes as long as the slowest task.
    """

    total: int
    samples: list[Sample] = field(default_factory=list)
    parts: Mapping[Hashable, ProgressMeter] = field(default_factory=dict)
    _begun_s: float | None = None
    _stepped_s: float | None = None
    _steps_s: tuple[float, ...] = ()

    def add(self, at_s: float, copied: int) -> None:
        """Add a sample; drop those older than the window, and those before the first copied record."""
        self._note_step(at_s, copied)
        if not copied:
            self.samples, self._begun_s = [], at_s
        self.samples.append(Sample(at_s, copied))
        while len(self.samples) > MIN_SAMPLES and self.samples[1].at_s <= at_s - self._window_s:
            self.samples.pop(0)

    def add_parts(self, at_s: float, shares: Mapping[Hashable, Share]) -> None:
        """Add a sample of each task; a task that was not there before begins with it."""
        self.parts = {task: self.parts.get(task) or ProgressMeter(share.total) for task, share in shares.items()}
        for task, share in shares.items():
            self.parts[task].total = share.total
            self.parts[task].add(at_s, share.copied)

    def _note_step(self, at_s: float, copied: int) -> None:
        if not self.samples or copied == self.copied:
            return
        if self._stepped_s is not None:
            self._steps_s = (*self._steps_s, at_s - self._stepped_s)[-STEPS_OF_A_RATE:]
        self._stepped_s = at_s

    @property
    def _window_s(self) -> float:
        step_s = median(self._steps_s) if self._steps_s else 0
        return min(LONGEST_WINDOW_S, max(RATE_WINDOW_S, STEPS_OF_A_RATE * step_s))

    @property
    def copied(self) -> int:
        """Offsets copied at the last sample."""
        return self.samples[-1].copied if self.samples else 0

    @property
    def rate(self) -> float | None:
        """Offsets per second over the window; `None` before there are enough samples."""
        if len(self.samples) < MIN_SAMPLES:
            return None
        first, last = self.samples[0], self.samples[-1]
        elapsed_s = last.at_s - first.at_s
        return (last.copied - first.copied) / elapsed_s if elapsed_s > 0 else None

    def average_rate(self, since_s: float) -> float | None:
        """Offsets per second up to the last sample, since copying started, or since `since_s` if that was not observed.

        `None` when nothing was copied.
        """
        begun_s = since_s if self._begun_s is None else self._begun_s
        if not self.copied or self.samples[-1].at_s <= begun_s:
            return None
        return self.copied / (self.samples[-1].at_s - begun_s)

    @property
    def eta_s(self) -> float | None:
        """Seconds left at the current rates, until the slowest task is done; 0 at the end.

        `None` before 1 %, or if one task has something left and makes no progress.
        """
        if self.copied < self.total * MIN_SHARE:
            return None
        return _slowest([self._left_s(self.rate), *(part._left_s(part.rate) for part in self.parts.values())])

    def average_left_s(self, since_s: float) -> float | None:
        """Seconds that the rest takes at the average rates, until the slowest task is done; see `average_rate`.

        `None` if one task has something left and has copied nothing.
        """
        return _slowest([each._left_s(each.average_rate(since_s)) for each in (self, *self.parts.values())])

    def _left_s(self, rate: float | None) -> float | None:
        if self.samples and self.copied >= self.total:
            return 0.0
        return None if rate is None or rate <= 0 else (self.total - self.copied) / rate


def _slowest(seconds: Sequence[float | None]) -> float | None:
    known = [each for each in seconds if each is not None]
    return max(known) if len(known) == len(seconds) else None


def progress_line(meter: ProgressMeter, lag: Lag, elapsed_s: float, state: str) -> str:
    """Return one line of at most 160 characters in the format of gh-ost's status line, for example:

    `Copy: 120,000/200,000 60.0%; Lag: 80,000; Rate: 9,500/s; Elapsed: 12s; State: mirroring; ETA: 8s`

    If the lag is unknown, the state comes first: it has the reason.
    """
    copied, elapsed = f"Copy: {_copied(meter, lag)}", f"Elapsed: {duration(elapsed_s)}"
    if isinstance(lag, Unknown):
        return fitted("State: ", state, f"; {copied}; Lag: unknown; {elapsed}")
    eta = "unknown" if meter.eta_s is None else duration(meter.eta_s)
    rate = "unknown" if meter.rate is None else f"{meter.rate:,.0f}/s"
    return fitted(f"{copied}; Lag: {lag}; Rate: {rate}; {elapsed}; State: ", state, f"; ETA: {eta}")


def _copied(meter: ProgressMeter, lag: Lag) -> str:
    if isinstance(lag, Unknown) and not (meter.samples and meter.total):
        return "unknown"
    share = 100.0 if not meter.total else 100 * min(1.0, meter.copied / meter.total)
    return f"{meter.copied:,}/{meter.total:,} {share:.1f}%"


def fitted(before: str, text: str, after: str = "") -> str:
    """Join the three to one line of at most 160 characters; the middle text is cut if necessary."""
    return f"{before}{shortened(text, MAX_LINE - len(before) - len(after))}{after}"


def shortened(text: str, limit: int) -> str:
    """Return the text on one line, cut with an ellipsis if it is longer than the limit."""
    words = shown(" ".join(text.split()))
    return words if len(words) <= limit else f"{words[: max(0, limit - 1)]}…"
