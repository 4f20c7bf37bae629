"""The default partitioner of Kafka's Java clients for records with a key."""

from __future__ import annotations

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
