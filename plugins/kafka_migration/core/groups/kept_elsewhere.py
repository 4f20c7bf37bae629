"""Groups that look like those of an application which keeps offsets or state outside of the group.

Moving the offsets of such a group is not enough, or does nothing. A cluster shows only names, so each rule gives its
evidence and says "looks like". A new kind of application is one more row of `_KINDS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.clusters_seen import CommittedGroup
from kafka_migration.core.kafka.reserved_topics import streams_topics
from kafka_migration.core.text.quoting import group_subject, plain_name
from kafka_migration.core.text.shortened import some

# More topics than these are counted.
MAX_NAMED = 5
LONGEST_NAME = 249


@dataclass(frozen=True, slots=True)
class Clues:
    """What a cluster shows of a group: its id, the client ids of its members, and topics that Kafka Streams made."""

    group: str
    clients: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Kind:
    """One kind of application: how it is recognized, what moving the offsets does not do, and what to do."""

    name: str
    evidence: Callable[[Clues], str]
    not_done: str
    remedy: str


_ANY_CASE = re.IGNORECASE | re.DOTALL


def _named(pattern: re.Pattern[str]) -> Callable[[Clues], str]:
    return lambda clues: "its id" if pattern.fullmatch(clues.group) else _client(pattern, clues.clients)


def _client(pattern: re.Pattern[str], clients: Iterable[str]) -> str:
    return next((f"its member {plain_name(client)}" for client in clients if pattern.fullmatch(client)), "")


def _streams(clues: Clues) -> str:
    if clues.topics:
        return f"its internal topics {some(clues.topics, MAX_NAMED, longest=LONGEST_NAME)}"
    return _client(re.compile(r".*-StreamThread-[0-9]+.*", re.DOTALL), clues.clients)


_KINDS = (
    _Kind(
        "Kafka Streams",
        _streams,
        "its state stores and its internal topics do not move with its offsets, and local stores hold offsets of the "
        "source",
        "Copy its internal topics together with its input topics, and delete its local state before it starts on the "
        "target; or reset the application there.",
    ),
    _Kind(
        "a sink of Kafka Connect",
        _named(re.compile(r"connect-.+|connector-consumer-.+", _ANY_CASE)),
        "the connector itself does not move, and some sinks keep offsets of the source at their destination",
        "Create the connector on the target's workers with the same name, because the name gives the group. Look up "
        "in its documentation whether its destination holds offsets.",
    ),
    _Kind(
        "a Flink job",
        _named(re.compile(r"KafkaSource--?[0-9]+.*|(.*[^a-z])?flink([^a-z].*)?", _ANY_CASE)),
        "the job resumes from its checkpoint or savepoint, which holds offsets of the source; it commits only to show "
        "its progress",
        "Start the job on the target without the Kafka source's old state (a new uid of the source) from the committed "
        "offsets.",
    ),
    _Kind(
        "a query of Spark Structured Streaming",
        _named(re.compile(r"spark-kafka-(source|relation)-.*|spark-executor-.*", _ANY_CASE)),
        "the query resumes from its checkpoint, which holds offsets of the source; the offsets of the group are not "
        "used",
        "Start the query on the target with a new checkpoint location and with `startingOffsets`.",
    ),
)


def kept_elsewhere(groups: Collection[CommittedGroup], topics: Collection[str]) -> Mapping[str, Finding]:
    """Return a warning for each group that looks like one of these kinds, by name.

    :param topics: the names of all topics of the source
    """
    made = streams_topics(topics, [group.group for group in groups])
    found = ((group.group, _finding(group, made.get(group.group, ()))) for group in groups)
    return {group: finding for group, finding in found if finding is not None}


def _finding(group: CommittedGroup, topics: tuple[str, ...]) -> Finding | None:
    clients = {member.client_id for member in (*group.source.members, *group.target.members)}
    clues = Clues(group.group, tuple(sorted(clients)), topics)
    kind, evidence = next(((kind, found) for kind in _KINDS if (found := kind.evidence(clues))), (None, ""))
    if kind is None:
        return None
    return Finding(
        Code.OFFSETS_KEPT_ELSEWHERE,
        group_subject(clues.group),
        f"looks like {kind.name} ({evidence}): {kind.not_done}",
        "an application whose only position is the committed offsets of its group",
        f"{kind.remedy} If the group is of another application, ignore this warning.",
        happened=f"Group {plain_name(clues.group)} looks like {kind.name}, because of {evidence}.",
        matters=f"Moving its committed offsets is not enough: {kind.not_done}.",
    )
