"""Polls the lag of consumer groups in a thread of the trigger; says which groups a cutover waits for."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import ClassVar

from kafka_migration.adapters.system.deadlines import at_most
from kafka_migration.core.clock import Clock
from kafka_migration.core.cutover.lag_policy import (
    LagPolicy,
    LagPolicyState,
    LagSample,
    behind_text,
    next_to_read,
    partition_lag,
)
from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, FindingsError, Refused, TransientError
from kafka_migration.core.groups.selection import which_groups
from kafka_migration.core.kafka.cluster import KafkaCluster, Probe, TopicDescription
from kafka_migration.core.kafka.offsets import Lag, Offsets, TopicPartition, topics_of
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.stored.stored_documents import DrainedDocument, Stored
from kafka_migration.core.text.quoting import group_subject
from kafka_migration.core.text.shortened import some
from kafka_migration.core.text.terminal_text import duration
from kafka_migration.core.watching.unreachable import Party, SilenceWatch
from kafka_migration.steps.reading.one_by_one import commits_of
from kafka_migration.steps.run.guards import require_proved_copy
from kafka_migration.steps.run.migration_run import MigrationRun
from kafka_migration.steps.run.task_frame import Summary, skip_unless_planning

log = logging.getLogger(__name__)


GroupTopics = Mapping[str, Iterable[str] | None]
"""The topics per group; `None` means every topic with a committed offset of the group."""

# The event names at most this many partitions of a group; it counts the rest.
NAMED_PARTITIONS = 10


class LagOutcome(StrEnum):
    """How waiting for groups ended."""

    CAUGHT_UP = "caught_up"
    TIMED_OUT = "timed_out"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class LagEnded(Document):
    """How the wait ended: the last progress line, and per group the partitions that are behind, as text.

    `at` is the begin of the first poll that found them at the end (ISO 8601); empty if none did.
    """

    ADDED: ClassVar[frozenset[str]] = frozenset({"at"})

    outcome: LagOutcome
    progress: str = ""
    behind: Mapping[str, str] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    at: str = ""


@dataclass(eq=False)
class GroupLagReader:
    """Reads samples. Log end offsets are read after committed offsets, so that lag is never understated.

    A partition is probed only if it has lag and its committed offset has not changed since the last sample.
    """

    cluster: KafkaCluster
    groups: GroupTopics
    policy: LagPolicy
    clock: Clock
    _positions: dict[str, Offsets] = field(default_factory=dict)

    def read(self) -> LagSample:
        """Read every group once. Raises `TransientError`, `Refused`."""
        at_s = self.clock.monotonic_s()
        committed = {
            group: {p: commit.offset for p, commit in self.cluster.committed_offsets(group).items()}
            for group in self.groups
        }
        partitions = self._partitions(committed)
        every = sorted({p for mine in partitions.values() for p in mine})
        log_start = self.cluster.log_start_offsets(every)
        ends = self.cluster.log_end_offsets(every, "read_committed")
        return LagSample(
            at_s,
            {group: self._lags(group, mine, committed[group], log_start, ends) for group, mine in partitions.items()},
        )

    def _partitions(self, committed: Mapping[str, Offsets]) -> dict[str, list[TopicPartition]]:
        topics = {
            group: sorted({p.topic for p in committed[group]} if wanted is None else set(wanted))
            for group, wanted in self.groups.items()
        }
        described = self.cluster.describe_topics(sorted({topic for mine in topics.values() for topic in mine}))
        return {group: [p for topic in mine for p in _all_of(topic, described)] for group, mine in topics.items()}

    def _lags(
        self, group: str, partitions: Iterable[TopicPartition], committed: Offsets, log_start: Offsets, ends: Offsets
    ) -> dict[TopicPartition, Lag]:
        lags = {p: partition_lag(committed.get(p), log_start.get(p), ends.get(p)) for p in partitions}
        probes = self._probes(group, lags, {p: next_to_read(committed.get(p), log_start[p]) for p in log_start})
        return {
            p: partition_lag(committed.get(p), log_start.get(p), ends.get(p), probes.get(p)) if p in probes else lag
            for p, lag in lags.items()
        }

    def _probes(
        self, group: str, lags: Mapping[TopicPartition, Lag], positions: Offsets
    ) -> Mapping[TopicPartition, Probe]:
        before, self._positions[group] = self._positions.get(group, {}), positions
        start = {
            p: positions[p]
            for p, lag in lags.items()
            if not self.policy.is_within(lag) and p in positions and before.get(p) == positions[p]
        }
        return self.cluster.probe(start, "read_committed") if start else {}


def _all_of(topic: str, described: Mapping[str, TopicDescription]) -> tuple[TopicPartition, ...]:
    """Return the topic's partitions. A missing topic counts as one partition with unknown lag."""
    description = described.get(topic)
    return description.topic_partitions if description else (TopicPartition(topic, 0),)


@dataclass(eq=False)
class GroupLagWatcher:
    """Polls until the groups have caught up or the deadline has passed. Not thread-safe: one poll at a time.

    One poll takes at most `poll_limit_s`. `silence` decides when to send an alert about a cluster that does not answer,
    and when to give up.
    """

    reader: GroupLagReader
    clock: Clock
    deadline: datetime
    poll_limit_s: float
    silence: SilenceWatch
    party: Party = Party.CLUSTER
    state: LagPolicyState = field(init=False)
    _since: datetime | None = None

    def __post_init__(self) -> None:
        self.state = LagPolicyState(self.reader.policy)

    @property
    def progress(self) -> str:
        """The progress line of the last poll."""
        return self.state.progress

    def poll(self) -> LagEnded | None:
        """Take one sample; return how the wait ended when it is over.

        If the cluster does not answer, the wait continues until the silence is too long. If it denies the request, the
        wait ends.
        """
        try:
            with at_most(self.poll_limit_s):
                has_caught_up = self._has_caught_up()
        except FindingsError as error:
            return self._ended(LagOutcome.FAILED, error.findings)
        if has_caught_up:
            return self._ended(LagOutcome.CAUGHT_UP)
        if findings := self.silence.too_long(self.clock.now()):
            return self._ended(LagOutcome.FAILED, findings)
        return self._ended(LagOutcome.TIMED_OUT) if self.clock.now() >= self.deadline else None

    def _has_caught_up(self) -> bool:
        begun = self.clock.now()
        try:
            sample = self.reader.read()
        except TransientError as error:
            self.silence.take((), {self.party: str(error)}, begun)
            self.state.miss(f"waiting, {error}")
            return False
        self.silence.take({self.party}, {}, begun)
        has_caught_up = self.state.take(sample, self.clock.monotonic_s())
        self._since = begun if self.state.passes == 1 else self._since
        return has_caught_up

    def _ended(self, outcome: LagOutcome, findings: tuple[Finding, ...] = ()) -> LagEnded:
        behind = {group: behind_text(lags, NAMED_PARTITIONS) for group, lags in self.state.behind.items()}
        at = self._since.isoformat(timespec="seconds") if self._since and outcome is LagOutcome.CAUGHT_UP else ""
        return LagEnded(outcome, self.progress, behind, findings, at)


CAUGHT_UP = LagEnded(LagOutcome.CAUGHT_UP)


def groups_to_drain(run: MigrationRun) -> dict[str, list[str] | None]:
    """Return the groups to wait for with their topics; none if the run does not wait."""
    skip_unless_planning(run)
    is_configured = run.request.mode is Mode.CUTOVER and run.migration.cutover.drain_groups_s is not None
    groups = _groups_with_topics(run) if is_configured else {}
    if groups:
        log.info("Waiting for %s.", some(groups))
    else:
        log.info("Not waiting for any group: %s.", "none has committed offsets" if is_configured else "not configured")
    return groups


def end_drain(run: MigrationRun, ended: LagEnded) -> Summary:
    """Record the end and return the last progress line; raise `Refused` if a group has not read everything."""
    if ended.outcome is LagOutcome.FAILED:
        raise Refused(ended.findings)
    if ended.outcome is LagOutcome.TIMED_OUT:
        raise Refused(_not_drained(run, ended))
    would_wait = run.migration.cutover.drain_groups_s is not None and run.request.mode is not Mode.CUTOVER
    run.evidence.write(Stored.DRAINED, DrainedDocument(ended.at or run.now(), would_wait))
    return {"outcome": str(ended.outcome), "progress": ended.progress}


def _groups_with_topics(run: MigrationRun) -> dict[str, list[str] | None]:
    """Return the migration's groups, each with the migration's topics on which it has committed offsets."""
    names = which_groups(run.source.list_groups(), run.migration.cutover.groups, run.request.groups)
    # The plan leaves out a group that cannot be read; the wait is for the others.
    committed = {name: found for name, found in commits_of(run.source, names).items() if not isinstance(found, str)}
    moved = run.migration.without(require_proved_copy(run)).topics
    topics = {name: topics_of(found).intersection(moved) for name, found in committed.items()}
    return {name: sorted(mine) for name, mine in topics.items() if mine}


def _not_drained(run: MigrationRun, ended: LagEnded) -> list[Finding]:
    behind = ended.behind or {"": ended.progress}
    limit_s = run.migration.cutover.drain_groups_s or 0
    return [
        Finding(
            Code.GROUPS_NOT_DRAINED,
            group_subject(group) if group else "the groups of the migration",
            text,
            f"lag 0, known, on every partition within {limit_s:,} s (cutover.drain_groups)",
            "Let its consumers read the rest on the source and trigger the cutover again. Or remove the group from "
            "cutover.groups, or cut over without cutover.drain_groups: the group then resumes on the target where it "
            "stopped.",
            happened=f"Within {duration(limit_s)} (cutover.drain_groups), "
            f"{group_subject(group) if group else 'the groups of the migration'} did not read everything on the "
            f"source: {text}.",
            matters="With cutover.drain_groups a cutover moves groups only after they have read everything on the "
            "source, so it ended without moving a group.",
        )
        for group, text in behind.items()
    ]
