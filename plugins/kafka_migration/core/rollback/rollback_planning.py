"""The plan of a rollback from its scope and one snapshot of the clusters, what refuses it, and a file to copy back."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.clusters_seen import ClustersSeen, CommittedGroup
from kafka_migration.core.groups.offsets_plan import GroupPlan, OffsetsPlan, TargetOnly
from kafka_migration.core.kafka.cluster import TopicDescription
from kafka_migration.core.kafka.offsets import GroupsCommits, Offsets, TopicPartition, commits_on
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.engine_table import DEFAULT_ENGINE
from kafka_migration.core.migration.migration_text import Remarked, Value, cluster_section, migration_text
from kafka_migration.core.migration.settings import ConnectSettings, Migration, MirrorSettings, Mode
from kafka_migration.core.rollback.rollback_rules import (
    Move,
    MovedGroup,
    Returning,
    failed_back,
    restored,
)
from kafka_migration.core.text.shortened import some
from kafka_migration.core.translation.by_partition import Position, Prints, within
from kafka_migration.core.translation.by_topic import CopiedTopic, repartitioned_topics
from kafka_migration.core.translation.copies import PartitionCopy, copies_of
from kafka_migration.core.translation.translation_contract import TopicToTranslate, TranslatedTopic, TranslationsBack

V = TypeVar("V")

MAX_NAME = 63
SUFFIX = "-back"


@dataclass(frozen=True, slots=True)
class RollbackScope:
    """What a run takes back: by the migration file, the ledger and the evidence of the cutovers.

    :param topics: the topics that were cut over, sorted
    :param moves: for mode `restore`, what the cutovers wrote, by group
    :param saved: the source commits before this run's first write, so that a retried step makes the same plan
    :param translations: the answer of `translate_back`
    :param unreadable: the topics that `translate_back` could not read
    """

    ledger: Ledger
    mode: Mode
    migration: Migration
    topics: tuple[str, ...]
    moves: Mapping[str, Move] = field(default_factory=dict)
    saved: GroupsCommits = field(default_factory=dict)
    translations: TranslationsBack = field(default_factory=dict)
    unreadable: Mapping[str, TranslatedTopic] = field(default_factory=dict)

    @property
    def moved(self) -> frozenset[str]:
        """The groups that cutovers moved."""
        return frozenset(group for cutover in self.ledger.cutovers for group in cutover.groups)


# Without slots, for the cached properties.
@dataclass(frozen=True)
class RollbackPlanning:
    """The plan of a rollback from one snapshot, and what has to be read for it."""

    scope: RollbackScope
    seen: ClustersSeen

    @property
    def refusals(self) -> tuple[Finding, ...]:
        """Why no group can be taken back: a source topic is gone, was recreated, or lost its last records."""
        scope, source = self.scope, self.seen.source
        return changed_source_findings(scope.ledger, scope.topics, source.topics, source.log_end)

    @cached_property
    def groups(self) -> tuple[CommittedGroup, ...]:
        """The groups that cutovers moved, and those in the migration file that read these topics on the target."""
        source, target, saved, topics = self.seen.source, self.seen.target, self.scope.saved, self.scope.topics
        return tuple(
            CommittedGroup(
                source.groups[name],
                target.groups[name],
                saved[name] if name in saved else commits_on(commits, topics),
                commits_on(target.commits[name], topics),
                unreadable=self.seen.unreadable(name),
            )
            for name, commits in sorted(source.commits.items())
        )

    @cached_property
    def topics(self) -> dict[str, CopiedTopic]:
        """What is known about the copy of each topic."""
        source, target = self.seen.source, self.seen.target
        found = repartitioned_topics(self.scope.ledger, self.seen.hows, source.log_start)
        return {
            name: CopiedTopic(topic, _of_topic(target.log_start, name), _of_topic(self._copies, name))
            for name, topic in found.items()
        }

    @cached_property
    def _copies(self) -> dict[TopicPartition, PartitionCopy]:
        """How partitions were copied, if offsets can be counted."""
        if not self.scope.migration.keeps_offsets:
            return {}
        stop, start = self.scope.ledger.last_stop, self.seen.source.log_start
        ends = stop.target_end_offsets if stop else {}
        return copies_of(self.scope.ledger, start, start, ends, self.seen.target.log_start)

    @cached_property
    def positions(self) -> tuple[frozenset[Position], frozenset[Position]]:
        """The positions on source and target that must hold the same record, as far as counting determines them."""
        source: set[Position] = set()
        target: set[Position] = set()
        returning = Returning(self.topics)
        for group in self.groups:
            for topic, committed in returning.commits_of(group):
                for number, offset in (topic.counted(committed) or {}).items():
                    if offset < topic.topic.mirror_positions[number]:
                        partition = TopicPartition(topic.topic.topic, number)
                        source.add(Position(partition, offset))
                        target.add(Position(partition, committed[number]))
        return frozenset(source), frozenset(target)

    def to_translate(self) -> tuple[TopicToTranslate, ...]:
        """Return the topics that the Spark job must translate for the groups."""
        returning = Returning(self.topics)
        stands: dict[str, list[tuple[Mapping[int, int], Mapping[int, int]]]] = {}
        for group in self.groups:
            for topic, committed in returning.commits_of(group):
                stands.setdefault(topic.topic.topic, []).append((committed, returning.on_source(group, topic)))
        asked = (self.topics[name].to_translate(each) for name, each in sorted(stands.items()))
        return tuple(topic for topic in asked if topic is not None)

    def plan(self) -> OffsetsPlan:
        """Return the plan."""
        is_restore = self.scope.mode is Mode.RESTORE
        return OffsetsPlan(
            at=self.seen.at,
            mode=self.scope.mode,
            topics=self.scope.topics,
            groups=self._restored() if is_restore else failed_back(self.groups, self._returning()),
            target_end_offsets=self.seen.target.log_end,
            target_only=self.seen.target_only,
        )

    def _restored(self) -> tuple[GroupPlan, ...]:
        source, target, topics = self.seen.source, self.seen.target, self.scope.topics
        return tuple(
            restored(
                MovedGroup(
                    target.groups[group],
                    move.written,
                    commits_on(move.target_before, topics),
                    commits_on(target.commits[group], topics),
                    group in self.seen.elsewhere,
                    commits_on(move.source_before, topics),
                    commits_on(source.commits[group], topics),
                    self.seen.unreadable(group),
                ),
                source.log_start,
            )
            for group, move in sorted(self.scope.moves.items())
        )

    def _returning(self) -> Returning:
        records = self.seen.records
        return Returning(
            self.topics,
            self.scope.moved,
            self.scope.translations,
            _copied(records.source_prints, {name: each.topic.mirror_positions for name, each in self.topics.items()}),
            _copied(records.target_prints, {name: each.topic.target_ends for name, each in self.topics.items()}),
            self.scope.unreadable,
        )


def _copied(prints: Prints, ends: Mapping[str, Mapping[int, int]]) -> Prints:
    """Return the records; `None` if the copy ended before the next record."""
    return {at: within(record, ends[at.partition.topic][at.partition.partition]) for at, record in prints.items()}


def _of_topic(values: Mapping[TopicPartition, V], topic: str) -> dict[int, V]:
    return {p.partition: value for p, value in values.items() if p.topic == topic}


def target_only_findings(target_only: Iterable[TargetOnly], accepted: Collection[str]) -> tuple[Finding, ...]:
    """Refuse to leave records only on the target, except for topics that an operator named."""
    return tuple(
        Finding(
            Code.TARGET_ONLY_RECORDS,
            f"topic {each.topic}",
            f"{each.count} records on the target that the source does not have, from {_first_offsets(each)} on",
            "no records on the target after the end of the copy, or the topic named in leave_records_of",
            "If you need these records, copy them back with reverse-migration.yaml from this run's evidence. When they "
            "are copied, or if you do not need them, trigger a rollback that names the topic in leave_records_of.",
            happened=f"The target's topic {each.topic} has {each.count} records that the source does not have (first "
            f"offset per partition: {_first_offsets(each)}).",
            matters="After the rollback, consumers on the source would miss these records, so nothing was changed.",
        )
        for each in target_only
        if each.topic not in accepted
    )


def _first_offsets(each: TargetOnly) -> str:
    return some([f"{p.partition}: {at:,}" for p, at in sorted(each.first_offsets.items())])


def changed_source_findings(
    ledger: Ledger, topics: Iterable[str], source: Mapping[str, TopicDescription], source_ends: Offsets
) -> tuple[Finding, ...]:
    """Name every topic whose source is no longer the one that was copied: no rollback to it is possible."""
    found = ((topic, next(_source_changes(ledger, topic, source, source_ends), None)) for topic in topics)
    return tuple(
        Finding(
            Code.SOURCE_TOPIC_RECREATED if topic in source else Code.SOURCE_TOPIC_MISSING,
            f"topic {topic}",
            change,
            "the topic on the source that was copied",
            "Let the groups stay on the target, or set their offsets on the source by hand.",
            happened=f"The source's topic {topic} is not the one that was copied: {change}."
            if topic in source
            else f"Topic {topic} no longer exists on the source.",
            matters="The offsets of the groups on the source belong to the topic that was copied, so this run cannot "
            "move the groups back.",
        )
        for topic, change in found
        if change
    )


def _source_changes(
    ledger: Ledger, topic: str, source: Mapping[str, TopicDescription], source_ends: Offsets
) -> Iterator[str]:
    stop = ledger.last_stop
    if topic not in source:
        yield "no such topic on the source"
    elif stop is not None:
        known = stop.remembered.source_topic_ids.get(topic)
        if source[topic].is_another_than(known):
            yield f"topic id {source[topic].topic_id}, but {known} when it was copied"
        for partition, position in sorted(stop.mirror_positions.items()):
            if partition.topic == topic and source_ends.get(partition, 0) < position:
                yield f"{partition} ends at {source_ends.get(partition, 0):,}, but was copied up to {position:,}"


def reverse_migration(migration: Migration, target_only: Iterable[TargetOnly]) -> tuple[str, str]:
    """Return name and text of a migration file from the target to the source, for topics with records to copy back.

    It uses other topic names, because the topics on the source have their own records and maybe producers.
    """
    name = f"{migration.name[: MAX_NAME - len(SUFFIX)]}{SUFFIX}"
    left = tuple(target_only)
    return name, migration_text(_fields(migration, name, left), _comment(migration, name, left))


def _comment(migration: Migration, name: str, left: Iterable[TargetOnly]) -> Iterable[str]:
    yield f"Copies records back that only `{migration.target.connection}` has, into separate topics on"
    yield f"`{migration.source.connection}`: a topic t becomes {name}.t there. The whole topic is copied; the new"
    yield "records start at these offsets of the target:"
    for each in left:
        first = some([f"partition {p.partition}: {at}" for p, at in sorted(each.first_offsets.items())])
        yield f"  {migration.target_topic(each.topic)}: {each.count} records, {first}"
    if migration.mirror.connect is not None:
        yield "Kafka Connect writes to the Kafka of its workers. In mirror.connection and mirror.connect, name"
        yield f"workers of `{migration.source.connection}`; or, without mirror.connect, a host with {DEFAULT_ENGINE}."
    yield f"Before you use it, remove these topics from {migration.name}.yaml (REPLICATION_LOOP), or that file if it"
    yield "has no other topic."


def _fields(migration: Migration, name: str, left: Collection[TargetOnly]) -> dict[str, Value]:
    source, target = migration.source, migration.target
    return {
        "name": name,
        "source": cluster_section(target.connection, target.insecure, alias=name),
        "target": cluster_section(
            source.connection, source.insecure, replication_factor=migration.target_replication_factor
        ),
        "topics": [migration.target_topic(each.topic) for each in left],
        "mirror": {**_place_of(migration.mirror), "topic_names": {"naming": "prefixed"}},
        "validation": {"spark_connection": migration.validation.spark_connection},
        "schema_registry": _registries(migration, {each.topic for each in left}),
    }


def _place_of(mirror: MirrorSettings) -> dict[str, Value]:
    """Return the fields on where the new MirrorMaker runs: on the same host, or on other Kafka Connect workers."""
    if mirror.connect is None:
        own = {"kafka_home": mirror.kafka_home, "java_home": mirror.java_home, "heap_mb": mirror.heap_mb}
        return {"engine": DEFAULT_ENGINE, "connection": mirror.connection, **own}
    known = Remarked(_connect(mirror.connect), "of the workers that copied there; name those of the others")
    return {"engine": mirror.engine, "connection": mirror.connection, "connect": known}


def _connect(known: ConnectSettings) -> dict[str, Value]:
    """Return the fields of `mirror.connect`; the secrets of the two clusters change sides."""
    secrets = {"source": known.secrets.get("target"), "target": known.secrets.get("source")}
    return {
        "status_topic": known.status_topic,
        "config_topic": known.config_topic,
        "offset_topic": known.offset_topic,
        "group": known.group,
        "secrets": secrets if known.secrets else None,
    }


def _registries(migration: Migration, topics: Collection[str]) -> dict[str, Value] | None:
    named = migration.schema_registry
    if named is None:
        return None
    parts = {migration.target_topic(topic): parts for topic, parts in named.parts.items() if topic in topics}
    return {"source": named.target, "target": named.source, "parts": parts or None}
