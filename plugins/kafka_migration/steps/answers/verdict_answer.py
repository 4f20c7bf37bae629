"""The verdict of all runs on each topic, from the ledger alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.ledger.chain import Confirmation
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.report.run_status import Contradiction
from kafka_migration.core.validation.coverage import CoverageSummary, FlawKind, PartitionCoverage, TopicCoverage
from kafka_migration.core.validation.coverage_rules import coverage_of
from kafka_migration.steps.answers.kept_migration import MigrationStore

# From worst to best. The worst standing of any topic is that of the migration.
_STANDINGS = ("FAIL", "NOT_VERIFIABLE", "nothing copied", "pending", "WARN", "PASS")
# Start and end offset, verdict, and the run that judged.
JudgedStretch = tuple[int, int, Verdict, str]


@dataclass(frozen=True, slots=True)
class UnprovedOffsets(Document):
    """Offsets `[start, end)` of a partition that are not proved; `text` says why."""

    kind: FlawKind
    side: Side
    partition: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class JudgedPartition(Document):
    """The judged stretches of a partition per side, ascending."""

    source: tuple[JudgedStretch, ...]
    target: tuple[JudgedStretch, ...]


@dataclass(frozen=True, slots=True)
class ProvedTopic(CoverageSummary):
    """What the ledger proves about a topic, with its flaws, and with its partitions by number."""

    flaws: tuple[UnprovedOffsets, ...]
    partitions: Mapping[int, JudgedPartition]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictAnswer(Document):
    """The verdict of a migration and of each topic. `as_of` is the time of the newest entry; `None`: no run yet."""

    schema: Literal[3] = 3
    migration: str
    as_of: str | None
    ledger: Confirmation
    standing: str
    contradictions: tuple[Contradiction, ...]
    topics: Mapping[str, ProvedTopic]


def verdict_answer(store: MigrationStore) -> VerdictAnswer:
    """Return the verdicts in the ledger, and the later findings that contradict them.

    Raises `Refused` (`LEDGER_BROKEN`) if the ledger cannot be trusted.
    """
    ledger, last = store.ledger.read(), store.last_run()
    covered = {**{topic: TopicCoverage(topic) for topic in ledger.topics}, **coverage_of(ledger)}
    standings = {topic.standing for topic in covered.values()} or {"nothing copied"}
    return VerdictAnswer(
        migration=store.name,
        as_of=_newest_time(ledger),
        ledger=store.confirmation(),
        standing=next(standing for standing in _STANDINGS if standing in standings),
        contradictions=() if last is None else last.contradictions,
        topics={topic: _verdict_of(covered[topic]) for topic in sorted(covered)},
    )


def _verdict_of(covered: TopicCoverage) -> ProvedTopic:
    return ProvedTopic.extended(
        covered.summary(),
        flaws=tuple(UnprovedOffsets(f.kind, f.side, f.partition, f.start, f.end, str(f)) for f in covered.flaws),
        partitions={number: _judged(each) for number, each in covered.partitions.items()},
    )


def _judged(partition: PartitionCoverage) -> JudgedPartition:
    return JudgedPartition(*(_stretches(partition, side) for side in ("source", "target")))


def _stretches(partition: PartitionCoverage, side: Side) -> tuple[JudgedStretch, ...]:
    return tuple((each.start, each.end, each.verdict, each.judgement.run) for each in partition.stretches(side))


def _newest_time(ledger: Ledger) -> str | None:
    """Return the time of the newest entry about the copy."""
    generations = [moment.at for g in ledger.generations for moment in (g.start, g.stop) if moment is not None]
    return max([*generations, *(judgement.at for judgement in ledger.judgements)], default=None)
