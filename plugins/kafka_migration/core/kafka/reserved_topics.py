"""Topic names: which Kafka allows, and which belong to Kafka, MirrorMaker, another tool or Kafka Streams."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

# Kafka Streams prefixes the topics that it creates with the application id, which is its group.
_STREAMS_SUFFIXES = ("-changelog", "-repartition")
_INTERNAL = re.compile(r"__.*|\..*|.*[.-]internal")
_HEARTBEATS = re.compile(r".*heartbeats")
_REPLICA = re.compile(r".*\.replica")
_RESERVED = (
    (re.compile(r"__.*"), "Kafka's own"),
    (_INTERNAL, "internal; MirrorMaker 2 uses such names for its own topics and never copies them"),
    (_HEARTBEATS, "MirrorMaker 2 treats it as its own heartbeats topic"),
    (_REPLICA, "MirrorMaker 2 skips topics with such a name"),
    (re.compile(r"_schemas"), "the Schema Registry's; it moves with the registry, not with a consumer"),
    (re.compile(r"_confluent.*"), "Confluent Platform's own"),
    (
        re.compile(r"(.*[._-])?connect[._-](configs?|offsets?|status(es)?)"),
        "a Connect cluster's own; connectors must be created again",
    ),
)


def is_internal(topic: str) -> bool:
    """Whether MirrorMaker never copies a topic with this name, however it is configured."""
    return _INTERNAL.fullmatch(topic) is not None


def is_heartbeats(topic: str) -> bool:
    """Whether MirrorMaker 2 treats the topic as its own heartbeats topic, unless topics are renamed."""
    return _HEARTBEATS.fullmatch(topic) is not None


def is_replica(topic: str) -> bool:
    """Whether MirrorMaker 2 skips the topic by default (`.*\\.replica`)."""
    return _REPLICA.fullmatch(topic) is not None


def reserved_reason(topic: str) -> str:
    """Return why the topic belongs to no application; empty for any other."""
    return next((reason for pattern, reason in _RESERVED if pattern.fullmatch(topic)), "")


def streams_topics(topics: Iterable[str], groups: Collection[str]) -> Mapping[str, tuple[str, ...]]:
    """Return the topics that Kafka Streams created, by the group with the longest matching name."""
    known = frozenset(groups)
    found: dict[str, list[str]] = {}
    for topic in sorted(topics):
        if topic.endswith(_STREAMS_SUFFIXES):
            cuts = (match.start() for match in re.finditer("-", topic))
            fitting = [topic[:cut] for cut in cuts if topic[:cut] in known]
            if fitting:
                found.setdefault(fitting[-1], []).append(topic)
    return {group: tuple(names) for group, names in found.items()}


_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")


def is_topic_name(name: str) -> bool:
    """Whether a topic may have the name. A cluster that lists any other one is broken or lies."""
    return _NAME.fullmatch(name) is not None and name not in {".", ".."}
