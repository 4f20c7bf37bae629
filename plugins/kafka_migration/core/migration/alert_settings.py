"""Settings of the alerts that a run sends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.text.row_enum import RowEnum


class Urgency(StrEnum):
    """When a person has to act on an alert."""

    NOW = "now"
    TODAY = "today"
    NEXT_RUN = "before the next run"


class _AlertRow(NamedTuple):
    """What `AlertKind` says of a kind, for its table."""

    when: str
    headline: str
    urgency: Urgency
    first_step: str
    after_the_end: bool


class AlertKind(RowEnum):
    """The reason for an alert, with what is the same for all alerts of the kind.

    `when` says when it is sent, and `headline` what its subject says. `first_step` is what to do unless a finding says
    more; a sender fills in its names in braces. One that is sent `after_the_end` says how a run ended.
    """

    when: str
    headline: str
    urgency: Urgency
    first_step: str
    after_the_end: bool

    @classmethod
    def text_of(cls, name: str) -> str:
        """Return the kind as migration files name it."""
        return name.lower()

    REFUSED = _AlertRow(
        "nothing was started, or nothing was moved",
        "the run was refused",
        Urgency.NEXT_RUN,
        "read the log of the task {task}.",
        True,
    )
    STALLED = _AlertRow(
        "MirrorMaker died and was not restarted, stalled, missed its time limit or lost records; the source deleted "
        "uncopied records; or something did not answer for too long",
        "mirroring failed",
        Urgency.TODAY,
        "read the log of the task {task}.",
        True,
    )
    FAILED = _AlertRow(
        "verdict `FAIL` or `NOT_VERIFIABLE`",
        "the copy is not proved",
        Urgency.TODAY,
        "read the log of the task {task}.",
        True,
    )
    BEHIND = _AlertRow(
        "mirroring or validating took too long, and nothing else is wrong; also with `when_late: warn`",
        "the run did not finish in time",
        Urgency.NEXT_RUN,
        "read the log of the task {task}.",
        True,
    )
    NOT_STOPPED = _AlertRow(
        "neither a certificate nor the host says that MirrorMaker has stopped; takes precedence over the others",
        "MIRRORMAKER MAY STILL RUN",
        Urgency.NOW,
        "clear the run's task stop_mirror, or check the MirrorMaker host "
        '(the page "Runbook", section "MirrorMaker runs on").',
        True,
    )
    ERROR = _AlertRow(
        "a task failed without a finding, `finish` was lost, groups could not be moved, or the reservation was not "
        "freed",
        "the run failed",
        Urgency.TODAY,
        "read the log of the task {task}.",
        True,
    )
    PRODUCERS = _AlertRow(
        "a cutover is near the end of the source: stop the producers now",
        "stop your producers now",
        Urgency.NOW,
        "stop everything that writes to these topics on the source; consumers may continue.",
        False,
    )
    APPROVAL = _AlertRow(
        "a plan waits for an answer",
        "an approval is needed",
        Urgency.NOW,
        "read the plan in Airflow (Required Actions), then approve or reject it. Without an answer nothing is written.",
        False,
    )
    TOO_LONG = _AlertRow(
        "`too_long_after` has passed since the run was queued; a backfill run that had to wait sends none",
        "the run takes too long",
        Urgency.TODAY,
        "find the running task and read its log. Nothing was stopped.",
        False,
    )
    UNREACHABLE = _AlertRow(
        "a cluster, the MirrorMaker host or the evidence root has not answered for `watch.stall_after`; once per "
        "silence",
        "no answer while MirrorMaker runs",
        Urgency.NOW,
        "find out why the {party} does not answer. Nothing was stopped; the run continues once it answers.",
        False,
    )


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
