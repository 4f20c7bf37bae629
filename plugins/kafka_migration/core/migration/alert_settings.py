"""Settings of the alerts that a run sends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from kafka_migration.core.documents.codec import Document


class AlertKind(StrEnum):
    """The reason for an alert.

    After the run has ended: `refused`, nothing was started or moved; `stalled`, MirrorMaker failed, made no progress
    or was overtaken by the source's retention; `failed`, the copy is wrong or not verifiable; `behind`, the time was
    over before everything was done; `not_stopped`, MirrorMaker may still be running; `error`, everything else. During
    the run: `producers` must be stopped now; `approval` is needed; the run takes `too_long`; a cluster, the host or
    the evidence store is `unreachable`.
    """

    REFUSED = "refused"
    STALLED = "stalled"
    FAILED = "failed"
    BEHIND = "behind"
    NOT_STOPPED = "not_stopped"
    ERROR = "error"
    PRODUCERS = "producers"
    APPROVAL = "approval"
    TOO_LONG = "too_long"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class NotifierSettings(Document):
    """One of Airflow's notifiers: the path of its class, its arguments (templates), and the alerts that it sends."""

    notifier: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    kinds: frozenset[AlertKind] = frozenset(AlertKind)


@dataclass(frozen=True, slots=True)
class AlertSettings(Document):
    """The notifiers of a run. An alert is also sent if the run lasts longer than `too_long_after_s` (`None`: never)."""

    notifiers: tuple[NotifierSettings, ...] = ()
    too_long_after_s: int | None = None
