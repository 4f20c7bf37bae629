"""The progress line of the task log: copied/total, per cent, lag, rate, time left, reason for waiting."""

from __future__ import annotations

from dataclasses import dataclass, field

from kafka_migration.core.lag import Lag, Unknown

MIN_SAMPLES = 3
RATE_WINDOW = 12
MIN_SHARE = 0.01


@dataclass(frozen=True, slots=True)
class Sample:
    """How many offsets were copied at a moment (monotonic seconds)."""

    at_s: float
    copied: int


@dataclass(slots=True)
class ProgressMeter:
    """Remembers the last samples; answers rate and time left from them."""

    total: int
    samples: list[Sample] = field(default_factory=list)

    def add(self, at_s: float, copied: int) -> None:
        """Take one more sample, forgetting those older than the rate window."""
        self.samples = [*self.samples, Sample(at_s, copied)][-RATE_WINDOW:]

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
        """Offsets per second from a moment up to the last sample; `None` when nothing was copied."""
        if not self.copied or self.samples[-1].at_s <= since_s:
            return None
        return self.copied / (self.samples[-1].at_s - since_s)

    @property
    def eta_s(self) -> float | None:
        """Seconds left at the present rate; `None` before 1 % or without movement."""
        rate = self.rate
        if rate is None or rate <= 0 or self.copied < self.total * MIN_SHARE:
            return None
        return max(0, self.total - self.copied) / rate


def duration(seconds: float) -> str:
    """Write seconds as `1h02m`, `3m05s` or `12s`."""
    minutes, rest_s = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes:02}m"
    return f"{minutes}m{rest_s:02}s" if minutes else f"{rest_s}s"


def progress_line(meter: ProgressMeter, lag: Lag, elapsed_s: float, state: str) -> str:
    """Write one line in the shape of gh-ost's status line, for example.

    `Copy: 120,000/200,000 60.0%; Lag: 80,000; Rate: 9,500/s; Elapsed: 12s; State: mirroring; ETA: 8s`
    """
    share = 100.0 if not meter.total else 100 * min(1.0, meter.copied / meter.total)
    eta = "unknown" if isinstance(lag, Unknown) or meter.eta_s is None else duration(meter.eta_s)
    rate = "unknown" if meter.rate is None else f"{meter.rate:,.0f}/s"
    return (
        f"Copy: {meter.copied:,}/{meter.total:,} {share:.1f}%; Lag: {lag}; Rate: {rate}; "
        f"Elapsed: {duration(elapsed_s)}; State: {state}; ETA: {eta}"
    )
