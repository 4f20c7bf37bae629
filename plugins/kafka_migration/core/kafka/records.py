"""Records as this package reads them: prints that can be compared, sizes and shapes; never their content."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from kafka_migration.core.kafka.offsets import TopicPartition

NO_TIMESTAMP = -1
"""The timestamp of a record that has none, in Kafka's clients and log."""


@dataclass(frozen=True, slots=True)
class RecordPrint:
    """A record: its offset, its timestamp, and three SHA-256 (hex).

    `digest` is that of key, value, headers and timestamp, `content` that of key, value and headers, `body` that of key
    and value. `timestamp_ms` is `NO_TIMESTAMP` if a record has none. `headers_known` is false if the client cannot give
    the headers; then `digest` and `content` are those of the record without headers, and prove less. `unreadable` says
    why the client cannot read the record at all; such a record equals no other.
    """

    offset: int
    digest: str
    timestamp_ms: int
    content: str
    body: str = ""
    headers_known: bool = True
    unreadable: str = ""

    @classmethod
    def of(
        cls,
        offset: int,
        key: bytes | None,
        value: bytes | None,
        headers: Iterable[tuple[str, bytes | None]] | None,
        timestamp_ms: int,
    ) -> RecordPrint:
        """Return the print of a record; a missing key, value or header value differs from an empty one.

        :param headers: `None` if the client cannot give them
        """
        timestamp = max(timestamp_ms, NO_TIMESTAMP)
        named = b"".join(_encoded(field) for name, content in headers or () for field in (name.encode(), content))
        body = _encoded(key) + _encoded(value)
        timed, content = timestamp.to_bytes(8, "big", signed=True) + body + named, body + named
        return cls(offset, _sha256(timed), timestamp, _sha256(content), _sha256(body), headers is not None)

    @property
    def is_untimed(self) -> bool:
        """Whether the record has no timestamp, as clients and brokers before Kafka 0.10 wrote it."""
        return self.timestamp_ms == NO_TIMESTAMP

    def same_as(self, copy: RecordPrint, timestamps: bool = True) -> bool:
        """Return whether a target record equals this source record.

        MirrorMaker gives a record without a timestamp the time of the copy, so its timestamp is never compared.
        Headers are not compared if the client cannot give those of one of the records.

        :param timestamps: whether timestamps are compared at all; not if the target topic has its own (LogAppendTime)
        """
        is_same_time = not timestamps or self.is_untimed or self.timestamp_ms == copy.timestamp_ms
        if self.unreadable or copy.unreadable:
            return False
        if self.headers_known and copy.headers_known:
            return self.content == copy.content and is_same_time
        return self.body == copy.body and is_same_time


class SampledRecord(NamedTuple):
    """A record of a sample: its partition, its key, and the bytes of its key, value and headers.

    Headers that the client cannot give do not count.
    """

    partition: TopicPartition
    key: bytes | None
    size: int


class RecordShape(NamedTuple):
    """A record without its content: bytes of key, value, and of each header's name and value; `None` is a null.

    `timestamp_ms` is -1 if the record has none.
    """

    partition: TopicPartition
    offset: int
    timestamp_ms: int
    key: int | None
    value: int | None
    headers: tuple[tuple[int, int | None], ...] = ()


def _sha256(encoded: bytes) -> str:
    return hashlib.sha256(encoded).hexdigest()


def _encoded(field: bytes | None) -> bytes:
    """Return an unambiguous encoding of a field: a null flag, the length, the bytes."""
    return b"\x00" if field is None else b"\x01" + len(field).to_bytes(8, "big") + field


class LogRow(NamedTuple):
    """A record of a small topic, with its place in the log."""

    partition: TopicPartition
    offset: int
    key: bytes | None
    value: bytes | None
