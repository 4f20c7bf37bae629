"""Rules of which record MirrorMaker cannot copy, by its own words and by what the target takes."""

from __future__ import annotations

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.kafka.records import RecordShape
from kafka_migration.core.mirror.uncopyable import (
    Complaint,
    Reason,
    Takes,
    complaint_in,
    reason_of,
    refused_finding,
    sent_bytes,
    unlocated_findings,
)
from tests.unit.partitions import P0

# As Kafka 3.9.1 writes them.
ERRORS = "org.apache.kafka.common.errors."
TOO_LARGE = (
    f"Caused by: {ERRORS}RecordTooLargeException: The message is 9087 bytes when serialized which is larger than 2000, "
    "which is the value of the max.request.size configuration."
)
BUFFER = (
    f"{ERRORS}RecordTooLargeException: The message is 90000000 bytes when serialized which is larger than the total "
    "memory buffer you have configured with the buffer.memory configuration."
)
# The producer's settings are in the log of each start.
SETTINGS = "INFO ProducerConfig values:\n\tbuffer.memory = 33554432\n\tmax.request.size = 1048576\n"
BY_BROKER = f"{ERRORS}RecordTooLargeException: The request included a message larger than the max message size"
NO_KEY = "InvalidRecordException: Compacted topic cannot accept message without key in topic partition east.orders-0."
SAME_BATCH = (
    "KafkaException: Failed to append record because it was part of a batch which had one more more invalid records"
)
NEGATIVE = "org.apache.kafka.common.InvalidRecordException: Invalid record timestamp -5"
BY_PRODUCER = "java.lang.IllegalArgumentException: Invalid timestamp: -5. Timestamp should always be non-negative"
LIMITED = f"{ERRORS}InvalidTimestampException: Timestamp 77 of message with offset 3 is out of range."
TAKES = Takes({"orders": 2000, "audit": 1000}, frozenset({"orders"}), {"orders": "east.orders", "audit": "audit"}, 5000)


def shape(offset: int = 4, at: int = 1, key: int | None = 1, value: int | None = 10) -> RecordShape:
    return RecordShape(P0, offset, at, key, value)


def complaint(text: str) -> Complaint:
    found = complaint_in(text)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "record", "reason"),
    [
        (TOO_LARGE, shape(value=2000), Reason.TOO_LARGE),
        (TOO_LARGE, shape(value=1800), None),
        (BUFFER, shape(value=5000), Reason.TOO_LARGE),
        (BUFFER, shape(value=4000), None),
        (BY_BROKER, shape(value=2000), Reason.TOO_LARGE),
        (BY_BROKER, shape(value=1900), None),
        (f"{SETTINGS}\n{BY_BROKER}", shape(value=2000), Reason.TOO_LARGE),
        ("WARN splitting and retrying (5 attempts left)", shape(value=2000), Reason.TOO_LARGE),
        (TOO_LARGE, shape(key=None, at=-5), None),
        (NO_KEY, shape(key=None), Reason.NO_KEY),
        (NO_KEY, shape(key=0, value=9000), None),
        (SAME_BATCH, shape(key=None), Reason.NO_KEY),
        (SAME_BATCH, shape(), None),
        (NEGATIVE, shape(at=-5), Reason.TIME),
        (BY_PRODUCER, shape(at=-2), Reason.TIME),
        (NEGATIVE, shape(at=-1), None),
        (LIMITED, shape(at=77), Reason.TIME),
        (LIMITED, shape(at=78), None),
        ("WARN Got error CORRUPT_MESSAGE", shape(key=None), Reason.NO_KEY),
    ],
)
def test_record_breaks_the_rule_of_which_mirrormaker_speaks(
    text: str, record: RecordShape, reason: Reason | None
) -> None:
    """A record is named only for a reason that MirrorMaker's words mean, and only if it breaks that rule."""
    assert reason is reason_of(record, complaint(text), TAKES)


def test_record_without_a_key_is_well_where_nothing_is_compacted() -> None:
    """Only a compacted target refuses it."""
    audit = RecordShape(P0._replace(topic="audit"), 0, 1, None, 1)

    assert reason_of(audit, complaint(NO_KEY), TAKES) is None


@pytest.mark.parametrize("text", ["", "INFO all is well", "java.lang.OutOfMemoryError", "TimeoutException: Expiring"])
def test_other_causes_are_none_of_a_record(text: str) -> None:
    """Nothing is searched for any other cause."""
    assert complaint_in(text) is None


def test_size_is_that_of_kafkas_producer() -> None:
    """The size is the one in the producer's own message: 9,000 bytes without a key make 9,087 (Kafka 3.9.1)."""
    assert 9087 == sent_bytes(shape(key=None, value=9000))
    assert 9087 + 1 + 2 + 1 + 3 == sent_bytes(RecordShape(P0, 0, 1, None, 9000, headers=((2, 3),)))


@pytest.mark.parametrize(
    ("line", "topic"),
    [
        ("ERROR WorkerSourceTask{id=MirrorSourceConnector-0} failed to send record to east.orders: ", "east.orders"),
        ("ERROR Error when sending message to topic east.orders with key: null, value: 9000 bytes", "east.orders"),
        ("WARN Got error produce response on topic-partition east.orders-1, splitting and retrying", "east.orders"),
    ],
)
def test_topic_is_named_by_the_log(line: str, topic: str) -> None:
    """Both engines log the target topic, which narrows the search."""
    assert {topic} == complaint(f"{line}\n{TOO_LARGE}").topics


def test_quote_is_the_newest_exception() -> None:
    """What is quoted begins with the exception's name; what comes before it in the line is no news."""
    text = f"[2026-11-25 21:50:28] ERROR {BY_BROKER}\n[2026-11-25] ERROR x … {TOO_LARGE}\nINFO shutting down"

    assert TOO_LARGE.removeprefix("Caused by: ") == complaint(text).quote


@pytest.mark.parametrize(
    ("text", "record", "code", "act"),
    [
        (TOO_LARGE, shape(value=2000), Code.RECORD_TOO_LARGE, "It is lower on: audit, east.orders."),
        (BUFFER, shape(value=5000), Code.RECORD_TOO_LARGE, "producer.buffer.memory in mirror.properties"),
        (NO_KEY, shape(key=None), Code.RECORD_WITHOUT_KEY, "--entity-name east.orders --add-config cleanup.policy=del"),
        (NEGATIVE, shape(at=-5), Code.RECORD_TIME_REFUSED, "No client of Kafka sends this time"),
        (LIMITED, shape(at=77), Code.RECORD_TIME_REFUSED, "Remove message.timestamp.* of topic east.orders"),
    ],
)
def test_finding_names_the_record_and_what_lets_the_others_continue(
    text: str, record: RecordShape, code: Code, act: str
) -> None:
    """It has the partition, the offset, MirrorMaker's words, the change for this topic and that for the others."""
    said = complaint(text)
    reason = reason_of(record, said, TAKES)
    assert reason is not None
    finding = refused_finding(record, reason, said, TAKES)

    assert (code, "orders[0]") == (finding.code, finding.subject)
    assert "the record at offset 4, " in finding.found
    assert said.quote in finding.found
    assert act in finding.remedy
    assert "To continue with the other topics, remove this one from topics" in finding.remedy


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (TOO_LARGE, [Code.RECORD_TOO_LARGE]),
        (NO_KEY, [Code.RECORD_WITHOUT_KEY]),
        (NEGATIVE, [Code.RECORD_TIME_REFUSED]),
        (SAME_BATCH, []),
    ],
)
def test_cause_has_the_same_code_if_the_record_is_not_found(text: str, codes: list[Code]) -> None:
    """The code says the cause, whether or not the record was found; an uncertain cause is not claimed."""
    assert codes == [finding.code for finding in unlocated_findings(complaint(text))]
