"""What a poll of MirrorMaker finds out: which parties answered, renewed topics, and records that it refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from kafka_migration.adapters.system.deadlines import at_most, no_limit
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, OutcomeUnknown, Refused, TransientError
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.kafka.records import RecordShape
from kafka_migration.core.ledger.generations import GenerationStart
from kafka_migration.core.mirror.causes import newest_sign
from kafka_migration.core.mirror.diagnosis import ENDS
from kafka_migration.core.mirror.uncopyable import (
    Complaint,
    Reason,
    Takes,
    complaint_in,
    reason_of,
    refused_finding,
    unlocated_findings,
)
from kafka_migration.core.target.topic_identity import IdentityWatch
from kafka_migration.core.watching.drain import expected_next
from kafka_migration.core.watching.unreachable import Party, party_of
from kafka_migration.steps.run.migration_run import MigrationRun

T = TypeVar("T")
# Errors that mean that a party did not answer; an `OSError` comes from the evidence store.
NO_ANSWER = (TransientError, OutcomeUnknown, OSError)


class RollCall:
    """The parties that answered in one poll, and the errors of those that did not."""

    def __init__(self) -> None:
        self.heard: set[Party] = set()
        self.silent: dict[Party, str] = {}

    def ask(self, party: Party, call: Callable[[], T]) -> T | None:
        """Return the answer; `None` if the party did not answer."""
        try:
            answer = call()
        except NO_ANSWER as error:
            self.missed(error, party)
            return None
        self.heard.add(party)
        return answer

    def missed(self, error: Exception, asked: Party | None = None) -> None:
        """Record the party that did not answer, if the error identifies it."""
        if (party := party_of(error, asked)) is not None:
            self.silent.setdefault(party, str(error))


@dataclass(eq=False)
class TopicIdentity:
    """The topics of a run since one generation's start."""

    run: MigrationRun
    start: GenerationStart
    _watches: Mapping[Side, IdentityWatch] = field(init=False)

    def __post_init__(self) -> None:
        start = self.start
        self._watches = {
            "source": IdentityWatch("source", start.generation, start.source_topic_ids, {**start.mirror_positions}),
            "target": IdentityWatch("target", start.generation, start.target_topic_ids, {**start.target_end_offsets}),
        }

    def look(self, roll: RollCall) -> tuple[Finding, ...] | None:
        """Return a finding per topic that was created again; `None` if a cluster did not answer. Both are asked."""
        with at_most(self.run.migration.watch.poll_limit_s / 2):
            on_target = roll.ask(Party.TARGET, partial(self._look, "target"))
        on_source = roll.ask(Party.SOURCE, partial(self._look, "source"))
        return None if on_target is None or on_source is None else (*on_source, *on_target)

    def _look(self, side: Side) -> tuple[Finding, ...]:
        watch, cluster = self._watches[side], self.run.source if side == "source" else self.run.target
        ids = cluster.topic_ids(self.run.migration.topics)
        unnamed = [p for p in watch.ends if ids.get(p.topic) == ""]
        return watch.take(ids, cluster.log_end_offsets(unnamed, "read_uncommitted") if unnamed else {})


# The source is read from the stored positions on, at most for this long.
SEARCH_S = 30.0
_WITHOUT_AN_END = frozenset({Code.MIRROR_STALLED, Code.PARTITION_NOT_ASSIGNED})
# Kafka's default of the producer's `buffer.memory`.
BUFFER_BYTES = 33_554_432


def with_refused_records(
    run: MigrationRun, findings: tuple[Finding, ...], log: str, begin: Offsets, *, is_trusted: bool
) -> tuple[Finding, ...]:
    """Replace the findings that such a record caused by findings that name it; return all others as they are.

    `begin` are the positions at the generation's start, and `log` is the end of its log. The search
    begins at the stored positions only if they are trusted. If the record is not found in
    time, the finding has its cause only.
    """
    caused = [f for f in findings if f.code in ENDS and complaint_in(_said(f, log))]
    complaint = complaint_in("\n".join([*(_said(f, log) for f in caused), log])) if caused else None
    if complaint is None:
        return findings
    named = _named(run, complaint, begin, is_trusted) or tuple(unlocated_findings(complaint))
    return (*named, *(f for f in findings if f not in caused)) if named else findings


def _said(finding: Finding, log: str) -> str:
    """Return the text that says why: a task has a trace of its own, and a stall counts with the newest cause only."""
    if finding.code is Code.MIRROR_TASK_FAILED:
        return finding.found
    if finding.code in _WITHOUT_AN_END:
        sign = newest_sign(log)
        return sign.quote if sign else ""
    return f"{finding.found}\n{log}"


def _named(run: MigrationRun, complaint: Complaint, begin: Offsets, is_trusted: bool) -> tuple[Finding, ...]:
    found: dict[TopicPartition, tuple[RecordShape, Reason]] = {}
    with suppress(TransientError, Refused), no_limit(), at_most(SEARCH_S):
        takes = _takes(run)
        for record in _records(run, complaint, begin, is_trusted):
            reason = None if record.partition in found else reason_of(record, complaint, takes)
            if reason is not None:
                found[record.partition] = record, reason
    return tuple(refused_finding(*found[p], complaint, takes) for p in sorted(found))


def _takes(run: MigrationRun) -> Takes:
    migration = run.migration
    configs = run.target.effective_configs(migration.topics, "max.message.bytes", "cleanup.policy")
    return Takes(
        limits={topic: int(values["max.message.bytes"]) for topic, values in configs.items()},
        compacted=frozenset(t for t, values in configs.items() if "compact" in values.get("cleanup.policy", "")),
        names={topic: migration.target_topic(topic) for topic in migration.topics},
        buffer=int(migration.mirror.properties.get("producer.buffer.memory", BUFFER_BYTES)),
    )


def _records(run: MigrationRun, complaint: Complaint, begin: Offsets, is_trusted: bool) -> Iterable[RecordShape]:
    """Return the records that MirrorMaker has not stored as copied, of the topics that it names if there are any."""
    migration = run.migration
    topics = [t for t in migration.topics if migration.target_topic(t) in complaint.topics] or migration.topics
    partitions = [p for p in begin if p.topic in topics]
    stored = run.engine.stored_positions(topics) if is_trusted else {}
    isolation = migration.mirror.isolation_level
    ends = run.source.log_end_offsets(partitions, isolation)
    log_start = run.source.log_start_offsets(partitions)
    start = expected_next({p: begin[p] for p in ends if p in log_start}, stored, log_start)
    return run.source.record_shapes(start, ends, isolation, SEARCH_S)
