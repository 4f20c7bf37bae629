"""Makes the offsets plan of a cutover: reads both clusters once, also for a rollback; the rules are in core."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from kafka_migration.core.cutover.not_moved import not_moved
from kafka_migration.core.cutover.plan_page import render_plan
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.groups.clusters_seen import ClustersSeen, RecordsSeen, SideSeen
from kafka_migration.core.groups.group_planning import CutoverScope, Planning
from kafka_migration.core.groups.offsets_plan import OffsetsPlan
from kafka_migration.core.groups.rules_by_topic import topics_to_translate
from kafka_migration.core.groups.uncommitted import never_committed
from kafka_migration.core.kafka.cluster import GroupDescription, GroupState, IsolationLevel, KafkaCluster, Side
from kafka_migration.core.kafka.offsets import GroupsCommits, Offsets, TopicPartition, topics_of
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
from kafka_migration.core.translation.by_topic import HowCopied
from kafka_migration.core.translation.copies import FromTheRight, Resent, ResentRange
from kafka_migration.core.translation.translation_contract import (
    TopicToTranslate,
    TranslationRequest,
    TranslationResult,
    nothing_to_translate,
)
from kafka_migration.steps.reading.exact_reads import compared_topics, every_value, record_prints, visible_counts
from kafka_migration.steps.reading.one_by_one import commits_of, described, unreadable_of
from kafka_migration.steps.reading.spark_documents import SparkJobs, result_of, understood
from kafka_migration.steps.run.guards import require_proved_copy
from kafka_migration.steps.run.migration_run import MigrationRun, partitions_of
from kafka_migration.steps.run.task_frame import Summary, log_findings, skip_unless_planning

log = logging.getLogger(__name__)


ALL_PROVED: Mapping[str, Finding] = MappingProxyType({})


def plan_offsets(run: MigrationRun) -> Summary:
    """Refuse an unproved copy, then plan, record and log."""
    skip_unless_planning(run)
    unproved = require_proved_copy(run)
    plan = make_offsets_plan(run, unproved, with_others=True)
    run.evidence.write(Stored.OFFSETS_PLAN, _document(plan, render_plan(plan, run.name, run.local), run.now()))
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


def _document(plan: OffsetsPlan, markdown: str, at: str) -> OffsetsPlanDocument:
    rows = tuple(not_moved(plan))
    return OffsetsPlanDocument(plan.digest, plan, markdown, not_moved=rows, final=plan.is_final, planned_at=at)


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


def read_clusters(run: MigrationRun, scope: CutoverScope, *, with_others: bool) -> ClustersSeen:
    """Read both clusters for the groups that a run moves, without their records.

    `with_others` also reads the commits of the groups that are not selected. Raises `TransientError` when a value
    cannot be read: nothing is planned on unknown values.
    """
    at, listings = run.now(), run.source.list_groups()
    names = scope.groups(listings)
    source = read_side(run.source, "source", scope.topics, names)
    partitions = source.of_topics(scope.migration.topics)
    others = commits_of(run.source, scope.other_groups(listings) if with_others else (), partitions)
    sides = (run.source, run.target) if run.migration.keeps_offsets else ()
    compared = [compared_topics(cluster, run.migration, scope.topics) for cluster in sides]
    return ClustersSeen(
        at=at,
        source=source,
        target=read_side(run.target, "target", scope.topics, names),
        listings=listings,
        hows={} if sides else how_copied(run, scope.topics),
        compacted=frozenset(topic for each in compared for topic in each.compacted),
        untimed=frozenset(compared[-1].untimed) if compared else frozenset(),
        readable=_readable(run, source),
        topic_names=run.source.topic_names() if with_others else frozenset(),
        others=others,
    )


def _readable(run: MigrationRun, source: SideSeen) -> frozenset[TopicPartition]:
    """Return the partitions with a record, of those on which a group has no commit although it committed on the topic.

    Offsets are not enough: they may all be markers, or aborted or compacted records.
    """
    missing = {p for each in source.commits.values() for p in never_committed(each, source.of_topics(topics_of(each)))}
    starts = {p: source.log_start[p] for p in missing if source.log_start[p] < source.log_end[p]}
    found = run.source.probe(starts, run.migration.mirror.isolation_level) if starts else {}
    return frozenset(p for p, first in every_value(found, starts, "first record").items() if not first.is_end)


def read_side(cluster: KafkaCluster, side: Side, topics: Collection[str], groups: Collection[str]) -> SideSeen:
    """Read topics, groups and offsets of one side.

    Commits are read before ends, so that a group that keeps reading does not appear to be beyond the end.
    """
    descriptions = cluster.describe_topics(tuple(sorted(topics)))
    partitions = partitions_of(descriptions)
    members = described(cluster, groups)
    commits = commits_of(cluster, groups)
    ends = cluster.log_end_offsets(partitions, "read_uncommitted")
    starts = cluster.log_start_offsets(partitions)
    return SideSeen(
        topics=descriptions,
        groups={g: GroupDescription(g, GroupState.UNKNOWN) if isinstance(m, str) else m for g, m in members.items()},
        commits={group: {} if isinstance(found, str) else found for group, found in commits.items()},
        log_start=every_value(starts, partitions, f"{side} log start"),
        log_end=every_value(ends, partitions, f"{side} end"),
        unreadable=unreadable_of(members, commits),
    )


def how_copied(run: MigrationRun, topics: Collection[str]) -> dict[str, HowCopied]:
    """Return how each topic was copied and is compared."""
    compared = compared_topics(run.target, run.migration, topics)
    return {
        topic: HowCopied(
            run.migration.target_topic(topic),
            keeps_partitions=run.migration.keeps_partitions,
            is_compacted=topic in compared.compacted,
            has_timestamps=topic not in compared.untimed,
        )
        for topic in topics
    }


def request_of(
    run: MigrationRun,
    topics: Iterable[TopicToTranslate] = (),
    commits: GroupsCommits | None = None,
    source_log_start: Offsets | None = None,
    *,
    is_back: bool = False,
) -> TranslationRequest:
    """Return a request for the Spark job. It may have no topics."""
    return TranslationRequest(
        id=secrets.token_hex(8),
        migration=run.name,
        run=run.identity.holder,
        # With MirrorMaker's isolation level, because only records that it copies count as unread.
        isolation_level=run.migration.mirror.isolation_level,
        topics=tuple(topics),
        commits=commits or {},
        source_log_start=source_log_start or {},
        max_bytes_per_s=run.migration.validation.max_bytes_per_s,
        is_back=is_back,
    )


def run_translation(run: MigrationRun, jobs: SparkJobs, task_id: TaskId, request: TranslationRequest) -> Summary:
    """Write the request, run Spark unless the request has no topics, and record the result."""
    request_path = run.evidence.write(Stored.TRANSLATION_REQUEST, request)
    if request.topics:
        asked = (request.client_id, request_path, request.most_records)
        result = result_of(run, jobs, task_id, Stored.TRANSLATION_RESULT, asked)
        assert result is not None, "a job without a time limit is always in time"
    else:
        log.info("No topic needs translation by its records.")
        result = nothing_to_translate(request)
        run.evidence.write(Stored.TRANSLATION_RESULT, result)
    return {"topics": len(result.topics), "vectors": sum(len(each.translations) for each in result.topics)}


def translation_documents(run: MigrationRun, task_id: str) -> tuple[TranslationRequest, TranslationResult]:
    """Return the newest request and result of a task that translates; they may be of different tries."""
    return (
        understood(lambda: run.evidence.require(Stored.TRANSLATION_REQUEST), task_id),
        understood(lambda: run.evidence.require(Stored.TRANSLATION_RESULT), task_id),
    )
