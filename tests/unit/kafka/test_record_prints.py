"""Rules of prints of records that the client cannot read as a whole."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import TIMESTAMP_NOT_AVAILABLE, KafkaError

from kafka_migration.adapters.kafka.kafka_client import reader_settings
from kafka_migration.adapters.kafka.kafka_records import _print, _sampled
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.kafka.records import RecordPrint
from tests.present import present

HEADERS = [("name", b"content")]


class Met:
    """A record as librdkafka's Python client gives it."""

    def __init__(self, headers: list[tuple[str, bytes]] | Exception, error: KafkaError | None = None) -> None:
        self._headers, self._error = headers, error

    def topic(self) -> str:
        """Return its topic."""
        return "orders"

    def partition(self) -> int:
        """Return its partition's number."""
        return 0

    def offset(self) -> int:
        """Return its offset."""
        return 7

    def key(self) -> bytes:
        """Return its key."""
        return b"key"

    def value(self) -> bytes:
        """Return its value."""
        return b"value"

    def timestamp(self) -> tuple[int, int]:
        """Return the kind of its timestamp, and the timestamp."""
        return 1, 1_700_000_000_000

    def error(self) -> KafkaError | None:
        """Return its error."""
        return self._error

    def headers(self) -> list[tuple[str, bytes]]:
        """Return its headers, or raise what the client raises; they may be asked for once."""
        found, self._headers = self._headers, AssertionError("asked twice")
        if isinstance(found, Exception):
            raise found
        return found


def printed(headers: Any, error: KafkaError | None = None) -> RecordPrint:
    """Return the print of a record."""
    return present(_print(Met(headers, error), 7))


def not_utf8() -> SystemError:
    """Return the client's error for a header name that is not UTF-8."""
    error = SystemError("returned a result with an exception set")
    error.__cause__ = UnicodeDecodeError("utf-8", b"caf\xe9", 3, 4, "unexpected end of data")
    return error


def test_record_with_a_header_name_that_is_not_utf8_has_a_print() -> None:
    """Its key, value and timestamp are compared, on whichever side it is, and the print does not claim the headers."""
    whole, partial = printed(HEADERS), printed(not_utf8())
    other = RecordPrint.of(7, b"key", b"other", None, 1_700_000_000_000)
    later = RecordPrint.of(7, b"key", b"value", None, 1_700_000_000_001)

    assert (True, False) == (whole.headers_known, partial.headers_known)
    assert partial.same_as(whole)
    assert whole.same_as(partial)
    assert partial.digest == printed(not_utf8()).digest
    assert [False, False] == [whole.same_as(other), partial.same_as(later)]
    assert partial.same_as(later, timestamps=False)


def test_known_headers_are_compared() -> None:
    """A lost header is a difference if both records have shown theirs."""
    assert not printed(HEADERS).same_as(printed([]))


def test_sample_counts_the_bytes_that_can_be_read() -> None:
    """The size of a record without its headers is a lower bound."""
    sizes = [_sampled(Met(headers)).size for headers in (HEADERS, not_utf8())]

    assert [8 + len("name") + len(b"content"), 8] == sizes
    assert TopicPartition("orders", 0) == _sampled(Met(not_utf8())).partition


def test_other_system_error_is_raised() -> None:
    """Only the known cause is read over."""
    with pytest.raises(SystemError, match="strange"):
        printed(SystemError("strange"))


def test_record_that_cannot_be_read_equals_no_record() -> None:
    """Not even itself: nothing is known about it but the client's reason. The end of a partition is no record."""
    bad = printed([], KafkaError(KafkaError._BAD_MSG, "CRC"))

    assert (7, "CRC") == (bad.offset, bad.unreadable)
    assert [False, False] == [bad.same_as(bad), printed(HEADERS).same_as(bad)]
    assert _print(Met([], KafkaError(KafkaError._PARTITION_EOF)), 7) is None


def test_batch_of_any_size_is_received() -> None:
    """Regression: librdkafka closed the connection at a batch of more than 100 MB, so that no topic had an answer."""
    limit = reader_settings({"receive.message.max.bytes": 1_000}, "read_committed")["receive.message.max.bytes"]

    assert 2**31 - 1 == limit


def test_record_of_the_oldest_format_has_no_timestamp() -> None:
    """librdkafka gives it the timestamp 0, and says that it has none; digests in ledgers have that 0."""
    old = Met([])
    old.timestamp = lambda: (TIMESTAMP_NOT_AVAILABLE, 0)  # type: ignore[method-assign]
    found = present(_print(old, 7))

    assert found.is_untimed
    assert found.digest == RecordPrint.of(7, b"key", b"value", [], 0).digest
