"""Documents about the copy: the plan of a run, the topics it created, the start and the stop of MirrorMaker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.kafka.offsets import Ranges
from kafka_migration.core.ledger.generations import KeptOffsets, StopCertificate
from kafka_migration.core.ledger.interval_bounds import IntervalBounds
from kafka_migration.core.watching.retention_forecast import Forecast


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDocument(Document):
    """What a run will create and copy; a run that does not mirror creates and copies nothing.

    :param frozen_configs: the settings whose real values a created topic gets later, by topic
    :param grow: the new number of partitions, by topic
    :param interval: the bounds of the run's interval, if it has one
    :param positions: the next source offsets to copy
    :param goals: the source offsets up to which the run copies
    :param offsets_to_copy: the offsets between positions and goals
    :param held_back: source offsets after an open transaction; `None` if the run did not look
    :param open_transactions: the findings about them; `None` if the run did not look
    """

    OMITTED: ClassVar[frozenset[str]] = frozenset({"held_back", "open_transactions"})

    at: str
    create: tuple[NewTopic, ...] = ()
    frozen_configs: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)
    grow: Mapping[str, int] = field(default_factory=dict)
    interval: IntervalBounds | None = None
    positions: KeptOffsets = field(default_factory=dict)
    goals: KeptOffsets = field(default_factory=dict)
    offsets_to_copy: int = 0
    held_back: Ranges | None = None
    open_transactions: tuple[Finding, ...] | None = None
    warnings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class TopicsDocument(Document):
    """The topics that a run created, and the new number of partitions of those that it extended."""

    at: str
    created: tuple[NewTopic, ...]
    grown: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class MirrorStarted(Document):
    """MirrorMaker runs; `pid` is its process on the host, if it has one."""

    at: str
    generation: int
    pid: int | None
    started: Literal[True] = True


@dataclass(frozen=True, slots=True)
class MirrorNotStarted(Document):
    """MirrorMaker was not started, and why."""

    at: str
    reason: str
    started: Literal[False] = False


StartDocument = MirrorStarted | MirrorNotStarted


@dataclass(frozen=True, slots=True)
class ForecastDocument(Document):
    """The next run must start before `at`, because of one partition (as text)."""

    at: str
    partition: str
    reason: str

    @classmethod
    def of(cls, forecast: Forecast) -> ForecastDocument:
        """Return the document of a forecast."""
        return cls(forecast.at.isoformat(timespec="seconds"), str(forecast.partition), forecast.reason)


@dataclass(frozen=True, slots=True)
class StopDocument(Document):
    """A generation of MirrorMaker is stopped and certified.

    `log` are the last lines of its log; `None` if it has no log. `forecast` is `None` if the source deletes nothing by
    itself, or if it is unknown what it deletes.
    """

    at: str
    certificate: StopCertificate
    log: str | None
    open_transactions: tuple[Finding, ...]
    forecast: ForecastDocument | None
