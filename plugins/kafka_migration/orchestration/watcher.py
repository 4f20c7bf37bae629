"""One poll of a running MirrorMaker: what the trigger does in a thread, over the Protocols."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from kafka_migration.core.clock import Clock
from kafka_migration.core.cluster import KafkaCluster
from kafka_migration.core.codes import Code
from kafka_migration.core.drain import Drain, PartitionReading, Probe, drain_of, expected_next
from kafka_migration.core.errors import Finding, FindingsError, OutcomeUnknown, TransientError
from kafka_migration.core.host import HostReply, MirrorHost
from kafka_migration.core.migration import Migration
from kafka_migration.core.offsets import TopicPartition
from kafka_migration.core.watch import Outcome, Poll, Watch, WatchResult
from kafka_migration.engines import mirrormaker2
from kafka_migration.orchestration.run import PlanOffsets


@dataclass(eq=False)
class MirrorWatcher:
    """Polls one generation. Not thread-safe: one poll at a time."""

    migration: Migration
    holder: str
    generation: int
    plan: PlanOffsets
    source: KafkaCluster
    target: KafkaCluster
    host: MirrorHost
    clock: Clock
    deadline: datetime
    watch: Watch = field(init=False)

    def __post_init__(self) -> None:
        self.watch = Watch(
            self.plan.positions, self.plan.goals, self.migration.watch.stall_after_s, self.clock.monotonic_s()
        )

    @property
    def progress(self) -> str:
        """The progress line of the last poll."""
        return self.watch.progress

    def poll(self) -> WatchResult | None:
        """Ask host and clusters once; return the result when the watch is over.

        What cannot be reached is unknown, not a failure: the host's lease and the deadline bound the wait.
        """
        try:
            result = self.watch.take(self._poll(), self.clock.monotonic_s())
        except FindingsError as error:
            return WatchResult(Outcome.FAILED, self.progress, error.findings)
        if result is None and self.clock.now() >= self.deadline:
            return WatchResult(Outcome.FAILED, self.progress, (self._too_late(),))
        return result

    def _poll(self) -> Poll:
        try:
            reply = self.host.renew(self.holder, self.generation)
            failed = self._failed_tasks()
            readings = self._readings()
        except (TransientError, OutcomeUnknown) as error:
            return Poll(readings={}, process_alive=None, unreachable=str(error))
        return Poll(readings, reply.is_running, _ending(reply), failed)

    def _failed_tasks(self) -> tuple[str, ...]:
        topics = mirrormaker2.InternalTopics.of(self.migration, self.generation)
        health = mirrormaker2.health(self.target.read_table(topics.status))
        return tuple(f"{task.name}: {task.causes}" for task in health.failed)

    def _readings(self) -> Mapping[TopicPartition, PartitionReading]:
        topics = mirrormaker2.InternalTopics.of(self.migration, self.generation)
        stored = mirrormaker2.stored_positions(self.target.read_table(topics.offsets), self.migration)
        positions = expected_next(self.plan.positions, stored, {})
        log_start = self.source.log_start_offsets(tuple(self.plan.goals))
        readings = {
            partition: PartitionReading(goal, log_start.get(partition), positions.get(partition))
            for partition, goal in self.plan.goals.items()
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
        return self.source.probe(start, self.migration.mirror.isolation_level) if start else {}

    def _too_late(self) -> Finding:
        return Finding(
            Code.MIRROR_TIMEOUT,
            "watch_lag",
            self.progress or "no reading yet",
            f"the goal reached within {self.migration.watch.time_limit_s:,.0f} s (watch.time_limit)",
            "What was copied stays and will be validated; trigger the run again to go on, or raise the limit.",
        )


def _ending(reply: HostReply) -> str:
    last_lines = " | ".join(line for line in reply.log.splitlines()[-3:] if line.strip())
    return f"state {reply.state}, exit code {reply.exit_code}, last log lines: {last_lines or 'none'}"
