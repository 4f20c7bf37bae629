"""Topics that are in no wave, because they belong to Kafka or a tool; and topics that Kafka Streams creates."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

# Kafka Streams prefixes the topics that it creates with the application id, which is its group.
_STREAMS_SUFFIXES = ("-changelog", "-repartition")
_LEFT_OUT: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), reason)
    for pattern, reason in (
        (r"__.*", "Kafka's own"),
        (r"\..*|.*[.-]internal", "internal; MirrorMaker 2 uses such names for its own topics and never copies them"),
        (r".*heartbeats", "MirrorMaker 2 treats it as its own heartbeats topic"),
        (r".*\.replica", "MirrorMaker 2 skips topics with such a name"),
        (r"_schemas", "the Schema Registry's; it moves with the registry, not with a consumer"),
        (r"_confluent.*", "Confluent Platform's own"),
        (
            r"(.*[._-])?connect[._-](configs?|offsets?|status(es)?)",
            "a Connect cluster's own; connectors must be created again",
        ),
    )
)


def never_moved(topic: str) -> str:
    """Return why this topic is in no wave; empty for any other."""
    return next((reason for pattern, reason in _LEFT_OUT if pattern.fullmatch(topic)), "")


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
