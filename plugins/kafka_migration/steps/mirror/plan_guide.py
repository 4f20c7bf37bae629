"""Guides the watch of a sync, and says what every guide of a watch does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from kafka_migration.core.clock import Clock
from kafka_migration.core.kafka.lag import Lag
from kafka_migration.core.migration.stop_request import StopRequest
from kafka_migration.core.mirror.watch import Aim, Ending, Outcome
from kafka_migration.core.report.alerts import Alert


class Guide(Protocol):
    """Tells the watcher what to aim at and when to end; the one thing in which the modes differ."""

    @property
    def stage(self) -> str:
        """The stage's name in the progress line; empty where there is but one."""

    def aim(self) -> Aim | None:
        """Return what this poll is measured against; `None`: what the one before was.

        Raises `TransientError` when the source cannot be asked.
        """

    def took(self, lag: Lag) -> None:
        """Learn the lag of a poll after which the watch goes on."""

    def ending(self, asked: StopRequest | None = None) -> Ending | None:
        """Return why the watch is to end now, wherever the copy stands; `None`: it goes on.

        `asked` is the request to end mirroring, if somebody made one.
        """

    def proof(self) -> Mapping[str, Any] | None:
        """Return the document of the fence that the goals rest on, if they do."""

    def take_notices(self) -> list[str]:
        """Return what the log must tell a person since the last call."""

    def take_alert(self) -> Alert | None:
        """Return what people must be told now, once."""


class QuietGuide:
    """What those guides have in common that tell no person anything on the way, because no producer is to stop."""

    def took(self, lag: Lag) -> None:
        """Need no lag."""

    def proof(self) -> Mapping[str, Any] | None:
        """Return none: nobody was told to stop."""
        return None

    def take_notices(self) -> list[str]:
        """Return nothing."""
        return []

    def take_alert(self) -> Alert | None:
        """Return none."""
        return None


@dataclass(eq=False)
class PlanGuide(QuietGuide):
    """The guide of a sync: the goals are those of the plan, from the first poll to the last.

    `mirror_until` is the end of the window for mirroring.
    """

    clock: Clock
    mirror_until: datetime | None = None
    stage: str = ""

    def aim(self) -> Aim | None:
        """Change nothing."""
        return None

    def ending(self, asked: StopRequest | None = None) -> Ending | None:
        """End on request, and with the window."""
        if asked is not None:
            return Ending(Outcome.BEHIND, str(asked))
        if self.mirror_until is None or self.clock.now() < self.mirror_until:
            return None
        return Ending(Outcome.BEHIND, f"the window for mirroring ended at {self.mirror_until.isoformat()}")
