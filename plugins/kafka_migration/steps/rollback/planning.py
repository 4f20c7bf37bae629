"""Reads both clusters for a rollback; the rules are in core."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Mapping
from typing import TypeVar

from kafka_migration.adapters.many import of_each
from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.findings.errors import Refused, TransientError
from kafka_migration.core.groups.plan import CommittedGroup
from kafka_migration.core.groups.selection import which_groups
from kafka_migration.core.kafka.cluster import KafkaCluster, TopicDescription
from kafka_migration.core.kafka.commits import commits_from_document, commits_on
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.mirror.target_topics import missing_target_findings
from kafka_migration.core.rollback.plan import GroupReturn, RollbackPlan, TargetOnly
from kafka_migration.core.rollback.rules import MovedGroup, Returning, changed_source_findings, failed_back, restored
from kafka_migration.core.translation.by_partition import (
    PartitionCopy,
    Position,
    Prints,
    copies_of,
    within,
)
from kafka_migration.core.translation.by_topic import repartitioned_topics
from kafka_migration.core.translation.contract import TranslationRequest, translations_back_from_document
from kafka_migration.core.translation.copied_topic import CopiedTopic
from kafka_migration.steps.groups.planning import record_prints
from kafka_migration.steps.groups.reading import how_copied, log_starts
from kafka_migration.steps.mirror.state import every_value
from kafka_migration.steps.rollback.decommission import moves_of
from kafka_migration.steps.run import MigrationRun, partitions_of
from kafka_migration.steps.validation.spark_documents import understood

V = TypeVar("V")
# Larger ranges are not counted record by record, because that takes too long.
MAX_COUNTED = 1_000_000


def make_rollback_plan(run: MigrationRun) -> RollbackPlan:
    """Return the rollback plan for the present state of both clusters; read-only.

    Raises `TransientError` when a value cannot be read: nothing is planned on unknown values. Raises `Refused` if the
    source no longer matches what was copied.
    """
    at, ledger, topics = run.now(), run.ledger.known(), tuple(sorted(run.moved_topics))
    source = _unchanged_source(run, ledger, topics)
    # Read commits before ends, so that a group that keeps reading does not appear to be beyond the end.
    if run.request.mode is Mode.RESTORE:
        groups = _restored(run, ledger, topics, source)
    else:
        groups = _failed_back(run, ledger, topics)
    target = run.describe("target", topics)
    ends = _ends(run.target, target, "target")
    return RollbackPlan(at, run.request.mode, topics, groups, _target_only(run, ledger, ends), ends)


def _unchanged_source(run: MigrationRun, ledger: Ledger, topics: Collection[str]) -> tuple[TopicPartition, ...]:
    """Return the source's partitions. Raises `Refused` if a topic is gone, was recreated, or lost its last records."""
    source = run.describe("source", topics)
    findings = changed_source_findings(ledger, topics, source, _ends(run.source, source, "source"))
    if findings:
        raise Refused(findings)
    return partitions_of(source)


def _ends(cluster: KafkaCluster, described: Mapping[str, TopicDescription], side: str) -> Offsets:
    partitions = partitions_of(described)
    return every_value(cluster.log_end_offsets(partitions, "read_uncommitted"), partitions, f"{side} end")


def _target_only(run: MigrationRun, ledger: Ledger, ends: Offsets) -> tuple[TargetOnly, ...]:
    """Return what was written to the target after the copy, by topic. An open transaction may still add records."""
    copied = ledger.last_stop.target_end_offsets if ledger.last_stop else {}
    behind = {p: copied.get(p, 0) for p, end in ends.items() if end > copied.get(p, 0)}
    met = every_value(run.target.records_at(behind, "read_committed"), behind, "first record after the copy")
    stable = every_value(run.target.log_end_offsets(tuple(behind), "read_committed"), behind, "target's stable end")
    is_open = {p for p in behind if stable[p] < ends[p]}
    first = {p: found.offset if found else stable[p] for p, found in met.items() if found or p in is_open}
    return tuple(
        _counted(run, topic, {p: at for p, at in first.items() if p.topic == topic}, ends, is_open)
        for topic in sorted({partition.topic for partition in first})
    )


def _counted(
    run: MigrationRun, topic: str, first: Offsets, ends: Offsets, is_open: Collection[TopicPartition]
) -> TargetOnly:
    at_most = TargetOnly(topic, first, sum(ends[p] - at for p, at in first.items()), is_exact=False)
    if at_most.records > MAX_COUNTED or any(p in is_open for p in first):
        return at_most
    try:
        counts = run.target.count_visible(first, {p: ends[p] for p in first}, "read_committed")
    except TransientError:
        return at_most
    return TargetOnly(topic, first, sum(counts.values()), is_exact=True) if set(counts) == set(first) else at_most


def _restored(
    run: MigrationRun, ledger: Ledger, topics: Collection[str], source: Collection[TopicPartition]
) -> tuple[GroupReturn, ...]:
    moves = moves_of(ledger, run.evidence_of)
    described = run.target.describe_groups(sorted(moves))
    here, there = (of_each(sorted(moves), cluster.committed_offsets) for cluster in (run.source, run.target))
    # By real names, to include a target topic that has the name of a source topic.
    all_there = of_each(sorted(moves), run.bare_target.committed_offsets)
    starts = log_starts(run.source, source, "source")
    return tuple(
        restored(
            MovedGroup(
                described[group],
                move.written,
                commits_on(move.target_before, topics),
                commits_on(there[group], topics),
                len(all_there[group]) > len(commits_on(there[group], topics)),
                commits_on(move.source_before, topics),
                commits_on(here[group], topics),
            ),
            starts,
        )
        for group, move in sorted(moves.items())
    )


def _failed_back(run: MigrationRun, ledger: Ledger, topics: Collection[str]) -> tuple[GroupReturn, ...]:
    groups, reading = read_returning_groups(run, ledger, topics), read_copied_topics(run, ledger, topics)
    request, result = run.evidence.require(Kind.TRANSLATION_REQUEST), run.evidence.require(Kind.TRANSLATION_RESULT)
    is_asked = result["id"] == request["id"]
    found = understood(translations_back_from_document, result, "translate_back") if is_asked else {}
    here, there = _counted_positions(groups, Returning(reading))
    isolation = run.migration.mirror.isolation_level
    source = record_prints(run.source, here, isolation, "source")
    target = record_prints(run.target, there, isolation, "target")
    ends = {name: (each.topic.mirror_positions, each.topic.target_ends) for name, each in reading.items()}
    returning = Returning(
        reading,
        frozenset(group for cutover in ledger.cutovers for group in cutover.groups),
        found,
        _digests(source, {name: positions for name, (positions, _) in ends.items()}),
        _digests(target, {name: positions for name, (_, positions) in ends.items()}),
    )
    return failed_back(groups, returning)


def _digests(prints: Prints, ends: Mapping[str, Mapping[int, int]]) -> dict[Position, str | None]:
    """Return the records' digests; `None` if the copy ended before the next record."""
    found = {at: within(met, ends[at.partition.topic][at.partition.partition]) for at, met in prints.items()}
    return {at: None if met is None else met.digest for at, met in found.items()}


def _counted_positions(
    groups: Iterable[CommittedGroup], returning: Returning
) -> tuple[frozenset[Position], frozenset[Position]]:
    """Return the positions on both sides that must hold the same record, as far as counting determines them."""
    here: set[Position] = set()
    there: set[Position] = set()
    for group in groups:
        for topic, committed in returning.commits_of(group):
            for number, offset in (topic.counted(committed) or {}).items():
                if offset < topic.topic.mirror_positions[number]:
                    partition = TopicPartition(topic.topic.topic, number)
                    here.add(Position(partition, offset))
                    there.add(Position(partition, committed[number]))
    return frozenset(here), frozenset(there)


def read_returning_groups(run: MigrationRun, ledger: Ledger, topics: Collection[str]) -> tuple[CommittedGroup, ...]:
    """Return the groups that cutovers moved, and those in the migration file that read these topics on the target.

    Each has its commits on these topics on both sides. For the source, the commits before this run's first write count,
    so that a retried step makes the same plan.
    """
    moved = {group for cutover in ledger.cutovers for group in cutover.groups}
    named = which_groups(run.target.list_groups(), run.migration.cutover.groups)
    commits = of_each(sorted({*moved, *named}), lambda group: commits_on(run.target.committed_offsets(group), topics))
    names = [group for group, found in commits.items() if found or group in moved]
    source, target = run.source.describe_groups(names), run.target.describe_groups(names)
    here = of_each(names, lambda group: commits_on(run.source.committed_offsets(group), topics))
    before = run.evidence.newest(Kind.OFFSETS_BEFORE)
    saved = commits_from_document(before["source"]) if before else {}
    return tuple(
        CommittedGroup(source[name], target[name], saved.get(name, here[name]), commits[name]) for name in names
    )


def read_copied_topics(run: MigrationRun, ledger: Ledger, topics: Collection[str]) -> dict[str, CopiedTopic]:
    """Return the topics with what is known about their copies. Raises `Refused` if one is gone from the target."""
    source, target = partitions_of(run.describe("source", topics)), run.describe("target", topics)
    missing = missing_target_findings(run.whole_migration, target, topics)
    if missing:
        raise Refused(missing)
    starts = log_starts(run.source, source, "source")
    target_starts = log_starts(run.target, partitions_of(target), "target")
    copies = _copies(run, ledger, starts, target_starts)
    repartitioned = repartitioned_topics(ledger, how_copied(run, topics), starts, "refuse")
    return {
        name: CopiedTopic(topic, _of_topic(target_starts, name), _of_topic(copies, name))
        for name, topic in repartitioned.items()
    }


def _copies(
    run: MigrationRun, ledger: Ledger, source_log_start: Offsets, target_log_start: Offsets
) -> dict[TopicPartition, PartitionCopy]:
    """Return how partitions were copied, if offsets can be counted."""
    if not run.migration.keeps_offsets:
        return {}
    stop = ledger.last_stop
    ends = stop.target_end_offsets if stop else {}
    return copies_of(ledger, source_log_start, source_log_start, ends, target_log_start)


def _of_topic(values: Mapping[TopicPartition, V], topic: str) -> dict[int, V]:
    return {p.partition: value for p, value in values.items() if p.topic == topic}


def translation_back_request(run: MigrationRun) -> TranslationRequest:
    """Return the request for the Spark job, for the groups' present commits on the target."""
    ledger, topics = run.ledger.known(), sorted(run.moved_topics)
    _unchanged_source(run, ledger, topics)
    groups, reading = read_returning_groups(run, ledger, topics), read_copied_topics(run, ledger, topics)
    returning = Returning(reading)
    stands: dict[str, list[tuple[Mapping[int, int], Mapping[int, int]]]] = {}
    for group in groups:
        for topic, committed in returning.commits_of(group):
            stands.setdefault(topic.topic.topic, []).append((committed, returning.on_source(group, topic)))
    asked = (reading[name].to_translate(each) for name, each in sorted(stands.items()))
    return TranslationRequest(
        id=secrets.token_hex(8),
        migration=run.name,
        run=run.identity.holder,
        isolation_level=run.migration.mirror.isolation_level,
        topics=tuple(topic for topic in asked if topic is not None),
        commits={group.group: group.target_commits for group in groups},
        source_log_start={},
        max_bytes_per_s=run.migration.validation.max_bytes_per_s,
        is_back=True,
    )
