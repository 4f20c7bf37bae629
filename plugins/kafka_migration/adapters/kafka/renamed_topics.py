"""A cluster whose topics are addressed by their names on the source cluster."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from kafka_migration.core.kafka.cluster import (
    Acl,
    Certificate,
    ClusterFacts,
    CommittedOffset,
    GroupDescription,
    GroupListing,
    GroupMember,
    IsolationLevel,
    KafkaCluster,
    NewTopic,
    Operation,
    Probe,
    Resource,
    TopicDescription,
)
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.kafka.records import RecordPrint, RecordShape, SampledRecord

V = TypeVar("V")


class RenamedTopics:
    """A `KafkaCluster` that shows a migration's topics under their source names.

    Code that compares both clusters uses `orders`, although the target's topic is `east.orders`. A topic of this
    cluster that happens to have a source name is hidden. Internal topics keep their names.
    """

    def __init__(self, cluster: KafkaCluster, target_names: Mapping[str, str]) -> None:
        """`target_names`: the real name of each topic of the migration, by its name on the source."""
        self._cluster = cluster
        self._real = dict(target_names)
        self._shown = {real: shown for shown, real in self._real.items()}

    def facts(self) -> ClusterFacts:
        """See `KafkaCluster.facts`."""
        return self._cluster.facts()

    def certificates(self) -> Mapping[str, Certificate]:
        """See `KafkaCluster.certificates`."""
        return self._cluster.certificates()

    def broker_settings(self, *names: str) -> Mapping[int, Mapping[str, str]]:
        """See `KafkaCluster.broker_settings`."""
        return self._cluster.broker_settings(*names)

    def granted(self, resources: Collection[Resource]) -> Mapping[Resource, frozenset[Operation]]:
        """See `KafkaCluster.granted`; a topic may also be named as on the cluster."""
        real = {each: self._real_resource(each) for each in resources}
        granted = self._cluster.granted(list(real.values()))
        return {each: granted[real[each]] for each in resources if real[each] in granted}

    def acls(self) -> tuple[Acl, ...]:
        """See `KafkaCluster.acls`; resources have their real names."""
        return self._cluster.acls()

    def _real_resource(self, resource: Resource) -> Resource:
        return replace(resource, name=self._to_real(resource.name)) if resource.kind == "topic" else resource

    def topic_names(self) -> frozenset[str]:
        """See `KafkaCluster.topic_names`."""
        names = self._cluster.topic_names()
        return frozenset(self._to_shown(name) for name in names if self._is_seen(name))

    def partition_counts(self) -> Mapping[str, int]:
        """See `KafkaCluster.partition_counts`."""
        counts = self._cluster.partition_counts()
        return {self._to_shown(name): count for name, count in counts.items() if self._is_seen(name)}

    def describe_topics(self, topics: Collection[str]) -> Mapping[str, TopicDescription]:
        """See `KafkaCluster.describe_topics`."""
        found = self._cluster.describe_topics([self._to_real(topic) for topic in topics])
        shown = (replace(description, topic=self._to_shown(name)) for name, description in found.items())
        return {description.topic: description for description in shown}

    def topic_ids(self, topics: Collection[str]) -> Mapping[str, str]:
        """See `KafkaCluster.topic_ids`."""
        found = self._cluster.topic_ids([self._to_real(topic) for topic in topics])
        return {self._to_shown(topic): topic_id for topic, topic_id in found.items()}

    def effective_configs(self, topics: Collection[str], *names: str) -> Mapping[str, Mapping[str, str]]:
        """See `KafkaCluster.effective_configs`."""
        found = self._cluster.effective_configs([self._to_real(topic) for topic in topics], *names)
        return {self._to_shown(topic): values for topic, values in found.items()}

    def create_topics(self, topics: Collection[NewTopic]) -> None:
        """See `KafkaCluster.create_topics`."""
        self._cluster.create_topics([replace(topic, topic=self._to_real(topic.topic)) for topic in topics])

    def refused_topics(self, topics: Collection[NewTopic]) -> Mapping[str, str]:
        """See `KafkaCluster.refused_topics`."""
        found = self._cluster.refused_topics([replace(topic, topic=self._to_real(topic.topic)) for topic in topics])
        return {self._to_shown(topic): reason for topic, reason in found.items()}

    def create_partitions(self, partitions: Mapping[str, int]) -> None:
        """See `KafkaCluster.create_partitions`."""
        self._cluster.create_partitions({self._to_real(topic): count for topic, count in partitions.items()})

    def delete_topics(self, topics: Collection[str]) -> None:
        """See `KafkaCluster.delete_topics`."""
        self._cluster.delete_topics([self._to_real(topic) for topic in topics])

    def alter_configs(self, configs: Mapping[str, Mapping[str, str | None]]) -> None:
        """See `KafkaCluster.alter_configs`."""
        self._cluster.alter_configs({self._to_real(topic): values for topic, values in configs.items()})

    def log_start_offsets(self, partitions: Collection[TopicPartition]) -> Offsets:
        """See `KafkaCluster.log_start_offsets`."""
        return self._shown_by_partition(self._cluster.log_start_offsets(self._all_real(partitions)))

    def log_end_offsets(self, partitions: Collection[TopicPartition], isolation: IsolationLevel) -> Offsets:
        """See `KafkaCluster.log_end_offsets`."""
        return self._shown_by_partition(self._cluster.log_end_offsets(self._all_real(partitions), isolation))

    def offsets_for_time(
        self, partitions: Collection[TopicPartition], at: datetime, isolation: IsolationLevel
    ) -> Offsets:
        """See `KafkaCluster.offsets_for_time`."""
        return self._shown_by_partition(self._cluster.offsets_for_time(self._all_real(partitions), at, isolation))

    def read_table(self, topic: str) -> Iterable[tuple[bytes | None, bytes | None]]:
        """See `KafkaCluster.read_table`."""
        return self._cluster.read_table(self._to_real(topic))

    def read_log(self, topic: str, time_limit_s: float) -> Iterator[tuple[bytes | None, bytes | None]]:
        """See `KafkaCluster.read_log`."""
        return self._cluster.read_log(self._to_real(topic), time_limit_s)

    def sampled_records(self, start: Offsets, end: Offsets, time_limit_s: float) -> Iterator[SampledRecord]:
        """See `KafkaCluster.sampled_records`."""
        sampled = self._cluster.sampled_records(
            self._real_by_partition(start), self._real_by_partition(end), time_limit_s
        )
        for record in sampled:
            yield record._replace(partition=next(iter(self._shown_by_partition({record.partition: None}))))

    def record_shapes(
        self, start: Offsets, end: Offsets, isolation: IsolationLevel, time_limit_s: float
    ) -> Iterator[RecordShape]:
        """See `KafkaCluster.record_shapes`."""
        ranges = (self._real_by_partition(start), self._real_by_partition(end))
        for shape in self._cluster.record_shapes(*ranges, isolation, time_limit_s):
            yield shape._replace(partition=shape.partition._replace(topic=self._to_shown(shape.partition.topic)))

    def probe(self, start: Offsets, isolation: IsolationLevel) -> Mapping[TopicPartition, Probe]:
        """See `KafkaCluster.probe`."""
        return self._shown_by_partition(self._cluster.probe(self._real_by_partition(start), isolation))

    def list_groups(self) -> tuple[GroupListing, ...]:
        """See `KafkaCluster.list_groups`."""
        return self._cluster.list_groups()

    def describe_groups(self, groups: Collection[str]) -> Mapping[str, GroupDescription]:
        """See `KafkaCluster.describe_groups`."""
        found = self._cluster.describe_groups(groups)
        return {group: replace(d, members=tuple(map(self._member, d.members))) for group, d in found.items()}

    def committed_offsets(
        self, group: str, partitions: Collection[TopicPartition] | None = None
    ) -> Mapping[TopicPartition, CommittedOffset]:
        """See `KafkaCluster.committed_offsets`."""
        wanted = None if partitions is None else self._all_real(partitions)
        return self._shown_by_partition(self._cluster.committed_offsets(group, wanted))

    def alter_offsets(self, group: str, offsets: Mapping[TopicPartition, CommittedOffset]) -> None:
        """See `KafkaCluster.alter_offsets`."""
        self._cluster.alter_offsets(group, self._real_by_partition(offsets))

    def delete_group(self, group: str) -> None:
        """See `KafkaCluster.delete_group`."""
        self._cluster.delete_group(group)

    def records_at(self, offsets: Offsets, isolation: IsolationLevel) -> Mapping[TopicPartition, RecordPrint | None]:
        """See `KafkaCluster.records_at`."""
        return self._shown_by_partition(self._cluster.records_at(self._real_by_partition(offsets), isolation))

    def prints_between(
        self, start: Offsets, end: Offsets, isolation: IsolationLevel
    ) -> Mapping[TopicPartition, Sequence[RecordPrint]]:
        """See `KafkaCluster.prints_between`."""
        ranges = (self._real_by_partition(start), self._real_by_partition(end))
        return self._shown_by_partition(self._cluster.prints_between(*ranges, isolation))

    def count_visible(self, start: Offsets, end: Offsets, isolation: IsolationLevel) -> Mapping[TopicPartition, int]:
        """See `KafkaCluster.count_visible`."""
        ranges = (self._real_by_partition(start), self._real_by_partition(end))
        return self._shown_by_partition(self._cluster.count_visible(*ranges, isolation))

    def close(self) -> None:
        """See `KafkaCluster.close`."""
        self._cluster.close()

    def _is_seen(self, name: str) -> bool:
        """Return whether a topic of this cluster is visible; false if its name is used for another topic."""
        return name in self._shown or name not in self._real

    def _to_real(self, topic: str) -> str:
        return self._real.get(topic, topic)

    def _to_shown(self, topic: str) -> str:
        return self._shown.get(topic, topic)

    def _all_real(self, partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
        return [p._replace(topic=self._to_real(p.topic)) for p in partitions]

    def _real_by_partition(self, values: Mapping[TopicPartition, V]) -> dict[TopicPartition, V]:
        return {p._replace(topic=self._to_real(p.topic)): value for p, value in values.items()}

    def _shown_by_partition(self, values: Mapping[TopicPartition, V]) -> dict[TopicPartition, V]:
        seen = ((p, value) for p, value in values.items() if self._is_seen(p.topic))
        return {p._replace(topic=self._to_shown(p.topic)): value for p, value in seen}

    def _member(self, member: GroupMember) -> GroupMember:
        return replace(member, assigned=frozenset(self._shown_by_partition(dict.fromkeys(member.assigned))))
