"""The interface of a watch's guide, and the guide of a sync."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from kafka_migration.core.clock import Clock
from kafka_migration.core.kafka.offsets import Lag
from kafka_migration.core.report.alerts import Alert
from kafka_migration.core.run.stop_request import StopRequest
from kafka_migration.core.watching.fence import FenceProof
from kafka_migration.core.watching.watch import Aim, Ending, Outcome


class Guide(Protocol):
    """Sets the watcher's goals and decides when to end. The watches of the modes differ only in their guides."""

    @property
    def stage(self) -> str:
        """The stage's name in the progress line; empty if there is only one."""

    def aim(self) -> Aim | None:
        """Return the goals of this poll; `None` keeps those of the previous poll.

        Raises `TransientError` when the source cannot be read.
        """

    def took(self, lag: Lag) -> None:
        """Receive the lag of a poll after which the watch continues."""

    def ending(self, asked: StopRequest | None = None) -> Ending | None:
        """Return why the watch must end now, regardless of the copy's progress; `None` if it continues.

        `asked` is the request to end mirroring, if there is one.
        """

    def proof(self) -> FenceProof | None:
        """Return the fence that proves the goals, if there is one."""

    def take_notices(self) -> list[str]:
        """Return the new notices for the log since the last call."""

    def take_alert(self) -> Alert | None:
        """Return an alert that must be sent now, once."""


class QuietGuide:
    """The base of guides that send no notices or alerts, because no producer has to stop."""

    def took(self, lag: Lag) -> None:
        """Ignore the lag."""

    def proof(self) -> FenceProof | None:
        """Return none: there is no fence."""
        return None

    def take_notices(self) -> list[str]:
        """Return nothing."""
        return []

    def take_alert(self) -> Alert | None:
        """Return none."""
        return None


@dataclass(eq=False)
class PlanGuide(QuietGuide):
    """The guide of a sync: the goals are those of the plan and never change.

    `mirror_until` is the end of the mirroring window.
    """

    clock: Clock
    mirror_until: datetime | None = None
    stage: str = ""

    def aim(self) -> Aim | None:
        """Keep the plan's goals."""
        return None

    def ending(self, asked: StopRequest | None = None) -> Ending | None:
        """End on request or when the window ends."""
        if asked is not None:
            return Ending(Outcome.BEHIND, str(asked))
        if self.mirror_until is None or self.clock.now() < self.mirror_until:
            return None
        return Ending(Outcome.BEHIND, f"the window for mirroring ended at {self.mirror_until.isoformat()}")
