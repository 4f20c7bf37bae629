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

    headline: str
    meaning: str
    first_step: str
    urgency: Urgency
    after_the_end: bool


class AlertKind(RowEnum):
    """The reason for an alert, with what is the same for all alerts of the kind.

    `headline` is what its subject says, and `meaning` when it is sent. `first_step` is what to do first, unless a
    finding says more; `<name>` stands for the name of the migration. One that is sent `after_the_end` says how a run
    ended.
    """

    headline: str
    meaning: str
    first_step: str
    urgency: Urgency
    after_the_end: bool

    @classmethod
    def text_of(cls, name: str) -> str:
        """Return the kind as migration files name it."""
        return name.lower()

    REFUSED = _AlertRow(
        "the run was refused",
        "Nothing was started, or no group was moved.",
        "Remove the cause that the first finding of the alert names. Then trigger the run again.",
        Urgency.NEXT_RUN,
        True,
    )
    STALLED = _AlertRow(
        "mirroring failed",
        "MirrorMaker died and was not restarted, stalled, missed its time limit or lost records; the source deleted "
        "uncopied records; or something did not answer for too long.",
        "Remove the cause that the first finding of the alert names. Then trigger the run again: it continues where "
        "the copy ended.",
        Urgency.TODAY,
        True,
    )
    FAILED = _AlertRow(
        "the copy is not proved",
        "The verdict is `FAIL` or `NOT_VERIFIABLE`.",
        "Do not start or approve a cutover. `kafka-migration verdict <name>` lists the topics and the reasons. A "
        "cutover that failed before `sync_offsets` moved no group: its clients can start on the source again.",
        Urgency.TODAY,
        True,
    )
    BEHIND = _AlertRow(
        "the run did not finish in time",
        "Mirroring or validating took too long, and nothing else is wrong. It is also sent with `when_late: warn`.",
        "Let the next run continue. If this repeats, set a later `nightly.until` or `nightly.validate_until`.",
        Urgency.NEXT_RUN,
        True,
    )
    NOT_STOPPED = _AlertRow(
        "MIRRORMAKER MAY STILL RUN",
        "No certificate, host or Connect worker says that MirrorMaker has stopped. It takes precedence over the "
        "others.",
        "Clear the task `stop_mirror` of the run. If that fails too, check the MirrorMaker host "
        "or the Connect worker (`kafka-migration explain MIRROR_NOT_STOPPED`).",
        Urgency.NOW,
        True,
    )
    ERROR = _AlertRow(
        "the run failed",
        "A task failed without a finding, `finish` was lost, groups could not be moved, or the reservation was not "
        "freed.",
        "Read the log of the task that the alert names, else that of `finish`. Remove the cause, and clear the task "
        "with downstream.",
        Urgency.TODAY,
        True,
    )
    PRODUCERS = _AlertRow(
        "stop your producers now",
        "A cutover is near the end of the source: its producers must stop now.",
        "Stop everything that writes to these topics on the source. Consumers may continue.",
        Urgency.NOW,
        False,
    )
    APPROVAL = _AlertRow(
        "an approval is needed",
        "A plan waits for an answer.",
        "Read the plan in Airflow (Required Actions). Then approve or reject it. Without an answer nothing is written.",
        Urgency.NOW,
        False,
    )
    TOO_LONG = _AlertRow(
        "the run takes too long",
        "`too_long_after` has passed since the run was queued. A backfill run that had to wait sends none.",
        "`kafka-migration status <name>` shows what the run does. Read the log of the running task. Nothing was "
        "stopped.",
        Urgency.TODAY,
        False,
    )
    UNREACHABLE = _AlertRow(
        "no answer while MirrorMaker runs",
        "A cluster, the MirrorMaker host, the Connect cluster or the evidence root has not answered for "
        "`watch.stall_after`. It is sent once per silence.",
        "Make the cluster, host or evidence root that the alert names reachable again. Nothing was stopped, and the "
        "run continues when it answers.",
        Urgency.NOW,
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
