"""Rules of reading `__transaction_state`: bytes as brokers write them, and bytes as none does."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_migration.core.kafka.transaction_log import TransactionLog, UnknownFormat, decode_key, decode_value

KEY = bytes.fromhex("0000 0006") + b"pay-tx"
# Producer id 1000, epoch 3, time-out 60,000 ms; state 1 (ongoing).
HEAD = bytes.fromhex("00000000000003e8 0003 0000ea60 01")
TIMES = bytes.fromhex("0000018000000001 0000018000000000")
# Two topics, with partitions 0 and 5, and 2.
V0 = (
    bytes.fromhex("0000")
    + HEAD
    + bytes.fromhex("00000002")
    + (bytes.fromhex("0006") + b"orders" + bytes.fromhex("00000002 00000000 00000005"))
    + (bytes.fromhex("0005") + b"audit" + bytes.fromhex("00000001 00000002"))
    + TIMES
)
# The same in version 1: lengths plus one, tagged fields after each struct; the last is the client's version.
V1 = (
    bytes.fromhex("0001")
    + HEAD
    + bytes.fromhex("03")
    + (bytes.fromhex("07") + b"orders" + bytes.fromhex("03 00000000 00000005 00"))
    + (bytes.fromhex("06") + b"audit" + bytes.fromhex("02 00000002 01 07 02 beef"))
    + TIMES
    + bytes.fromhex("01 02 02 0002")
)
# A transaction that has ended, in either version; and one that names nothing at all (a null array).
ENDED = (
    bytes.fromhex("0000") + HEAD + bytes.fromhex("00000000") + TIMES,
    bytes.fromhex("0001") + HEAD + b"\x01" + TIMES + b"\x00",
)
NULL = (
    bytes.fromhex("0000") + HEAD + b"\xff\xff\xff\xff" + TIMES,
    bytes.fromhex("0001") + HEAD + b"\x00" + TIMES + b"\x00",
)


# The same, as the serializer of Kafka 3.9.1 writes it in both versions; it knows no tagged fields yet.
WRITTEN_V0 = (
    "000000000000000003e800030000ea60010000000200066f72646572730000000200000000"
    "0000000500056175646974000000010000000200000180000000010000018000000000"
)
WRITTEN_V1 = (
    "000100000000000003e800030000ea600103076f7264657273030000000000000005000661"
    "756469740200000002000000018000000001000001800000000000"
)
# A transaction over topics a and b, as a broker with transaction.version 2 wrote it: while it went on, and ended.
ONGOING_ON_A_BROKER = (
    "0001000000000000000000000000ea60010302610200000001000262020000000100000001a203a50226000001a203a501d300"
)
OVER_ON_A_BROKER = "0001000000000000000000000000ea600401000001a203a50240000001a203a501d300"


def test_key_is_the_transactional_id() -> None:
    """Version 0 of the key holds the id as a text with its length in front."""
    assert (WRITTEN_V0, "000000067061792d7478") == (V0.hex(), KEY.hex())
    assert decode_key(KEY) == "pay-tx"


@pytest.mark.parametrize(
    ("value", "topics"),
    [
        *((value, {"orders", "audit"}) for value in (V0, V1, bytes.fromhex(WRITTEN_V0), bytes.fromhex(WRITTEN_V1))),
        (bytes.fromhex(ONGOING_ON_A_BROKER), {"a", "b"}),
        *((value, set()) for value in (bytes.fromhex(OVER_ON_A_BROKER), *ENDED, *NULL)),
    ],
)
def test_value_names_the_topics(value: bytes, topics: set[str]) -> None:
    """The topics are read from both versions, with partitions and tagged fields; a transaction that ended has none."""
    assert topics == decode_value(value)


@pytest.mark.parametrize(
    "value", [b"", b"\x00\x02" + V0[2:], V0[:-1], V0[:30], V1[:30], b"\x00\x01" + HEAD + b"\xff" * 9]
)
def test_what_is_not_understood_is_said_so(value: bytes) -> None:
    """Another version, and bytes that end too soon, are an unknown format and no topics."""
    with pytest.raises(UnknownFormat):
        decode_value(value)


@given(st.binary(max_size=60), st.none() | st.binary(max_size=60))
def test_any_bytes_are_taken(key: bytes, value: bytes | None) -> None:
    """Whatever the bytes are, they are decoded or counted as unreadable."""
    log = TransactionLog()
    log.take(key, value)

    assert log.unreadable + len(log.topics) == (1 if log.unreadable or value is not None else 0)


@given(st.integers(0, len(V1)), st.binary(min_size=1, max_size=4))
def test_damaged_bytes_break_nothing(at: int, noise: bytes) -> None:
    """Bytes that are nearly right give topics, or an unknown format; nothing else comes of them."""
    with contextlib.suppress(UnknownFormat):
        assert isinstance(decode_value(V1[:at] + noise + V1[at + len(noise) :]), frozenset)


def test_history_adds_up() -> None:
    """An id has all topics that its records name: neither an ended transaction nor an expiry takes one away."""
    log = TransactionLog()
    for value in (V0[:2] + HEAD + bytes.fromhex("00000001 0003") + b"old" + bytes.fromhex("00000000") + TIMES, V0):
        log.take(KEY, value)
    log.take(KEY, ENDED[0])
    log.take(KEY, None)

    assert {"pay-tx": {"old", "orders", "audit"}} == log.topics
    assert not log.not_known


def test_id_that_expired_is_gone() -> None:
    """An id whose records name nothing stays as one of which nothing is known, until it expires."""
    log = TransactionLog()
    log.take(KEY, ENDED[0])
    assert {"pay-tx": set()} == log.topics

    log.take(KEY, None)
    assert {} == log.topics


def test_unknown_version_is_told() -> None:
    """Records of an unknown version, and a log that was not read to its end, make the log not known."""
    log = TransactionLog(not_read="it took too long")
    log.take(b"\x00\x07", V0)
    log.take(KEY, b"\x00\x09")

    assert not log.topics
    assert "it took too long; 2 records of __transaction_state have an unknown format" == log.not_known
