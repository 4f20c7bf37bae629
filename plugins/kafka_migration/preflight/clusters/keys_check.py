"""The check that MirrorMaker 1 keeps the partitions of records, and the partitioner of the producers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.records import SampledRecord
from kafka_migration.preflight.scene.check import Asked, Findings, check, without_mirrormaker
from kafka_migration.preflight.scene.scene import Scene, newest_records, topics_of

_MASK = 0xFFFFFFFF
_M = 0x5BD1E995
_SEED = 0x9747B28C


def java_partition(key: bytes, partitions: int) -> int:
    """Return the partition that the default partitioner gives a record with this key."""
    return (murmur2(key) & 0x7FFFFFFF) % partitions


def murmur2(data: bytes) -> int:
    """Return the 32-bit hash of `org.apache.kafka.common.utils.Utils.murmur2`, as an unsigned number."""
    hashed = (_SEED ^ len(data)) & _MASK
    whole = len(data) & ~3
    for start in range(0, whole, 4):
        hashed = (hashed * _M & _MASK) ^ _mixed(int.from_bytes(data[start : start + 4], "little"))
    if rest := data[whole:]:
        hashed = (hashed ^ int.from_bytes(rest, "little")) * _M & _MASK
    hashed = (hashed ^ hashed >> 13) * _M & _MASK
    return hashed ^ hashed >> 15


def _mixed(word: int) -> int:
    word = word * _M & _MASK
    return (word ^ word >> 24) * _M & _MASK


def _keeps_partitions(scene: Scene) -> str:
    kept = (
        f"{scene.migration.mirror.abilities.title} keeps the partitions of the source"
        if scene.migration.keeps_partitions
        else ""
    )
    return without_mirrormaker(scene) or kept


@check("keys", asks={Asked.SOURCE}, needs=("topics",), unless=_keeps_partitions, warns=True)
def keys(scene: Scene) -> Findings:
    """MirrorMaker 1 would put the newest records into their own partitions: its partitioner is the producers'."""
    partitions = {name: each.partitions for name, each in topics_of(scene, "source").items() if each.partitions > 1}
    return moved_key_warnings(partitions, newest_records(scene, tuple(partitions)))


def moved_key_warnings(partitions: Mapping[str, int], sampled: Mapping[str, Iterable[SampledRecord]]) -> Findings:
    """Warn of each topic whose producers use another partitioner than MirrorMaker 1.

    `partitions` are the counts on the source, `sampled` some of the newest records, by topic.
    """
    for topic, records in sampled.items():
        keyed = [record for record in records if record.key is not None]
        moved = sum(java_partition(each.key or b"", partitions[topic]) != each.partition.partition for each in keyed)
        if moved:
            sample = f"{moved} of {len(keyed)} sampled records with a key"
            yield Finding(
                Code.KEYS_PARTITIONED_OTHERWISE,
                f"topic {topic}",
                f"{sample} in another partition than Kafka's default partitioner gives them",
                "records that the default partitioner (murmur2) put there",
                "Set mirror.engine to mirrormaker2, which keeps the partitions of records.",
                happened=f"MirrorMaker 1 would write {sample} of topic {topic} to another partition than the source "
                "has them in.",
                matters="Producers that move to the target may write the next records of such a key to another "
                "partition than MirrorMaker 1 did, so consumers would not read the key's records in order.",
            )
