"""The metrics of a migration and their names. They are output only: no decision uses them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from kafka_migration.core.kafka.offsets import Known, Lag
from kafka_migration.core.migration.alert_settings import AlertKind
from kafka_migration.core.migration.settings import Mode, Phase
from kafka_migration.core.text.row_enum import RowEnum
from kafka_migration.core.watching.progress import ProgressMeter

PREFIX = "kafka_migration"
# What a run waits for that only a person can do.
ASKING = (AlertKind.APPROVAL, AlertKind.PRODUCERS)


class MetricKind(StrEnum):
    """What a metric backend does with a value: a gauge keeps the last one, a counter adds them up."""

    GAUGE = "gauge"
    COUNTER = "counter"


class _MetricRow(NamedTuple):
    """What `MetricName` says of a metric, for its table."""

    kind: MetricKind
    tag: str
    meaning: str


class MetricName(RowEnum):
    """Each metric, with what it means. All have the tag `migration`; some have one more `tag`.

    Moments are in Unix seconds, so that a monitor can compare them with its clock after the run.
    """

    kind: MetricKind
    tag: str
    meaning: str

    @classmethod
    def text_of(cls, name: str) -> str:
        """Return the name as metric backends see it."""
        return name.lower()

    @property
    def full(self) -> str:
        """The name with the prefix of the package."""
        return f"{PREFIX}.{self}"

    LAG = _MetricRow(MetricKind.GAUGE, "", "offsets still to copy")
    LAG_UNKNOWN = _MetricRow(MetricKind.GAUGE, "", "1 if the lag cannot be read, else 0")
    RATE = _MetricRow(MetricKind.GAUGE, "", "offsets copied per second")
    ETA = _MetricRow(MetricKind.GAUGE, "", "seconds left until the slowest task is done")
    WATCHED = _MetricRow(MetricKind.GAUGE, "", "when a run last looked at its MirrorMaker; 0 after it has stopped")
    GAP_HEADROOM = _MetricRow(MetricKind.GAUGE, "", "seconds until the source may delete uncopied records")
    NEXT_START_BEFORE = _MetricRow(MetricKind.GAUGE, "", "before when the next run must start; 0 if there is no limit")
    ACTIVE = _MetricRow(MetricKind.GAUGE, "mode", "when the active run of this mode began; 0 if there is none")
    WAITS = _MetricRow(MetricKind.GAUGE, "alert", "since when a run waits for a person; 0 if it does not")
    PHASE = _MetricRow(MetricKind.GAUGE, "phase", "1 for the phase at the end of the last run, else 0")
    JUDGED = _MetricRow(MetricKind.GAUGE, "verdict", "when a run last had this verdict")
    ENDED = _MetricRow(MetricKind.GAUGE, "run", "when a run last ended with this outcome")
    VERDICT = _MetricRow(MetricKind.COUNTER, "verdict", "verdicts of runs")
    RUN = _MetricRow(MetricKind.COUNTER, "run", "outcomes of runs")
    ALERT = _MetricRow(MetricKind.COUNTER, "alert", "alerts of this kind, also without a notifier")


@dataclass(frozen=True, slots=True)
class Metric:
    """One value of a migration: a gauge to set, or the increment of a counter; `of` is the value of the row's tag.

    Without support for tags (plain StatsD) their values follow the name, as in Airflow's own metrics.
    """

    name: MetricName
    migration: str
    value: float = 1
    of: str = ""

    @property
    def tags(self) -> Mapping[str, str]:
        """The tags; those of the metric come before the migration. Values are in small letters, without blanks."""
        own = {self.name.tag: self.of.lower().replace(" ", "_")} if self.name.tag else {}
        return {**own, "migration": self.migration}

    @property
    def name_with_tags(self) -> str:
        """The name followed by the values of the tags; dots in a value would create name levels."""
        return ".".join((self.name.full, *(value.replace(".", "__") for value in self.tags.values())))


@dataclass(frozen=True, slots=True)
class MetricsOf:
    """The metrics of one migration."""

    migration: str

    def began(self, mode: Mode, now: datetime) -> Iterator[Metric]:
        """Yield that a run of this mode is active, and none of another."""
        for each in Mode:
            yield self._at(MetricName.ACTIVE, now if each is mode else None, each)

    def polled(self, lag: Lag, meter: ProgressMeter, now: datetime, since: datetime | None) -> Iterator[Metric]:
        """Yield what a poll found; `since` when it waits until the producers stop (`None`: it does not)."""
        yield self.watched(now)
        yield self.waits(AlertKind.PRODUCERS, since)
        yield from self.lag(lag, meter)

    def lag(self, lag: Lag, meter: ProgressMeter) -> Iterator[Metric]:
        """Yield lag (offsets), rate (offsets per second) and time left (seconds), each if known.

        If the lag is unknown it has no value, and `lag_unknown` is 1.
        """
        yield self._metric(MetricName.LAG_UNKNOWN, 0 if isinstance(lag, Known) else 1)
        if isinstance(lag, Known):
            yield self._metric(MetricName.LAG, lag.offsets)
        if meter.rate is not None:
            # After a restart the copy may resume further back; StatsD treats a negative value as a decrement.
            yield self._metric(MetricName.RATE, max(0.0, meter.rate))
        if meter.eta_s is not None and isinstance(lag, Known):
            yield self._metric(MetricName.ETA, meter.eta_s)

    def watched(self, at: datetime | None) -> Metric:
        """Return when a run last looked at its MirrorMaker; `None`: it has stopped."""
        return self._at(MetricName.WATCHED, at)

    def waits(self, what: AlertKind, since: datetime | None) -> Metric:
        """Return since when a run waits for a person; `None`: it does not wait."""
        return self._at(MetricName.WAITS, since, what)

    def next_start(self, before: datetime | None, now: datetime) -> Iterator[Metric]:
        """Yield how long uncopied records are safe (seconds), and until when; `None`: the source deletes none."""
        if before is not None:
            yield self._metric(MetricName.GAP_HEADROOM, max(0.0, (before - now).total_seconds()))
        yield self._at(MetricName.NEXT_START_BEFORE, before)

    def judged(self, verdict: str, now: datetime) -> Iterator[Metric]:
        """Yield one verdict."""
        yield self._metric(MetricName.VERDICT, of=verdict)
        yield self._at(MetricName.JUDGED, now, verdict)

    def alerted(self, kind: AlertKind) -> Metric:
        """Return the count of one alert."""
        return self._metric(MetricName.ALERT, of=kind)

    def ended(self, outcome: str, now: datetime) -> Iterator[Metric]:
        """Yield the end of one run."""
        yield self._metric(MetricName.RUN, of=outcome)
        yield self._at(MetricName.ENDED, now, outcome)

    def freed(self, phase: Phase | None) -> Iterator[Metric]:
        """Yield that no run is active, so nothing runs and nothing waits; the phase may be unknown.

        Once all topics are cut over, no further run has to start.
        """
        yield self.watched(None)
        yield from (self._at(MetricName.ACTIVE, None, each) for each in Mode)
        yield from (self.waits(each, None) for each in ASKING)
        if phase is not None:
            yield from (self._metric(MetricName.PHASE, int(each is phase), each) for each in Phase)
        if phase is Phase.CUT_OVER:
            yield self._at(MetricName.NEXT_START_BEFORE, None)

    def _metric(self, name: MetricName, value: float = 1, of: str = "") -> Metric:
        return Metric(name, self.migration, value, of)

    def _at(self, name: MetricName, moment: datetime | None, of: str = "") -> Metric:
        return self._metric(name, 0 if moment is None else moment.timestamp(), of)
