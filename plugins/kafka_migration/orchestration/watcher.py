"""One poll of a running MirrorMaker: what the trigger does in a thread, over the Protocols."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol

from kafka_migration.adapters.evidence import StopRequestStore
from kafka_migration.core.alerts import Alert
from kafka_migration.core.clock import Clock
from kafka_migration.core.cluster import KafkaCluster
from kafka_migration.core.codes import Code
from kafka_migration.core.drain import Drain, PartitionReading, Probe, drain_of, expected_next
from kafka_migration.core.engine import MirrorEngine
from kafka_migration.core.errors import Finding, FindingsError, OutcomeUnknown, TransientError
from kafka_migration.core.host import HostReply, MirrorHost
from kafka_migration.core.lag import Lag
from kafka_migration.core.migration import Migration
from kafka_migration.core.offsets import Offsets, TopicPartition
from kafka_migration.core.stop_request import StopRequest
from kafka_migration.core.trouble import explained, likely_cause
from kafka_migration.core.watch import Aim, Ending, Outcome, Poll, Watch, WatchResult
from kafka_migration.orchestration.mirroring import probe_held
from kafka_migration.orchestration.reviving import Reviver
from kafka_migration.orchestration.run import PlanOffsets

# The end of the log that is searched for why a partition stands still.
CAUSE_LOG_LINES = 400


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


@dataclass(eq=False)
class PlanGuide:
    """The guide of a sync: the goals are those of the plan, from the first poll to the last.

    `mirror_until` is the end of the window for mirroring.
    """

    clock: Clock
    mirror_until: datetime | None = None
    stage: str = ""

    def aim(self) -> Aim | None:
        """Change nothing."""
        return None

    def took(self, lag: Lag) -> None:
        """Need no lag."""

    def ending(self, asked: StopRequest | None = None) -> Ending | None:
        """End on request, and with the window."""
        if asked is not None:
            return Ending(Outcome.BEHIND, str(asked))
        if self.mirror_until is None or self.clock.now() < self.mirror_until:
            return None
        return Ending(Outcome.BEHIND, f"the window for mirroring ended at {self.mirror_until.isoformat()}")

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
class MirrorWatcher:
    """Polls a run's MirrorMaker; one that died is started again as the next generation.

    Not thread-safe: one poll at a time.
    """

    migration: Migration
    first_generation: int
    plan: PlanOffsets
    source: KafkaCluster
    engine: MirrorEngine
    host: MirrorHost
    reviver: Reviver
    stop_requests: StopRequestStore
    clock: Clock
    deadline: datetime | None
    guide: Guide
    generation: int = field(init=False, default=0)
    begin: Offsets = field(init=False)
    watch: Watch = field(init=False)

    def __post_init__(self) -> None:
        self.watch = Watch(
            self.plan.positions, self.plan.goals, self.migration.watch.stall_after_s, self.clock.monotonic_s()
        )
        self._take_up()

    @property
    def progress(self) -> str:
        """The progress line of the last poll."""
        return self.watch.progress

    def take_notices(self) -> list[str]:
        """Return what a person must be told since the last call."""
        return self.guide.take_notices()

    def poll(self) -> WatchResult | None:
        """Ask host and clusters once; return the result when the watch is over.

        What cannot be reached is unknown, not a failure: the host's lease and the deadline bound the wait.
        """
        asked, remark = self._asked()
        ending = self.guide.ending(asked)
        try:
            poll = self._poll(revives=ending is None)
            result = self.watch.take(replace(poll, remark=remark), self.clock.monotonic_s())
        except FindingsError as error:
            return WatchResult(Outcome.FAILED, self.progress, error.findings)
        if result is not None:
            return replace(result, fence=self.guide.proof(), findings=self._explained(result.findings))
        # With everything at its goal just now, the next poll may prove it.
        if ending is not None and not self.watch.passes:
            return self.watch.end(ending)
        if self.deadline is not None and self.clock.now() >= self.deadline:
            return WatchResult(Outcome.FAILED, self.progress, (self._too_late(),))
        self.guide.took(self.watch.lag)
        return None

    def _asked(self) -> tuple[StopRequest | None, str]:
        """Return the request to end mirroring, if there is one, and why that could not be told, if it could not."""
        try:
            # A request names the generation of its time, which may have died since.
            generations = range(self.first_generation, self.generation + 1)
            return next(filter(None, map(self.stop_requests.find, generations)), None), ""
        except Exception as error:
            # Whatever an object store raises: not to know of a request is no reason to end.
            return None, f"stop requests cannot be read ({type(error).__name__}: {error})"

    def _poll(self, *, revives: bool) -> Poll:
        try:
            reply = self.reviver.renew(self.generation)
            if not reply.is_running:
                # What is to end now is not started for that.
                return self._waiting(self._revive(reply) if revives else "MirrorMaker is dead")
            aim = self.guide.aim() or self.watch.aim
            readings = self._readings(aim)
            return Poll(readings, self.engine.health(self.generation), reply.alarm, aim=aim)
        except (TransientError, OutcomeUnknown, OSError) as error:
            return self._waiting(str(error))

    def _waiting(self, reason: str) -> Poll:
        return Poll(readings={}, unreachable=reason, aim=replace(self.watch.aim, stage=self.guide.stage))

    def _revive(self, reply: HostReply) -> str:
        try:
            return self.reviver.step(reply, self.watch.proved)
        finally:
            # If the evidence cannot be read now, it can at the next poll, which finds the process dead again.
            with suppress(OSError):
                self._take_up()

    def _take_up(self) -> None:
        """Turn to the run's newest generation and to where it began, which may be further back than what was proved."""
        newest = self.reviver.newest()
        if newest.number != self.generation:
            self.watch.proved.clear()
        self.generation, self.begin = newest.number, newest.start.mirror_positions

    def _readings(self, aim: Aim) -> Mapping[TopicPartition, PartitionReading]:
        stored = self.engine.stored_positions(self.migration.topics)
        # A partition that the start did not know was added since, and begins at offset 0.
        positions = expected_next({p: self.begin.get(p, 0) for p in aim.goals}, stored, self.watch.proved)
        log_start = self.source.log_start_offsets(tuple(aim.goals))
        readings = {
            partition: PartitionReading(
                goal, None if partition in aim.unread else log_start.get(partition), positions.get(partition)
            )
            for partition, goal in aim.goals.items()
        }
        probes = self._probes(readings)
        return {
            partition: PartitionReading(r.goal, r.source_log_start, r.expected_next, probes.get(partition))
            for partition, r in readings.items()
        }

    def _probes(self, readings: Mapping[TopicPartition, PartitionReading]) -> Mapping[TopicPartition, Probe]:
        start = {
            partition: reading.expected_next
            for partition, reading in readings.items()
            if reading.expected_next is not None
            and drain_of(reading) is Drain.COPYING
            and self.watch.needs_probe(partition, reading.expected_next)
        }
        return probe_held(self.source, start, self.migration.mirror.isolation_level)

    def _too_late(self) -> Finding:
        return Finding(
            Code.MIRROR_TIMEOUT,
            "watch_lag",
            self.progress or "no reading yet",
            f"the goal reached within {self.migration.watch.time_limit_s:,.0f} s (watch.time_limit)",
            "What was copied stays and will be validated; trigger the run again to go on, or raise the limit.",
        )

    def _explained(self, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
        """Add to the finding of each stalled partition why it may stand still; not to know does not change the end."""
        stalled = [p for p in self.watch.goals if any(_is_stall_of(f, p) for f in findings)]
        if not stalled:
            return findings
        try:
            log = self.host.logs(self.generation, CAUSE_LOG_LINES).log
            high_watermarks = self.source.log_end_offsets(stalled, "read_uncommitted")
            stable = self.source.log_end_offsets(stalled, "read_committed")
        except (FindingsError, TransientError, OutcomeUnknown):
            return findings
        is_read_committed = self.migration.mirror.isolation_level == "read_committed"
        causes = {
            str(p): likely_cause(log, open_transaction=is_read_committed and p in stable and stable[p] < high)
            for p, high in high_watermarks.items()
        }
        return explained(findings, causes)


def _is_stall_of(finding: Finding, partition: TopicPartition) -> bool:
    return finding.code is Code.MIRROR_STALLED and finding.subject == str(partition)
