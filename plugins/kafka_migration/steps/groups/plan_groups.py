"""Makes the offsets plan of a cutover: reads both clusters once; the rules are in core."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from kafka_migration.core.cutover.not_moved import not_moved
from kafka_migration.core.cutover.plan_page import render_plan
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.groups.clusters_seen import RecordsSeen
from kafka_migration.core.groups.group_planning import CutoverScope, Planning
from kafka_migration.core.groups.offsets_plan import OffsetsPlan
from kafka_migration.core.groups.rules_by_topic import topics_to_translate
from kafka_migration.core.kafka.cluster import IsolationLevel, KafkaCluster
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.run.task_steps import TaskId
from kafka_migration.core.stored.stored_documents import OffsetsPlanDocument, Stored
from kafka_migration.core.translation.by_partition import (
    MAX_COMPARED,
    counts_needed,
    resent_ranges,
    source_probes,
    target_probes,
    translate,
)
from kafka_migration.core.translation.copies import FromTheRight, Resent, ResentRange
from kafka_migration.core.translation.translation_contract import TranslationRequest
from kafka_migration.steps.groups.read_groups import read_clusters, request_of, run_translation, translation_documents
from kafka_migration.steps.reading.exact_reads import record_prints, visible_counts
from kafka_migration.steps.reading.spark_documents import SparkJobs, understood
from kafka_migration.steps.run.guards import require_proved_copy
from kafka_migration.steps.run.migration_run import MigrationRun
from kafka_migration.steps.run.task_frame import Summary, log_findings, skip_unless_planning

log = logging.getLogger(__name__)


ALL_PROVED: Mapping[str, Finding] = MappingProxyType({})


def plan_offsets(run: MigrationRun) -> Summary:
    """Refuse an unproved copy, then plan, record and log."""
    skip_unless_planning(run)
    unproved = require_proved_copy(run)
    plan = make_offsets_plan(run, unproved, with_others=True)
    run.evidence.write(Stored.OFFSETS_PLAN, _document(plan, render_plan(plan, run.name)))
    _log_plan(plan)
    if plan.is_final and (findings := plan.uncopied_findings()):
        raise Refused(findings)
    return {"groups": len(plan.planned), "left_out": len(plan.left_out), "digest": plan.digest}


def _log_plan(plan: OffsetsPlan) -> None:
    log_findings(plan.unproved.values(), logging.WARNING)
    for group in plan.groups:
        log.info("%-40r %s, %d offsets", group.group, group.verdict, len(group.proposed))
        log_findings((*group.refusals, *group.warnings), logging.INFO)
    log.info("Plan %s. This task wrote nothing.", plan.digest)


def _document(plan: OffsetsPlan, markdown: str) -> OffsetsPlanDocument:
    return OffsetsPlanDocument(plan.digest, plan, markdown, not_moved=tuple(not_moved(plan)), final=plan.is_final)


def make_offsets_plan(
    run: MigrationRun, unproved: Mapping[str, Finding] = ALL_PROVED, *, with_others: bool = False
) -> OffsetsPlan:
    """Return the offsets plan for the present state of both clusters, with every planned offset proved; read-only.

    `with_others` also names the groups that the plan does not cover. `unproved` are the topics to leave out, with the
    reason. Raises `TransientError` when a value cannot be read: nothing is planned on unknown values.
    """
    return read_planning(run, unproved, with_others=with_others).plan()


def read_planning(
    run: MigrationRun, unproved: Mapping[str, Finding] = ALL_PROVED, *, with_others: bool = False
) -> Planning:
    """Return what a plan is made from: the scope of the run and one snapshot of both clusters."""
    scope = _scope_of(run, unproved, is_translated=not run.migration.keeps_offsets)
    planning = Planning(scope, read_clusters(run, scope, with_others=with_others))
    if scope.translation is not None:
        # The positions need both documents of the job.
        understood(lambda: planning.positions, TaskId.TRANSLATE_OFFSETS)
    return replace(planning, seen=replace(planning.seen, records=_read_records(run, planning)))


def _scope_of(run: MigrationRun, unproved: Mapping[str, Finding], *, is_translated: bool) -> CutoverScope:
    return CutoverScope(
        ledger=run.ledger.known(),
        identity=run.identity,
        mode=run.request.mode,
        migration=run.migration.without(unproved),
        file_topics=run.whole_migration.topics,
        moved_topics=run.moved_topics,
        chosen=tuple(run.request.groups),
        translation=translation_documents(run, TaskId.TRANSLATE_OFFSETS) if is_translated else None,
        unproved=unproved,
    )


def _read_records(run: MigrationRun, planning: Planning) -> RecordsSeen:
    """Find resent records, count, translate, and read the next record on both sides of every translated position."""
    copies, positions, isolation = planning.copies, planning.positions, run.migration.mirror.isolation_level
    seen = planning.seen
    resent = read_resent(run, resent_ranges(copies, positions), seen.target.log_start, seen.untimed)
    counts = visible_counts(run.source, counts_needed(copies, positions, resent), isolation)
    translations = translate(copies, positions, counts, resent)
    source_prints = record_prints(run.source, source_probes(copies, translations), isolation, "source")
    probes = target_probes(copies, translations, source_prints)
    target_prints = record_prints(run.target, frozenset(probes.values()), isolation, "target")
    return RecordsSeen(resent, counts, source_prints, target_prints)


def translate_offsets(run: MigrationRun, jobs: SparkJobs) -> Summary:
    """Refuse an unproved copy, then let Spark find where the groups resume."""
    skip_unless_planning(run)
    request = translation_request(run, require_proved_copy(run))
    return run_translation(run, jobs, TaskId.TRANSLATE_OFFSETS, request)


def translation_request(run: MigrationRun, unproved: Mapping[str, Finding] = ALL_PROVED) -> TranslationRequest:
    """Return the request for the Spark job, for the present commits of the groups. It may have no topics."""
    if run.migration.keeps_offsets:
        return request_of(run)
    scope = _scope_of(run, unproved, is_translated=False)
    planning = Planning(scope, read_clusters(run, scope, with_others=False))
    groups = [group for group in planning.groups if group.source_commits]
    log_start = planning.seen.source.log_start
    topics = topics_to_translate(groups, planning.untranslated(log_start))
    return request_of(run, topics, {group.group: group.source_commits for group in groups}, log_start)


# Target offsets of a partition that are read in addition to as many as the source has to compare.
BLOCK_OFFSETS = 20_000


def read_resent(
    run: MigrationRun, ranges: Iterable[ResentRange], target_log_start: Offsets, untimed: Collection[str]
) -> dict[TopicPartition, Resent]:
    """Return the places of the records of these ranges, for some partitions at a time.

    The target is read backwards, only as far as records are left. Raises `TransientError` when a range cannot be read.
    """
    isolation, found = run.migration.mirror.isolation_level, dict[TopicPartition, Resent]()
    for some in _at_once(ranges):
        searches = _searches(run.source, some, isolation, untimed)
        _search(run.target, searches, target_log_start, isolation)
        found |= {partition: search.found() for partition, search in searches.items()}
    return found


def _at_once(ranges: Iterable[ResentRange]) -> Iterator[list[ResentRange]]:
    """Yield the ranges in groups whose records fit into memory together."""
    some, offsets = list[ResentRange](), 0
    for each in ranges:
        length = each.source_end - each.source_start
        if some and offsets + length > MAX_COMPARED:
            yield some
            some, offsets = [], 0
        some.append(each)
        offsets += length
    if some:
        yield some


def _searches(
    source: KafkaCluster, ranges: Iterable[ResentRange], isolation: IsolationLevel, untimed: Collection[str]
) -> dict[TopicPartition, FromTheRight]:
    wanted = {each.partition: each for each in ranges}
    start = {partition: each.source_start for partition, each in wanted.items()}
    end = {partition: each.source_end for partition, each in wanted.items()}
    records = source.prints_between(start, end, isolation)
    return {p: FromTheRight(wanted[p], each, timestamps=p.topic not in untimed) for p, each in records.items()}


def _search(
    target: KafkaCluster,
    searches: Mapping[TopicPartition, FromTheRight],
    log_start: Offsets,
    isolation: IsolationLevel,
) -> None:
    first = {p: max(search.range.target_start, log_start.get(p, 0)) for p, search in searches.items()}
    ends = {p: search.range.target_end for p, search in searches.items()}
    while left := [p for p, search in searches.items() if not search.is_done and first[p] < ends[p]]:
        size = {p: len(searches[p].records) + BLOCK_OFFSETS for p in left}
        start = {p: max(first[p], ends[p] - size[p]) for p in left}
        blocks = target.prints_between(start, {p: ends[p] for p in left}, isolation)
        for partition in left:
            searches[partition].take(blocks.get(partition, ()))
        # What lies before a record that cannot be read is not searched.
        ends |= {p: start[p] if p in blocks else first[p] for p in left}
