"""An in-memory Kafka cluster for fast tests, held to the real one by `cluster_contract.py`.

What it does not do: replicas, and transactions but for one that is open (`open_transaction`). Offsets without a visible
record (transaction markers, aborted or compacted records) are made with `leave_holes`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused, TransientError
from kafka_migration.core.kafka.cluster import (
    THE_CLUSTER,
    Acl,
    Certificate,
    ClusterFacts,
    GroupDescription,
    GroupKind,
    GroupListing,
    GroupMember,
    GroupState,
    IsolationLevel,
    NewTopic,
    Operation,
    Probe,
    Resource,
    TopicDescription,
)
from kafka_migration.core.kafka.offsets import CommittedOffset, Offsets, TopicPartition
from kafka_migration.core.kafka.records import LogRow, RecordPrint, RecordShape, SampledRecord

Record = tuple[bytes | None, bytes | None]
_LIMITS_OF_BROKERS = {
    "message.max.bytes": "1048588",
    "log.cleanup.policy": "delete",
    "log.message.timestamp.before.max.ms": "9223372036854775807",
    "log.message.timestamp.after.max.ms": "9223372036854775807",
    "inter.broker.protocol.version": "3.9-IV0",
}


@dataclass
class FakePartition:
    """A log: `records[0]` stands at offset `log_start`; `None` is an offset without a visible record.

    `timestamps_ms` are by offset; a record without one is earlier than every moment. `stable` is the last stable offset
    while a transaction is open.
    """

    log_start: int = 0
    records: list[Record | None] = field(default_factory=list)
    timestamps_ms: dict[int, int] = field(default_factory=dict)
    stable: int | None = None

    def end_for(self, isolation: IsolationLevel) -> int:
        """Return the end that a reader of this isolation level sees."""
        return self.end if self.stable is None or isolation == "read_uncommitted" else self.stable

    @property
    def end(self) -> int:
        """The offset after the last record."""
        return self.log_start + len(self.records)

    def visible(self, start: int, end: int | None = None) -> list[tuple[int, Record]]:
        """Return (offset, record) of every visible record in [start, end)."""
        return [
            (offset, record)
            for offset, record in enumerate(self.records, self.log_start)
            if record is not None and start <= offset and (end is None or offset < end)
        ]


_OF_MIRRORMAKER = {"cleanup.policy": "compact"}


@dataclass
class FakeTopic:
    """A topic with an id that no other topic ever had."""

    topic_id: str
    configs: dict[str, str]
    partitions: list[FakePartition]
    replicas: int = 1


@dataclass
class FakeGroup:
    """A group: what it committed, who is a member of it, and what protocol it uses."""

    commits: dict[TopicPartition, CommittedOffset] = field(default_factory=dict)
    members: list[GroupMember] = field(default_factory=list)
    kind: GroupKind = "classic"

    @property
    def state(self) -> GroupState:
        """Stable with members, else empty."""
        return GroupState.STABLE if self.members else GroupState.EMPTY


class FakeCluster:
    """`core.kafka.cluster.KafkaCluster` in memory; `is_down` makes every call time out."""

    def __init__(self, cluster_id: str = "fake", brokers: int = 1) -> None:
        self.cluster_id = cluster_id
        self.brokers = brokers
        self.topics: dict[str, FakeTopic] = {}
        self.groups: dict[str, FakeGroup] = {}
        self.is_down = False
        self.settings = {"auto.create.topics.enable": "false", "min.insync.replicas": "1", **_LIMITS_OF_BROKERS}
        self.broker_certificates: dict[str, Certificate] = {}
        self.denied: set[tuple[Resource, Operation]] = set()
        # Groups that cannot be read: their coordinator fails, or the login has no right.
        self.broken_groups: dict[str, TransientError | Refused] = {}
        self.access_lists: set[Acl] = set()
        # The REST addresses of the workers of Kafka Connect, by their group.
        self.workers: dict[str, tuple[str, ...]] = {}
        self.closings = 0
        self._ids = 0

    def produce(self, topic: str, partition: int, *records: Record, timestamp_ms: int | None = None) -> None:
        """Append records to a partition, all with one timestamp or without any."""
        log = self.topics[topic].partitions[partition]
        if timestamp_ms is not None:
            log.timestamps_ms |= dict.fromkeys(range(log.end, log.end + len(records)), timestamp_ms)
        log.records += records

    def open_transaction(self, topic: str, partition: int, *records: Record, timestamp_ms: int | None = None) -> None:
        """Begin a transaction with these records: until it ends, readers of committed records end before it."""
        log = self.topics[topic].partitions[partition]
        log.stable = log.end
        self.produce(topic, partition, *records, timestamp_ms=timestamp_ms)

    def commit_transaction(self, topic: str, partition: int) -> None:
        """End the open transaction of a partition; its marker takes an offset."""
        self.topics[topic].partitions[partition].stable = None
        self.leave_holes(topic, partition, 1)

    def leave_holes(self, topic: str, partition: int, count: int) -> None:
        """Append offsets without a visible record, as the markers of transactions are."""
        self.topics[topic].partitions[partition].records += [None] * count

    def compact(self, topic: str, partition: int, *offsets: int) -> None:
        """Remove the records at some offsets, as compaction does."""
        log = self.topics[topic].partitions[partition]
        for offset in offsets:
            log.records[offset - log.log_start] = None

    def commit(self, group: str, offsets: Offsets, metadata: str = "") -> None:
        """Let a group commit; it is made if it is not there."""
        made = self.groups.setdefault(group, FakeGroup())
        made.commits |= {partition: CommittedOffset(offset, metadata) for partition, offset in offsets.items()}

    def join(self, group: str, client_id: str = "app-1", host: str = "/10.0.0.1", *assigned: TopicPartition) -> None:
        """Let a member join a group, to read some partitions; it is made if it is not there."""
        made = self.groups.setdefault(group, FakeGroup())
        made.members.append(GroupMember(f"{client_id}-member", client_id, host, frozenset(assigned)))

    def leave(self, group: str) -> None:
        """Let every member leave a group."""
        self.groups[group].members.clear()

    def purge(self, topic: str, partition: int, log_start: int) -> None:
        """Delete everything before an offset, as retention does."""
        log = self.topics[topic].partitions[partition]
        log.records = log.records[log_start - log.log_start :]
        log.log_start = log_start

    def certificates(self) -> Mapping[str, Certificate]:
        """Return what a test put there."""
        self._answer()
        return self.broker_certificates

    def broker_settings(self, *names: str) -> Mapping[int, Mapping[str, str]]:
        """Return the same settings for each broker."""
        self._answer()
        if (THE_CLUSTER, Operation.DESCRIBE_CONFIGS) in self.denied:
            finding = Finding(Code.RIGHT_MISSING, self.cluster_id, "no DescribeConfigs", "this right", "Grant it.")
            raise Refused([finding])
        found = {name: self.settings[name] for name in names if name in self.settings}
        return {broker: dict(found) for broker in range(1, self.brokers + 1)}

    def granted(self, resources: Collection[Resource]) -> Mapping[Resource, frozenset[Operation]]:
        """Return every operation but the denied ones; of a topic that does not exist, and of ids, nothing is known."""
        self._answer()
        shown = [each for each in resources if each.kind in {"group", "cluster"} or self._has(each)]
        return {each: frozenset(o for o in Operation if (each, o) not in self.denied) for each in shown}

    def acls(self) -> tuple[Acl, ...]:
        """Return what a test put there."""
        self._answer()
        return tuple(sorted(self.access_lists))

    def _has(self, topic: Resource) -> bool:
        names = (name.startswith(topic.name) if topic.is_prefix else name == topic.name for name in self.topics)
        return topic.kind == "topic" and any(names)

    def facts(self) -> ClusterFacts:
        """Return the cluster's id and broker count."""
        self._answer()
        return ClusterFacts(self.cluster_id, self.brokers)

    def topic_names(self) -> frozenset[str]:
        """Return the names of all topics."""
        self._answer()
        return frozenset(self.topics)

    def partition_counts(self) -> Mapping[str, int]:
        """Return the number of partitions of every topic."""
        self._answer()
        return {name: len(topic.partitions) for name, topic in self.topics.items()}

    def describe_topics(self, topics: Collection[str]) -> Mapping[str, TopicDescription]:
        """Return the descriptions of those of the topics that exist."""
        self._answer()
        return {
            name: TopicDescription(name, known.topic_id, len(known.partitions), dict(known.configs), known.replicas)
            for name in topics
            if (known := self.topics.get(name)) is not None
        }

    def topic_ids(self, topics: Collection[str]) -> Mapping[str, str]:
        """Return the ids of those of the topics that exist."""
        self._answer()
        return {name: self.topics[name].topic_id for name in topics if name in self.topics}

    def effective_configs(self, topics: Collection[str], *names: str) -> Mapping[str, Mapping[str, str]]:
        """Return the values of topic configurations per existing topic."""
        self._answer()
        defaults = {
            "max.message.bytes": "1048588",
            "message.timestamp.type": "CreateTime",
            "cleanup.policy": "delete",
            "retention.ms": "604800000",
            "retention.bytes": "-1",
            "message.timestamp.before.max.ms": "9223372036854775807",
            "message.timestamp.after.max.ms": "9223372036854775807",
            "message.timestamp.difference.max.ms": "9223372036854775807",
            "min.insync.replicas": "1",
        }
        own = {topic: self.topics[topic].configs for topic in topics if topic in self.topics}
        # As MirrorMaker creates them; tests write to its topics without creating them.
        own = {topic: {**_OF_MIRRORMAKER, **set_} if topic.startswith("mm2-") else set_ for topic, set_ in own.items()}
        return {topic: {name: set_.get(name, defaults[name]) for name in names} for topic, set_ in own.items()}

    def create_topics(self, topics: Collection[NewTopic]) -> None:
        """Create topics; an existing one is left as it is, and those that can be are made before a denial."""
        denied = self.refused_topics(topics)
        for topic in topics:
            if topic.topic not in self.topics and topic.topic not in denied:
                self._ids += 1
                partitions = [FakePartition() for _ in range(topic.partitions)]
                self.topics[topic.topic] = FakeTopic(
                    f"{self.cluster_id}-{self._ids}", dict(topic.configs), partitions, topic.replication_factor
                )
        if denied:
            raise Refused(
                Finding(Code.TOPIC_NOT_CREATED, f"topic {topic}", reason, "a created topic", "Set the group id.")
                for topic, reason in denied.items()
            )

    def refused_topics(self, topics: Collection[NewTopic]) -> Mapping[str, str]:
        """Name the topics that do not exist and have more replicas than there are brokers."""
        self._answer()
        denied = [t.topic for t in topics if t.replication_factor > self.brokers and t.topic not in self.topics]
        return dict.fromkeys(denied, "too many replicas")

    def create_partitions(self, partitions: Mapping[str, int]) -> None:
        """Grow topics to the given partition counts."""
        self._answer()
        for topic, count in partitions.items():
            logs = self.topics[topic].partitions
            logs += [FakePartition() for _ in range(count - len(logs))]

    def delete_topics(self, topics: Collection[str]) -> None:
        """Delete topics; one that is not there is left out silently."""
        self._answer()
        for topic in topics:
            self.topics.pop(topic, None)

    def alter_configs(self, configs: Mapping[str, Mapping[str, str | None]]) -> None:
        """Set configurations of topics; `None` takes the topic's own value away."""
        self._answer()
        unknown = sorted(set(configs) - set(self.topics))
        if unknown:
            raise Refused(
                Finding(Code.TOPIC_NOT_CONFIGURED, f"topic {topic}", "no such topic", "a topic", "Mend it.")
                for topic in unknown
            )
        for topic, values in configs.items():
            merged = {**self.topics[topic].configs, **values}
            self.topics[topic].configs = {name: value for name, value in merged.items() if value is not None}

    def log_start_offsets(self, partitions: Collection[TopicPartition]) -> Offsets:
        """Return the first offset still held, per partition."""
        return {p: log.log_start for p, log in self._logs(partitions)}

    def log_end_offsets(self, partitions: Collection[TopicPartition], isolation: IsolationLevel) -> Offsets:
        """Return the end per partition."""
        return {p: log.end_for(isolation) for p, log in self._logs(partitions)}

    def offsets_for_time(
        self, partitions: Collection[TopicPartition], at: datetime, isolation: IsolationLevel
    ) -> Offsets:
        """Return the first offset whose record has a timestamp at or after a moment; the end where none has."""
        late = {
            p: [offset for offset, _ in log.visible(0) if log.timestamps_ms.get(offset, -1) >= at.timestamp() * 1000]
            for p, log in self._logs(partitions)
        }
        return {p: late[p][0] if late[p] else log.end for p, log in self._logs(partitions)}

    def read_table(self, topic: str) -> Iterable[Record]:
        """Return the latest (key, value) of each key."""
        self._answer()
        known = self.topics.get(topic)
        logs = known.partitions if known else ()
        table = {key: value for log in logs for _, (key, value) in log.visible(log.log_start)}
        return list(table.items())

    def read_log(self, topic: str, time_limit_s: float) -> Iterator[Record]:
        """Yield each record; no time at all is too little for any."""
        self._answer()
        known = self.topics.get(topic)
        logs = known.partitions if known else ()
        for record in (record for log in logs for _, record in log.visible(log.log_start)):
            if not time_limit_s:
                raise TransientError(f"{self.cluster_id}: {topic} was not read to its end in 0 s")
            yield record

    def log_rows(self, topic: str, start: Offsets) -> Sequence[LogRow]:
        """Return each record with its offset."""
        self._answer()
        known = self.topics.get(topic)
        partitions = [TopicPartition(topic, number) for number in range(len(known.partitions) if known else 0)]
        return [
            LogRow(partition, offset, key, value)
            for partition, log in self._logs(partitions)
            for offset, (key, value) in log.visible(max(start.get(partition, 0), log.log_start), log.end)
        ]

    def sampled_records(self, start: Offsets, end: Offsets, time_limit_s: float) -> Iterator[SampledRecord]:
        """Yield the records in these ranges."""
        for partition, log in self._logs(start):
            for _, (key, value) in log.visible(start[partition], end[partition]):
                yield SampledRecord(partition, key, len(key or b"") + len(value or b""))

    def record_shapes(
        self, start: Offsets, end: Offsets, isolation: IsolationLevel, time_limit_s: float
    ) -> Iterator[RecordShape]:
        """Yield the shapes of the records in these ranges, which have no headers."""
        for partition, log in self._logs(start):
            for offset, (key, value) in log.visible(start[partition], min(end[partition], log.end_for(isolation))):
                key_size, value_size = (None if field is None else len(field) for field in (key, value))
                yield RecordShape(partition, offset, log.timestamps_ms.get(offset, -1), key_size, value_size)

    def probe(self, start: Offsets, isolation: IsolationLevel) -> Mapping[TopicPartition, Probe]:
        """Return what a reader starting at these offsets meets first."""
        met = {p: next(iter(log.visible(start[p], log.end_for(isolation))), None) for p, log in self._logs(start)}
        return {
            p: Probe(log.end_for(isolation), True) if (at := met[p]) is None else Probe(at[0], False)
            for p, log in self._logs(start)
        }

    def list_groups(self) -> tuple[GroupListing, ...]:
        """Return every group, sorted by name."""
        self._answer()
        return tuple(GroupListing(name, group.state, group.kind) for name, group in sorted(self.groups.items()))

    def describe_groups(self, groups: Collection[str]) -> Mapping[str, GroupDescription]:
        """Return state and members of every one of the groups; a broken one fails the whole call."""
        self._answer(*groups)
        return {
            name: GroupDescription(name, group.state if name else GroupState.UNKNOWN, tuple(group.members))
            if (group := self.groups.get(name))
            else GroupDescription(name, GroupState.DEAD if name else GroupState.UNKNOWN)
            for name in groups
        }

    def connect_workers(self, group: str) -> tuple[str, ...]:
        """Return the addresses that a test put there."""
        self._answer(group)
        return tuple(sorted(self.workers.get(group, ())))

    def committed_offsets(
        self, group: str, partitions: Collection[TopicPartition] | None = None
    ) -> Mapping[TopicPartition, CommittedOffset]:
        """Return what a group committed on these partitions."""
        self._answer(group)
        self._require_id(group)
        commits = self.groups[group].commits if group in self.groups else {}
        return {p: commit for p, commit in commits.items() if partitions is None or p in partitions}

    def alter_offsets(self, group: str, offsets: Mapping[TopicPartition, CommittedOffset]) -> None:
        """Set the offsets of an empty group; one that does not exist is made."""
        self._require_id(group)
        self._refuse_active(group)
        self.groups.setdefault(group, FakeGroup()).commits |= offsets

    def delete_group(self, group: str) -> None:
        """Delete an empty group with all its offsets."""
        self._refuse_active(group)
        self.groups.pop(group, None)

    @staticmethod
    def _require_id(group: str) -> None:
        if not group:
            raise Refused([Finding(Code.GROUP_UNREADABLE, "group ''", "the empty text", "an id", "Mend it.")])

    def _refuse_active(self, group: str) -> None:
        self._answer(group)
        if group in self.groups and self.groups[group].members:
            finding = Finding(Code.GROUP_ACTIVE, f"group {group}", "members", "a group without members", "Stop them.")
            raise Refused([finding])

    def records_at(self, offsets: Offsets, isolation: IsolationLevel) -> Mapping[TopicPartition, RecordPrint | None]:
        """Return the first visible record at or after each offset; no print has headers."""
        met = {
            p: (log, next(iter(log.visible(offsets[p], log.end_for(isolation))), None))
            for p, log in self._logs(offsets)
        }
        return {
            p: RecordPrint.of(m[0], *m[1], headers=(), timestamp_ms=log.timestamps_ms.get(m[0], -1)) if m else None
            for p, (log, m) in met.items()
        }

    def prints_between(
        self, start: Offsets, end: Offsets, isolation: IsolationLevel
    ) -> Mapping[TopicPartition, Sequence[RecordPrint]]:
        """Return the visible records in [start, end) per partition; no print has headers or a timestamp."""
        self.count_visible(start, end, isolation)
        return {
            p: [
                RecordPrint.of(at, *fields, headers=(), timestamp_ms=-1) for at, fields in log.visible(start[p], end[p])
            ]
            for p, log in self._logs(start)
        }

    def count_visible(self, start: Offsets, end: Offsets, isolation: IsolationLevel) -> Mapping[TopicPartition, int]:
        """Return the number of visible records in [start, end) per partition."""
        for p, log in self._logs(start):
            if start[p] < end[p] and (start[p] < log.log_start or end[p] > log.end):
                raise TransientError(f"{self.cluster_id}: {p} does not hold [{start[p]}, {end[p]})")
        return {p: len(log.visible(start[p], end[p])) for p, log in self._logs(start)}

    def close(self) -> None:
        """Count how often it was closed; nothing is open."""
        self.closings += 1

    def _logs(self, partitions: Iterable[TopicPartition]) -> list[tuple[TopicPartition, FakePartition]]:
        self._answer()
        return [
            (p, self.topics[p.topic].partitions[p.partition])
            for p in partitions
            if p.topic in self.topics and p.partition < len(self.topics[p.topic].partitions)
        ]

    def _answer(self, *groups: str) -> None:
        if self.is_down:
            raise TransientError(f"{self.cluster_id} did not answer within 20 s")
        for group in groups:
            if group in self.broken_groups:
                raise self.broken_groups[group]
