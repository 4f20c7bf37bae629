"""Both digests written anew from the words of their modules, in plain Python: no Spark, no numpy, nothing of theirs.

If what is written here equals what Spark computes, the words are complete.
"""

from __future__ import annotations

import struct
from base64 import b64encode
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

from tests.spark.conftest import START, KafkaRecord

MASK = (1 << 64) - 1
SEED = 42
P1, P2, P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P4, P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
PHI = 0x9E3779B97F4A7C15
NULL_KEY = 0x6E756C6C6B657930
NULL_BUCKET = 65_536


def _rotated(value: int, bits: int) -> int:
    return (value << bits | value >> 64 - bits) & MASK


def _round(lane: int, word: int) -> int:
    return _rotated(lane + word * P2 & MASK, 31) * P1 & MASK


def _lanes(data: bytes, seed: int) -> int:
    lanes = [seed + P1 + P2 & MASK, seed + P2 & MASK, seed, seed - P1 & MASK]
    for words in struct.iter_unpack("<4Q", data):
        lanes = [_round(lane, word) for lane, word in zip(lanes, words, strict=True)]
    mixed = sum(_rotated(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18), strict=True)) & MASK
    return reduce(lambda hashed, lane: (hashed ^ _round(0, lane)) * P1 + P4 & MASK, lanes, mixed)


def xxh64(data: bytes, seed: int) -> int:
    """Return XXH64 (Yann Collet) of bytes."""
    whole = len(data) - len(data) % 32
    hashed = (_lanes(data[:whole], seed) if whole else seed + P5) + len(data) & MASK
    rest = data[whole:]
    while len(rest) >= 8:
        hashed = _rotated(hashed ^ _round(0, int.from_bytes(rest[:8], "little")), 27) * P1 + P4 & MASK
        rest = rest[8:]
    if len(rest) >= 4:
        hashed = _rotated(hashed ^ int.from_bytes(rest[:4], "little") * P1 & MASK, 23) * P2 + P3 & MASK
        rest = rest[4:]
    for byte in rest:
        hashed = _rotated(hashed ^ byte * P5 & MASK, 11) * P1 & MASK
    hashed = (hashed ^ hashed >> 33) * P2 & MASK
    hashed = (hashed ^ hashed >> 29) * P3 & MASK
    return hashed ^ hashed >> 32


Argument = bytes | None


def xxhash64(arguments: Sequence[Argument]) -> int:
    """Return the hash of several arguments: each is seeded with what came of those before, nulls are passed over."""
    return reduce(lambda seed, one: seed if one is None else xxh64(one, seed), arguments, SEED)


def _small(number: int) -> bytes:
    return struct.pack("<i", number)


def _large(number: int) -> bytes:
    return struct.pack("<q", number)


def _json(values: Sequence[bytes | None]) -> bytes | None:
    texts = ["null" if value is None else f'"{b64encode(value).decode()}"' for value in values]
    return f"[{','.join(texts)}]".encode() if texts else None


def key_arguments(record: KafkaRecord) -> list[Argument]:
    return [record.key, _small(record.key is None)]


def payload_arguments(record: KafkaRecord) -> list[Argument]:
    headers = [(key.encode(), value) for key, value in record.headers or ()]
    return [
        *(record.value, _small(record.value is None), _json([value for _, value in headers])),
        *(part for header in headers for part in header),
        _large(round(START.timestamp() * 1_000_000) + record.timestamp_ms * 1_000),
    ]


Block = tuple[int, int, int]


def blocks(records: Sequence[KafkaRecord], block_records: int, base: int = 0) -> dict[int, Block]:
    """Return count and both sums of each block by its number; `base` is the rank of the first record."""
    sums: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
    for rank, record in enumerate(records, base):
        x = xxhash64([_large(rank), *key_arguments(record), *payload_arguments(record)])
        block = sums[rank // block_records]
        block[:] = block[0] + 1, block[1] + (x & 0xFFFFFFFF), block[2] + (x >> 32)
    return {number: (count, low, high) for number, (count, low, high) in sums.items()}


def fmix64(value: int) -> int:
    value &= MASK
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        value = (value ^ value >> 33) * factor & MASK
    return value ^ value >> 33


def _runs(log: Sequence[KafkaRecord]) -> Iterator[tuple[int, list[int]]]:
    runs: defaultdict[int, list[int]] = defaultdict(list)
    for record in log:
        key = NULL_KEY if record.key is None else xxhash64(key_arguments(record))
        runs[key].append(xxhash64(payload_arguments(record)))
    yield from runs.items()


def buckets(partitions: Mapping[int, Sequence[KafkaRecord]]) -> dict[int, tuple[int, int]]:
    """Return count and digest of each bucket of a topic."""
    sums: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0])
    for log in partitions.values():
        for key, hashes in _runs(log):
            if key == NULL_KEY:
                number, digest = NULL_BUCKET, sum(fmix64(h) for h in hashes)
            else:
                run = sum(fmix64(h + i * PHI) for i, h in enumerate(hashes))
                number, digest = key >> 48, fmix64(fmix64(key + len(hashes) * PHI) + run)
            bucket = sums[number]
            bucket[:] = bucket[0] + len(hashes), bucket[1] + digest & MASK
    return {number: (count, digest) for number, (count, digest) in sums.items()}
