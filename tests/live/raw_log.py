"""Record batches as bytes, written into the log of a stopped broker: brokers may hold what no client sends today."""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.live.validation_scene import START_MS

# Of CRC-32C (Castagnoli), with which Kafka guards a batch.
_POLYNOMIAL = 0x82F63B78
GZIP = 1
NO_PRODUCER = struct.pack(">qhi", -1, -1, -1)


@dataclass(frozen=True)
class RawRecord:
    """A record with header names as bytes."""

    offset: int
    value: bytes | None = b"value"
    key: bytes | None = b"key"
    headers: Sequence[tuple[bytes, bytes | None]] = field(default_factory=list)
    timestamp_ms: int = START_MS


def batch(record: RawRecord, *, is_corrupt: bool = False) -> bytes:
    """Return a batch of message format 2 with one record, compressed with gzip.

    A corrupt one has another checksum than its bytes.
    """
    encoded = _record(record)
    rest = struct.pack(">hiqq", GZIP, 0, record.timestamp_ms, record.timestamp_ms) + NO_PRODUCER
    rest += struct.pack(">i", 1) + gzip.compress(_varint(len(encoded)) + encoded, 1)
    guarded = struct.pack(">ibI", 0, 2, crc32c(rest) ^ is_corrupt) + rest
    return struct.pack(">qi", record.offset, len(guarded)) + guarded


def old_message(offset: int, value: bytes) -> bytes:
    """Return a record without a key in message format 0, which has no timestamp."""
    guarded = struct.pack(">bbii", 0, 0, -1, len(value)) + value
    return struct.pack(">qiI", offset, 4 + len(guarded), zlib.crc32(guarded)) + guarded


def damage_last_batch(folder: Path) -> int:
    """Change the last byte of a stopped broker's partition with one segment; return its batch's first offset."""
    (log,) = folder.glob("*.log")
    content, at = bytearray(log.read_bytes()), 0
    # A file may be longer than what was written to it.
    while (size := struct.unpack_from(">i", content, at + 8)[0]) and at + 12 + size < len(content.rstrip(b"\0")):
        at += 12 + size
    content[at + 12 + size - 1] ^= 0xFF
    log.write_bytes(content)
    return int(struct.unpack_from(">q", content, at)[0])


def append(folder: Path, segments: Mapping[int, Sequence[bytes]]) -> None:
    """Append batches to the segments of a stopped broker's partition, by the segments' first offsets."""
    for base, batches in segments.items():
        with (folder / f"{base:020}.log").open("ab") as log:
            log.write(b"".join(batches))


def _record(record: RawRecord) -> bytes:
    headers = b"".join(_field(name) + _field(content) for name, content in record.headers)
    fields = _field(record.key) + _field(record.value) + _varint(len(record.headers)) + headers
    return b"\0" + _varint(0) + _varint(0) + fields


def _field(content: bytes | None) -> bytes:
    return _varint(-1) if content is None else _varint(len(content)) + content


def _varint(number: int) -> bytes:
    """Return a number in zigzag encoding, seven bits to the byte."""
    left = (number << 1) ^ (number >> 63)
    found = bytearray()
    while left > 0x7F:
        found.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*found, left])


def crc32c(content: bytes) -> int:
    """Return the checksum of a batch's bytes."""
    crc = 0xFFFFFFFF
    for byte in content:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (_POLYNOMIAL if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF
