"""The check of the target's log directories."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.mirror.host import ProbeSubject
from kafka_migration.preflight.host.asking_host import tool_answer, without_tools
from kafka_migration.preflight.scene.check import Asked, Fact, Findings, UnknownFact, check, warnings_of_sides
from kafka_migration.preflight.scene.scene import Scene

_SPACE = Fact(
    "whether the target's log directories have room for the copy",
    "A broker whose disk is full stops, with all its partitions.",
    "Describe on the cluster",
)
_NOT_REPORTED = UnknownFact(_SPACE, "its brokers do not report their free space (Kafka 3.3 and newer do)")
# One response of a broker in the client's log. Brokers before Kafka 3.3 have no such fields, or -1.
_RESPONSE = re.compile(r"Received DESCRIBE_LOG_DIRS response from node (\d{1,10}) (.*)")
_FREE = re.compile(r"totalBytes=-?\d{1,19}, usableBytes=(-?\d{1,19})")


def _warn(scene: Scene) -> Findings:
    source, target = _log_dirs(scene, "source"), _log_dirs(scene, "target")
    if isinstance(target, LogDirs) and not target.usable:
        target = _NOT_REPORTED
    return warnings_of_sides({"source": source, "target": target})


@check("target space", asks={Asked.TOOLS}, needs=("topics", "host"), warn=_warn, unless=without_tools)
def target_space(scene: Scene) -> Findings:
    """The target's log directories have room for the copy."""
    source, target = _log_dirs(scene, "source"), _log_dirs(scene, "target")
    if isinstance(source, UnknownFact) or isinstance(target, UnknownFact) or not target.usable:
        return ()
    migration = scene.migration
    names = {topic: migration.target_topic(topic) for topic in migration.topics}
    needed = needed_bytes(source, target, names, migration.target_replication_factor)
    return space_findings(needed, target.usable)


def _log_dirs(scene: Scene, side: Side) -> LogDirs | UnknownFact:
    answer = tool_answer(scene, _SPACE, ProbeSubject.SPACE, side)
    return answer if isinstance(answer, UnknownFact) else LogDirs.of(answer)


@dataclass(frozen=True, slots=True)
class LogDirs:
    """What `LogDirsCommand` and the client's log say: bytes of each replica by broker, free bytes by log directory."""

    sizes: Mapping[TopicPartition, Mapping[int, int]]
    usable: Mapping[tuple[int, str], int]

    @classmethod
    def of(cls, output: str) -> LogDirs | UnknownFact:
        """Read the output of the tool; a replica that is being moved to another directory counts once."""
        found = [line for line in output.splitlines() if line.startswith("{") and '"brokers"' in line]
        try:
            brokers = json.loads(found[-1])["brokers"]
            return cls(_sizes(brokers), _usable(output))
        except (IndexError, KeyError, TypeError, ValueError) as error:
            return UnknownFact(_SPACE, f"LogDirsCommand printed something else: {error!r}"[:200])


def _sizes(brokers: Collection[Mapping[str, object]]) -> dict[TopicPartition, dict[int, int]]:
    sizes: dict[TopicPartition, dict[int, int]] = {}
    for broker in brokers:
        for folder in broker["logDirs"]:  # type: ignore[attr-defined]
            for replica in folder["partitions"]:
                if not replica["isFuture"]:
                    topic, _, number = replica["partition"].rpartition("-")
                    replicas = sizes.setdefault(TopicPartition(topic, int(number)), {})
                    replicas[int(str(broker["broker"]))] = int(replica["size"])
    return sizes


def _usable(output: str) -> dict[tuple[int, str], int]:
    return {
        (int(node), folder): free
        for node, response in _RESPONSE.findall(output)
        for folder, free in _folders(response)
        if free >= 0
    }


def _folders(response: str) -> Iterator[tuple[str, int]]:
    """Yield each log directory in a response with its free bytes, which follow its partitions."""
    for part in response.split("logDir='")[1:]:
        folder, _, rest = part.partition("'")
        if free := _FREE.findall(rest):
            yield folder, int(free[-1])


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
        size = max(replicas.values())
        needed += max(0, size * (len(copies) or replication_factor) - sum(copies.values()))
        of_one += max(0, size - min(copies.values(), default=0))
    return SpaceNeed(needed, of_one)


def space_findings(need: SpaceNeed, usable: Mapping[tuple[int, str], int]) -> Findings:
    """Yield the finding about a target whose brokers cannot take the copy, however its replicas are placed."""
    free = Counter[int]()
    for (broker, _), usable_bytes in usable.items():
        free[broker] += usable_bytes
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
