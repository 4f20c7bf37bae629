"""The topics that each transactional id wrote to, read from `__transaction_state`.

The formats are `TransactionLogKey` (version 0) and `TransactionLogValue` (version 0, and version 1 of brokers with
`transaction.version` 2, from Kafka 4.0) in Kafka's message definitions. The record of an ended transaction contains no
partitions. Earlier records of its id do, unless compaction has deleted them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

TRANSACTION_STATE = "__transaction_state"
# A transaction that commits offsets of a group writes to a partition of this topic. The log does not name the group.
COMMITTED_OFFSETS = "__consumer_offsets"
_MAX_VARINT_BYTES = 5


class UnknownFormat(ValueError):
    """Bytes of an unknown version, or truncated bytes."""


@dataclass
class TransactionLog:
    """The part of the log that was read so far.

    :param topics: all topics in the records of a transactional id, by id; an id may have none
    :param unreadable: the number of records of an unknown version
    :param not_read: why the log was not read to its end; empty if it was
    """

    topics: dict[str, set[str]] = field(default_factory=dict)
    unreadable: int = 0
    not_read: str = ""

    def take(self, key: bytes | None, value: bytes | None) -> None:
        """Add a record. A record without a value means that the id expired; its earlier topics are kept."""
        try:
            transactional_id = decode_key(key or b"")
            topics = decode_value(value) if value is not None else None
        except UnknownFormat:
            self.unreadable += 1
            return
        if topics is not None:
            self.topics.setdefault(transactional_id, set()).update(topics)
        elif not self.topics.get(transactional_id):
            self.topics.pop(transactional_id, None)

    @property
    def not_known(self) -> str:
        """Why some transactional ids or their topics may be unknown; empty if all are known."""
        unreadable = f"{self.unreadable:,} records of {TRANSACTION_STATE} have an unknown format"
        return "; ".join(text for text in (self.not_read, unreadable if self.unreadable else "") if text)


def decode_key(key: bytes) -> str:
    """Return the transactional id of a record."""
    reader = _Reader(key)
    if reader.number(">h") != 0:
        raise UnknownFormat("version of the key")
    return reader.text(reader.number(">h"))


def decode_value(value: bytes) -> frozenset[str]:
    """Return the topics to which the transaction had written at the time of the record."""
    reader = _Reader(value)
    version = reader.number(">h")
    if version not in {0, 1}:
        raise UnknownFormat("version of the value")
    # Producer id, producer epoch, timeout, state.
    for form in (">q", ">h", ">i", ">b"):
        reader.number(form)
    topics = frozenset(_topics(reader, is_flexible=version == 1))
    # Times of update and start. The fields after them are optional for a reader.
    for form in (">q", ">q"):
        reader.number(form)
    return topics


def _topics(reader: _Reader, *, is_flexible: bool) -> Iterator[str]:
    # A flexible length is stored as length + 1; 0 means null, like -1 elsewhere.
    length: Callable[[str], int] = (lambda _: reader.varint() - 1) if is_flexible else reader.number
    for _ in range(length(">i")):
        yield reader.text(length(">h"))
        reader.skip(4 * length(">i"))
        if is_flexible:
            _skip_tagged_fields(reader)


def _skip_tagged_fields(reader: _Reader) -> None:
    for _ in range(reader.varint()):
        reader.varint()
        reader.skip(reader.varint())


class _Reader:
    """Reads values one after the other; raises `UnknownFormat` if the bytes are truncated."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def skip(self, length: int) -> bytes:
        """Return the next bytes and move past them."""
        end = self._at + length
        if length < 0 or end > len(self._data):
            raise UnknownFormat("length")
        piece, self._at = self._data[self._at : end], end
        return piece

    def number(self, form: str) -> int:
        """Return a number of a fixed width."""
        (value,) = struct.unpack(form, self.skip(struct.calcsize(form)))
        return int(value)

    def varint(self) -> int:
        """Return an unsigned varint: seven bits per byte, lowest first."""
        value = 0
        for place in range(_MAX_VARINT_BYTES):
            (byte,) = self.skip(1)
            value |= (byte & 0x7F) << (7 * place)
            if byte < 0x80:
                return value
        raise UnknownFormat("varint")

    def text(self, length: int) -> str:
        """Return a text of the given number of bytes."""
        try:
            return self.skip(length).decode()
        except UnicodeDecodeError:
            raise UnknownFormat("text") from None
