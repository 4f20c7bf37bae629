"""The room for the copy on the target's disks."""

from __future__ import annotations

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.preflight.host.target_space_check import LogDirs, SpaceNeed, needed_bytes, space_findings
from kafka_migration.preflight.scene.check import UnknownFact

# As Kafka 3.9.1 prints it, shortened.
OUTPUT = """\
[DEBUG] [AdminClient clientId=x] Received METADATA response from node -1 for request y: MetadataResponseData()
[DEBUG] [AdminClient clientId=x] Received DESCRIBE_LOG_DIRS response from node 1 for request with header y: \
DescribeLogDirsResponseData(throttleTimeMs=0, errorCode=0, results=[\
DescribeLogDirsResult(errorCode=0, logDir='/a', topics=[DescribeLogDirsTopic(name='a-b', partitions=[])], \
totalBytes=1000, usableBytes=600), \
DescribeLogDirsResult(errorCode=56, logDir='/broken', topics=[], totalBytes=-1, usableBytes=-1)]) (o.a.k.NetworkClient)
Querying brokers for log directories information
[DEBUG] [AdminClient clientId=x] Received DESCRIBE_LOG_DIRS response from node 2 for request with header y: \
DescribeLogDirsResponseData(results=[DescribeLogDirsResult(errorCode=0, logDir='/a', topics=[], totalBytes=9, \
usableBytes=7)]) (o.a.k.NetworkClient)
Received log directory information from brokers 1,2
{"brokers":[{"broker":1,"logDirs":[{"partitions":[{"partition":"a-b-0","size":100,"offsetLag":0,"isFuture":false},\
{"partition":"a-b-0","size":50,"offsetLag":9,"isFuture":true}],"error":null,"logDir":"/a"}]},\
{"broker":2,"logDirs":[{"partitions":[{"partition":"a-b-0","size":90,"offsetLag":0,"isFuture":false}],"error":null,\
"logDir":"/a"}]}],"version":1}
"""
PARTITION = TopicPartition("a-b", 0)


def test_output_has_sizes_and_free_bytes() -> None:
    """Sizes are those of the replicas in their place, and free bytes those that brokers report."""
    found = LogDirs.of(OUTPUT)

    assert LogDirs({PARTITION: {1: 100, 2: 90}}, {(1, "/a"): 600, (2, "/a"): 7}) == found


def test_brokers_before_kafka_3_3_report_no_free_bytes() -> None:
    """Where brokers report no free bytes, none are known; other words than the tool's are unknown too."""
    old = LogDirs.of(OUTPUT.replace("totalBytes", "x"))

    assert isinstance(old, LogDirs)
    assert {} == old.usable
    assert isinstance(LogDirs.of(""), UnknownFact)
    assert isinstance(LogDirs.of('{"brokers":[{"broker":1}]}'), UnknownFact)


def test_copy_needs_what_is_missing() -> None:
    """A new topic needs its largest replica times the factor; an existing one its own replicas, less what they hold."""
    source = LogDirs({PARTITION: {1: 100, 2: 90}, TopicPartition("other", 0): {1: 9999}}, {})
    half = LogDirs({TopicPartition("new.a-b", 0): {4: 60, 5: 60}}, {})
    full = LogDirs({TopicPartition("new.a-b", 0): {4: 600, 5: 600}}, {})
    names = {"a-b": "new.a-b"}

    assert [SpaceNeed(300, 100), SpaceNeed(80, 40), SpaceNeed(0, 0)] == [
        needed_bytes(source, there, names, 3) for there in (LogDirs({}, {}), half, full)
    ]


def test_target_without_room_is_refused() -> None:
    """A copy that needs more than all brokers have free is refused; one that needs as much is not."""
    usable = {(1, "/a"): 300, (1, "/b"): 300, (2, "/a"): 7}

    assert [Code.TARGET_SPACE_TOO_SMALL] == [finding.code for finding in space_findings(SpaceNeed(608, 608), usable)]
    assert [] == list(space_findings(SpaceNeed(607, 607), usable))


def test_free_bytes_of_one_broker_help_no_other() -> None:
    """Replicas of a partition are on different brokers, so a full broker is not made up for by the others."""
    usable = {(1, "/a"): 100, (2, "/a"): 100, (3, "/a"): 10}

    assert [Code.TARGET_SPACE_TOO_SMALL] == [finding.code for finding in space_findings(SpaceNeed(150, 50), usable)]
    assert [] == list(space_findings(SpaceNeed(110, 50), usable))
