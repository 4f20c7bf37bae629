"""Everything that a cluster tells of itself, to see whether anything was changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AclBindingFilter, AclOperation, AclPermissionType, AdminClient, ConfigResource
from confluent_kafka.admin import ResourcePatternType as Pattern
from confluent_kafka.admin import ResourceType as Kind

from sandbox.data.asking import asked

WAIT_S = 60


def described(side: Mapping[str, str], *, ignored_group: str = "") -> dict[str, Any]:
    """Return topics with partitions and settings, both ends of each partition, groups with offsets, and all ACLs.

    Kafka's own topics come and go with any reader. `ignored_group` is left out.
    """
    admin = AdminClient(dict(side))
    found = admin.list_topics(timeout=WAIT_S).topics
    partitions = {name: len(topic.partitions) for name, topic in found.items() if not name.startswith("__")}
    groups = [each.group_id for each in admin.list_consumer_groups().result(WAIT_S).valid]
    return {
        "partitions": partitions,
        "settings": _settings(admin, partitions),
        "offsets": _ends(side, partitions),
        "groups": {group: _commits(admin, group) for group in sorted(groups) if group != ignored_group},
        "acls": _acls(admin),
    }


def _settings(admin: AdminClient, topics: Iterable[str]) -> dict[str, dict[str, str]]:
    wanted = [ConfigResource(Kind.TOPIC, name) for name in topics]
    answers = admin.describe_configs(wanted) if wanted else {}
    return {
        each.name: {name: entry.value for name, entry in future.result(WAIT_S).items()}
        for each, future in answers.items()
    }


def _ends(side: Mapping[str, str], partitions: Mapping[str, int]) -> dict[tuple[str, int], tuple[int, int]]:
    reader = Consumer({**side, "group.id": "test-ends"})
    places = [TopicPartition(topic, number) for topic, count in partitions.items() for number in range(count)]
    ask = partial(reader.get_watermark_offsets, timeout=WAIT_S)
    ends = {(each.topic, each.partition): asked(partial(ask, each), f"the ends of {each}") for each in places}
    reader.close()
    return ends


def _commits(admin: AdminClient, group: str) -> dict[tuple[str, int], int]:
    answer = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[group].result(WAIT_S)
    return {(each.topic, each.partition): each.offset for each in answer.topic_partitions}


def _acls(admin: AdminClient) -> list[str]:
    every = AclBindingFilter(Kind.ANY, None, Pattern.ANY, None, None, AclOperation.ANY, AclPermissionType.ANY)
    return sorted(str(each) for each in admin.describe_acls(every).result(WAIT_S))
