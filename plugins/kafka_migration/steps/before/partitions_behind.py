"""Which partitions of a topic are behind now: read from both clusters while MirrorMaker runs; nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.kafka.offsets import Known
from kafka_migration.core.ledger.generations import GenerationStart
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.run.run_conf import unknown_findings
from kafka_migration.core.text.shortened import some
from kafka_migration.core.watching.drain import PartitionReading, expected_next, lag_of
from kafka_migration.steps.before.planned_run import preview
from kafka_migration.steps.run.deployment import Deployment
from kafka_migration.steps.run.migration_run import MigrationRun, partitions_of


@dataclass(frozen=True, slots=True)
class PartitionBehind(Document):
    """The next source offset to copy, the present end of the source, and the offsets left; `None`: unknown."""

    partition: int
    next_offset: int
    source_end: int | None
    lag: int | None


@dataclass(frozen=True, slots=True)
class PartitionsBehind(Document):
    """The partitions of a topic that are behind at a moment, the worst first, and how many the topic has.

    `generation` is the open one of MirrorMaker. If it is `None`, nothing copies and nothing was read.
    """

    migration: str
    topic: str
    at: str
    generation: int | None
    total: int = 0
    behind: tuple[PartitionBehind, ...] = ()
    schema: Literal[1] = 1


def partitions_behind(name: str, topic: str, deployment: Deployment) -> PartitionsBehind:
    """Read which partitions of a topic the open generation has not copied to the present end of the source.

    Raises `Refused` if it does not copy this topic, and what the clusters raise if they do not answer.
    """
    with preview(name, {"mode": str(Mode.SYNC)}, deployment) as run:
        generation = run.ledger.known().open_generation
        if generation is None:
            return PartitionsBehind(name, topic, run.now(), None)
        copied = sorted({partition.topic for partition in generation.start.mirror_positions})
        if topic not in copied:
            raise Refused(unknown_findings("topics", [topic], f"topics that MirrorMaker copies now: {some(copied)}"))
        read = list(_read(run, topic, generation.start))
        behind = sorted((each for each in read if each.lag != 0), key=_worst_first)
        return PartitionsBehind(name, topic, run.now(), generation.number, len(read), tuple(behind))


def _worst_first(each: PartitionBehind) -> tuple[bool, int, int]:
    return each.lag is not None, -(each.lag or 0), each.partition


def _read(run: MigrationRun, topic: str, start: GenerationStart) -> Iterator[PartitionBehind]:
    partitions = partitions_of(run.describe("source", [topic]))
    # The positions first: what is copied meanwhile makes the lag too large, never too small.
    stored = run.engine.stored_positions([topic])
    log_start = run.source.log_start_offsets(partitions)
    ends = run.source.log_end_offsets(partitions, run.filed_migration.mirror.isolation_level)
    begin = {partition: start.mirror_positions.get(partition, 0) for partition in partitions}
    for partition, position in expected_next(begin, stored, {}).items():
        end = ends.get(partition)
        lag = None if end is None else lag_of(PartitionReading(end, log_start.get(partition), position))
        yield PartitionBehind(partition.partition, position, end, lag.offsets if isinstance(lag, Known) else None)
