"""Topics that no wave has, because they are Kafka's or a tool's; and those that Kafka Streams makes for a group."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

# Kafka Streams puts the application's id, which is its group, before the names of the topics that it makes.
_STREAMS_SUFFIXES = ("-changelog", "-repartition")
_LEFT_OUT: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), reason)
    for pattern, reason in (
        (r"__.*", "Kafka's own"),
        (r"\..*|.*[.-]internal", "internal; MirrorMaker 2 names its own so, and never copies them"),
        (r".*heartbeats", "MirrorMaker 2 takes it for its own heartbeats"),
        (r".*\.replica", "MirrorMaker 2 leaves such a name out"),
        (r"_schemas", "the Schema Registry's; it moves with the registry, not with a consumer"),
        (r"_confluent.*", "Confluent Platform's own"),
        (r"(.*[._-])?connect[._-](configs?|offsets?|status(es)?)", "a Connect cluster's own; connectors are made anew"),
    )
)


def never_moved(topic: str) -> str:
    """Return why no wave has this topic; empty for any other."""
    return next((reason for pattern, reason in _LEFT_OUT if pattern.fullmatch(topic)), "")


def streams_topics(topics: Iterable[str], groups: Collection[str]) -> Mapping[str, tuple[str, ...]]:
    """Return the topics that Kafka Streams made for an application, by its group: the longest that fits the name."""
    known = frozenset(groups)
    found: dict[str, list[str]] = {}
    for topic in sorted(topics):
        if topic.endswith(_STREAMS_SUFFIXES):
            cuts = (match.start() for match in re.finditer("-", topic))
            fitting = [topic[:cut] for cut in cuts if topic[:cut] in known]
            if fitting:
                found.setdefault(fitting[-1], []).append(topic)
    return {group: tuple(names) for group, names in found.items()}
