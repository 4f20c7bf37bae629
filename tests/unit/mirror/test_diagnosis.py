"""Rules of what MirrorMaker says of itself, and of why a partition may stand still."""

from __future__ import annotations

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.mirror.diagnosis import (
    NO_SIGN,
    OPEN_TRANSACTION,
    explained,
    health_findings,
    likely_cause,
    unassigned_finding,
)
from kafka_migration.core.mirror.engine import FailedTask, MirrorHealth

TRACE = "ConnectException: Unrecoverable\n\tat x\nCaused by: A\nCaused by: RecordTooLargeException: 2 MB\n\tat y"


def test_health_names_everything_that_is_wrong() -> None:
    """The findings are failed tasks with their causes, then the configuration, then alarms of the log."""
    health = MirrorHealth(failed=(FailedTask("task-0", TRACE),), differences=("topics is a, not b",))
    findings = health_findings(health, "WARN splitting and retrying")

    assert [Code.MIRROR_TASK_FAILED, Code.CONFIG_NOT_EFFECTIVE, Code.RECORD_TOO_LARGE] == [f.code for f in findings]
    expected = "task-0: ConnectException: Unrecoverable … Caused by: RecordTooLargeException: 2 MB"
    assert expected == findings[0].found
    assert "topics is a, not b" == findings[1].found
    assert "its log: WARN splitting and retrying" == findings[2].found
    assert () == health_findings(MirrorHealth(assigned=frozenset()), "")


def test_unassigned_partitions_are_counted_and_the_first_is_named() -> None:
    """One finding for all, whatever their order."""
    finding = unassigned_finding([TopicPartition("b", 1), TopicPartition("a", 2)], 61.7)

    assert (Code.PARTITION_NOT_ASSIGNED, "a[2]") == (finding.code, finding.subject)
    assert "2 partition(s) without a MirrorMaker task for 62 s" == finding.found


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("ERROR RecordTooLargeException: The message is 2000000 bytes", "too large"),
        ("WARN MESSAGE_TOO_LARGE, splitting and retrying (5 attempts left)", "too large"),
        ("ERROR TopicAuthorizationException: Not authorized to access topics: [orders]", "lacks a right"),
        ("ERROR SaslAuthenticationException: Authentication failed", "cannot log in"),
        ("WARN Got error NOT_ENOUGH_REPLICAS on topic-partition orders-0", "not enough replicas"),
        ("ERROR CorruptRecordException: This message has failed its CRC checksum", "rejects a record"),
        ("WARN Connection to node 1 (b/10.0.0.1:9092) could not be established", "unreachable"),
        ("java.lang.OutOfMemoryError: Java heap space", "out of memory"),
        ("org.apache.kafka.common.errors.TimeoutException: Expiring 3 record(s)", "too late"),
    ],
)
def test_log_line_tells_the_cause(line: str, cause: str) -> None:
    """Each known complaint of the clients is put in words, with the line that says so."""
    told = likely_cause(f"INFO well\n  {line}\nINFO well again\n", open_transaction=False)

    assert cause in told
    assert told.endswith(f"MirrorMaker says: {line.removeprefix('ERROR ')}")


def test_newest_complaint_counts() -> None:
    """What was logged last is nearer to the stall than what was logged first."""
    log = "ERROR RecordTooLargeException\nWARN NOT_ENOUGH_REPLICAS\nINFO well"

    assert "replicas" in likely_cause(log, open_transaction=False)


def test_open_transaction_explains_more_than_the_log() -> None:
    """An open transaction is the cause whatever the log contains; without any sign, the text says so."""
    assert OPEN_TRANSACTION == likely_cause("ERROR RecordTooLargeException", open_transaction=True)
    assert NO_SIGN == likely_cause("INFO well\n", open_transaction=False)


def test_only_stalled_partitions_are_explained() -> None:
    """A known cause is added to the finding of a stalled partition only."""
    codes = ((Code.MIRROR_STALLED, "a[0]"), (Code.MIRROR_STALLED, "b[0]"), (Code.GAP_DURING_RUN, "a[0]"))
    findings = explained((Finding(code, subject, "x", "y", "Z.") for code, subject in codes), {"a[0]": "no disk"})

    assert ["x; likely cause: no disk", "x", "x"] == [f.found for f in findings]
