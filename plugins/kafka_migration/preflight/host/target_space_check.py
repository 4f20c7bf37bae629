"""The check of the target's log directories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.preflight.host.asking_clusters import Question, on_host, without_tools
from kafka_migration.preflight.scene.check import Asked, Fact, Findings, UnknownFact, check, warnings_of_sides
from kafka_migration.preflight.scene.scene import Scene


@dataclass(frozen=True, slots=True)
class LogDirs(Document):
    """The bytes of each partition's replicas by broker, and the free bytes of the brokers that report them."""

    sizes: Mapping[TopicPartition, Mapping[int, int]]
    free: Mapping[int, int]


_SPACE = Question(
    "space",
    Fact(
        "whether the target's log directories have room for the copy",
        "A broker whose disk is full stops, with all its partitions.",
        "Describe on the cluster",
    ),
    LogDirs.from_document,
)
_NOT_REPORTED = UnknownFact(_SPACE.fact, "its brokers do not report their free space (Kafka 3.3 and newer do)")


def _warn(scene: Scene) -> Findings:
    source, target = on_host(scene, _SPACE).values()
    is_silent = isinstance(target, LogDirs) and not target.free
    return warnings_of_sides({"source": source, "target": _NOT_REPORTED if is_silent else target})


@check("target space", asks={Asked.TOOLS}, needs=("topics", "host"), warn=_warn, unless=without_tools)
def target_space(scene: Scene) -> Findings:
    """The target's log directories have room for the copy."""
    source, target = on_host(scene, _SPACE).values()
    if isinstance(source, UnknownFact) or isinstance(target, UnknownFact) or not target.free:
        return ()
    migration = scene.migration
    names = {topic: migration.target_topic(topic) for topic in migration.topics}
    needed = needed_bytes(source, target, names, migration.target_replication_factor)
    return space_findings(needed, target.free)


class SpaceNeed(NamedTuple):
    """The bytes that the copy will take beyond what it takes already: on all brokers, and on one at most."""

    total: int
    of_one_broker: int


def needed_bytes(
    source: LogDirs, target: LogDirs, target_topics: Mapping[str, str], replication_factor: int
) -> SpaceNeed:
    """Return how many bytes the copy will take on the target beyond what it takes already.

    `target_topics` are the names on the target by those on the source. The largest replica on the source counts, and
    for an existing topic its own number of replicas. Each replica of a partition is on another broker.
    """
    needed = of_one = 0
    for partition, replicas in source.sizes.items():
        if partition.topic not in target_topics:
            continue
        copies = target.sizes.get(TopicPartition(target_topics[partition.topic], partition.partition), {})
        size = max(replicas.values(), default=0)
        needed += max(0, size * (len(copies) or replication_factor) - sum(copies.values()))
        of_one += max(0, size - min(copies.values(), default=0))
    return SpaceNeed(needed, of_one)


def space_findings(need: SpaceNeed, free: Mapping[int, int]) -> Findings:
    """Yield the finding about a target whose brokers cannot take the copy, however its replicas are placed."""
    if need.total > sum(min(each, need.of_one_broker) for each in free.values()):
        needed = f"{-(-need.total // 2**20):,} MiB"
        yield Finding(
            Code.TARGET_SPACE_TOO_SMALL,
            "target.connection",
            f"{_mib(free)} free on {len(free)} broker(s)",
            f"{needed}: the source's partitions, times their replicas on the target, each on another broker, without "
            "what is copied already",
            "Add disks or brokers, lower target.replication_factor, or let the source delete old records first.",
            happened=f"The rest of the copy takes {needed} with all its replicas, but the target's {len(free)} "
            f"broker(s) have {_mib(free)} free.",
            matters="A broker whose disk is full stops, with all its partitions.",
        )


def _mib(free: Mapping[int, int]) -> str:
    return " + ".join(f"{each // 2**20:,}" for each in sorted(free.values(), reverse=True)[:10]) + " MiB"
