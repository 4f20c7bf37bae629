"""Settings of the alerts that a run sends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


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
class NotifierSettings:
    """One of Airflow's notifiers: the path of its class, its arguments (templates), and the alerts that it sends."""

    notifier: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    kinds: frozenset[AlertKind] = frozenset(AlertKind)

    def to_document(self) -> dict[str, Any]:
        """Return the settings as plain JSON values."""
        return {"notifier": self.notifier, "arguments": dict(self.arguments), "kinds": sorted(self.kinds)}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> NotifierSettings:
        """Read back what `to_document` wrote."""
        kinds = frozenset(AlertKind(kind) for kind in document["kinds"])
        return cls(document["notifier"], document["arguments"], kinds)


@dataclass(frozen=True, slots=True)
class AlertSettings:
    """The notifiers of a run. An alert is also sent if the run lasts longer than `too_long_after_s` (`None`: never)."""

    notifiers: tuple[NotifierSettings, ...] = ()
    too_long_after_s: int | None = None

    def to_document(self) -> dict[str, Any]:
        """Return the settings as plain JSON values."""
        notifiers = [notifier.to_document() for notifier in self.notifiers]
        return {"notifiers": notifiers, "too_long_after_s": self.too_long_after_s}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> AlertSettings:
        """Read back what `to_document` wrote."""
        notifiers = tuple(NotifierSettings.from_document(notifier) for notifier in document["notifiers"])
        return cls(notifiers, document["too_long_after_s"])
