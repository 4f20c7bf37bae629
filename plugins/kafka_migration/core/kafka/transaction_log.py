"""Which topics each transactional id wrote to, as the records of `__transaction_state` tell.

The formats are those of Kafka's `TransactionLogKey` (version 0) and `TransactionLogValue` (0, and 1 of brokers with
`transaction.version` 2, Kafka 4.0 on), read in Kafka's message definitions. A record of a transaction that has ended
names no partition any more: the earlier records of its id do, as long as compaction has left them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

TRANSACTION_STATE = "__transaction_state"
# A transaction that commits offsets of a group writes to a partition of this topic; which group, nothing tells.
COMMITTED_OFFSETS = "__consumer_offsets"
_MAX_VARINT_BYTES = 5


class UnknownFormat(ValueError):
    """Bytes that are of a version that is not known, or that end too soon."""


@dataclass
class TransactionLog:
    """What was read of the log so far.

    :param topics: all topics that the records of a transactional id name, by id; an id may be there with none
    :param unreadable: how many records are of a version that is not known
    :param not_read: why the log was not read to its end; empty where it was
    """

    topics: dict[str, set[str]] = field(default_factory=dict)
    unreadable: int = 0
    not_read: str = ""

    def take(self, key: bytes | None, value: bytes | None) -> None:
        """Take in a record; one without a value says that the id expired, and takes away nothing that it wrote."""
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
        """Why some transactional ids may not be known, or some of what they wrote; empty where all are."""
        unreadable = f"{self.unreadable:,} records of {TRANSACTION_STATE} have a format that is not known"
        return "; ".join(text for text in (self.not_read, unreadable if self.unreadable else "") if text)


def decode_key(key: bytes) -> str:
    """Return the transactional id that a record is about."""
    reader = _Reader(key)
    if reader.number(">h") != 0:
        raise UnknownFormat("version of the key")
    return reader.text(reader.number(">h"))


def decode_value(value: bytes) -> frozenset[str]:
    """Return the topics of the partitions that the transaction has written to when the record was written."""
    reader = _Reader(value)
    version = reader.number(">h")
    if version not in {0, 1}:
        raise UnknownFormat("version of the value")
    # Producer id, its epoch, the time-out, the state.
    for form in (">q", ">h", ">i", ">b"):
        reader.number(form)
    topics = frozenset(_topics(reader, is_flexible=version == 1))
    # When it was updated and when it began; what follows are fields that a reader may leave out.
    for form in (">q", ">q"):
        reader.number(form)
    return topics


def _topics(reader: _Reader, *, is_flexible: bool) -> Iterator[str]:
    # A flexible length is one more than the length; 0 stands for nothing, as -1 does elsewhere.
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
    """Reads values one after the other; raises `UnknownFormat` when the bytes end too soon."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def skip(self, length: int) -> bytes:
        """Return the next bytes, and go on behind them."""
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
        """Return an unsigned number of seven bits a byte, the lowest first."""
        value = 0
        for place in range(_MAX_VARINT_BYTES):
            (byte,) = self.skip(1)
            value |= (byte & 0x7F) << (7 * place)
            if byte < 0x80:
                return value
        raise UnknownFormat("varint")

    def text(self, length: int) -> str:
        """Return a text of so many bytes."""
        try:
            return self.skip(length).decode()
        except UnicodeDecodeError:
            raise UnknownFormat("text") from None
