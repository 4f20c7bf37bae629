"""The metrics of a migration and their names. They are output only: no decision uses them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from kafka_migration.core.kafka.offsets import Known, Lag
from kafka_migration.core.watching.progress import ProgressMeter

PREFIX = "kafka_migration"
Counted = Literal["verdict", "run", "alert"]


@dataclass(frozen=True, slots=True)
class Metric:
    """One value: a gauge to set, or the increment of a counter; `tags` name the migration and more.

    Without support for tags (plain StatsD) their values follow the name, as in Airflow's own metrics.
    """

    name: str
    tags: Mapping[str, str]
    value: float = 1
    kind: Literal["gauge", "counter"] = "gauge"

    @property
    def full_name(self) -> str:
        """The name without tags."""
        return f"{PREFIX}.{self.name}"

    @property
    def name_with_tags(self) -> str:
        """The name followed by the values of the tags; dots in a value would create name levels."""
        return ".".join((self.full_name, *(value.replace(".", "__") for value in self.tags.values())))


@dataclass(frozen=True, slots=True)
class MetricsOf:
    """The metrics of one migration."""

    migration: str

    @property
    def _tags(self) -> dict[str, str]:
        return {"migration": self.migration}

    def lag(self, lag: Lag, meter: ProgressMeter) -> Iterator[Metric]:
        """Yield lag (offsets), rate (offsets per second) and time left (seconds), each if known.

        If the lag is unknown it has no value, and `lag_unknown` is 1.
        """
        yield Metric("lag_unknown", self._tags, 0 if isinstance(lag, Known) else 1)
        if isinstance(lag, Known):
            yield Metric("lag", self._tags, lag.offsets)
        if meter.rate is not None:
            # After a restart the copy may resume further back; StatsD treats a negative value as a decrement.
            yield Metric("rate", self._tags, max(0.0, meter.rate))
        if meter.eta_s is not None and isinstance(lag, Known):
            yield Metric("eta", self._tags, meter.eta_s)

    def headroom(self, start_before: datetime, now: datetime) -> Iterator[Metric]:
        """Yield how many seconds are left until the source may delete uncopied records, and that moment's Unix time."""
        yield Metric("gap_headroom", self._tags, max(0.0, (start_before - now).total_seconds()))
        yield Metric("next_start_before", self._tags, start_before.timestamp())

    def count(self, name: Counted, what: str) -> Metric:
        """Return the count of one verdict, of one run's end by its outcome, or of one alert by its kind."""
        return Metric(name, {name: what.lower().replace(" ", "_"), **self._tags}, kind="counter")
