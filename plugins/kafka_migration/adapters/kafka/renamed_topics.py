"""A cluster whose topics are addressed by their names on the source cluster."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from functools import cache
from inspect import Signature, signature
from typing import Any, cast

from kafka_migration.core.kafka.cluster import (
    GroupDescription,
    GroupMember,
    KafkaCluster,
    NewTopic,
    Operation,
    Resource,
    TopicDescription,
)
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.kafka.records import LogRow, RecordShape, SampledRecord

# The parameters of `KafkaCluster` that name topics, and the methods whose answers name none, or their real names.
OF_TOPICS = frozenset({"topic", "topics", "partitions", "start", "end", "offsets", "configs"})
AS_THEY_ARE = frozenset(
    {
        *("facts", "certificates", "broker_settings", "acls"),
        *("list_groups", "connect_workers", "read_table", "read_log"),
    }
)


def renamed_topics(cluster: KafkaCluster, target_names: Mapping[str, str]) -> KafkaCluster:
    """Return a `KafkaCluster` that shows a migration's topics under their source names.

    Code that compares both clusters uses `orders`, although the target's topic is `east.orders`. A topic of this
    cluster that happens to have a source name is hidden. Internal topics keep their names.

    `target_names`: the real name of each topic of the migration, by its name on the source.
    """
    return cast(KafkaCluster, _RenamedTopics(cluster, target_names))


class _RenamedTopics:
    """Calls a method of the cluster with the real names of topics, and shows their source names in its answer."""

    def __init__(self, cluster: KafkaCluster, target_names: Mapping[str, str]) -> None:
        self._cluster = cluster
        self._real = dict(target_names)
        self._shown = {real: shown for shown, real in self._real.items()}

    def __getattr__(self, method: str) -> Callable[..., Any]:
        parameters = _parameters(method)

        def call(*args: Any, **kwargs: Any) -> Any:
            given = parameters.bind(self._cluster, *args, **kwargs)
            for name in OF_TOPICS & given.arguments.keys():
                given.arguments[name] = _renamed(given.arguments[name], self._real)
            answer = getattr(self._cluster, method)(*given.args[1:], **given.kwargs)
            return answer if method in AS_THEY_ARE else self._as_shown(answer)

        return call

    def granted(self, resources: Collection[Resource]) -> Mapping[Resource, frozenset[Operation]]:
        """See `KafkaCluster.granted`; a topic may also be named as on the cluster."""
        real = {each: _renamed(each, self._real) for each in resources}
        granted = self._cluster.granted(list(real.values()))
        return {each: granted[real[each]] for each in resources if real[each] in granted}

    def describe_groups(self, groups: Collection[str]) -> Mapping[str, GroupDescription]:
        """See `KafkaCluster.describe_groups`."""
        found = self._cluster.describe_groups(groups)
        return {group: replace(d, members=tuple(map(self._member, d.members))) for group, d in found.items()}

    def _member(self, member: GroupMember) -> GroupMember:
        return replace(member, assigned=frozenset(self._as_shown(member.assigned)))

    def _as_shown(self, answer: Any) -> Any:
        """Return an answer of the cluster with the names on the source, and without topics that are hidden."""
        match answer:
            case Mapping():
                return _renamed({key: value for key, value in answer.items() if self._is_seen(key)}, self._shown)
            case frozenset():
                return frozenset(_renamed([each for each in answer if self._is_seen(each)], self._shown))
            case list():
                return [_renamed(row, self._shown) for row in answer]
            case Iterator():
                return (_renamed(record, self._shown) for record in answer)
        return answer

    def _is_seen(self, place: str | TopicPartition) -> bool:
        """Return whether a topic of this cluster is visible; false if its name is used for another topic."""
        name = place if isinstance(place, str) else place.topic
        return name in self._shown or name not in self._real


@cache
def _parameters(method: str) -> Signature:
    """Return the parameters of a method of `KafkaCluster`. Raises `AttributeError` if it has no such method."""
    return signature(getattr(KafkaCluster, method))


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    """Return a value of `KafkaCluster` in which the topics have other names; those that `names` lacks keep theirs."""
    match value:
        case str():
            return names.get(value, value)
        case TopicPartition():
            return value._replace(topic=_renamed(value.topic, names))
        case SampledRecord() | RecordShape() | LogRow():
            return value._replace(partition=_renamed(value.partition, names))
        case NewTopic() | TopicDescription():
            return replace(value, topic=_renamed(value.topic, names))
        case Resource():
            return replace(value, name=_renamed(value.name, names)) if value.kind == "topic" else value
        case Mapping():
            return {_renamed(key, names): _renamed_description(each, names) for key, each in value.items()}
        case Collection():
            return [_renamed(each, names) for each in value]
    return value


def _renamed_description(value: Any, names: Mapping[str, str]) -> Any:
    """Return a value that a mapping has for a topic or a partition: only a description of a topic names one."""
    return _renamed(value, names) if isinstance(value, TopicDescription) else value
