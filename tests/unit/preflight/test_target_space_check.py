"""The room for the copy on the target's disks."""

from __future__ import annotations

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.preflight.host.target_space_check import LogDirs, SpaceNeed, needed_bytes, space_findings

PARTITION = TopicPartition("a-b", 0)


def test_answer_has_sizes_and_free_bytes() -> None:
    """Sizes are by partition and broker, and free bytes by broker."""
    found = LogDirs.from_document({"sizes": {"a-b": {"0": {"1": 100, "2": 90}}}, "free": {"1": 600}})

    assert LogDirs({PARTITION: {1: 100, 2: 90}}, {1: 600}) == found


def test_partition_without_replicas_needs_nothing() -> None:
    """A partition of which no broker has a replica has no size that is known."""
    assert SpaceNeed(0, 0) == needed_bytes(LogDirs({PARTITION: {}}, {}), LogDirs({}, {}), {"a-b": "a-b"}, 3)


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
    free = {1: 600, 2: 7}

    assert [Code.TARGET_SPACE_TOO_SMALL] == [finding.code for finding in space_findings(SpaceNeed(608, 608), free)]
    assert [] == list(space_findings(SpaceNeed(607, 607), free))


def test_free_bytes_of_one_broker_help_no_other() -> None:
    """Replicas of a partition are on different brokers, so a full broker is not made up for by the others."""
    free = {1: 100, 2: 100, 3: 10}

    assert [Code.TARGET_SPACE_TOO_SMALL] == [finding.code for finding in space_findings(SpaceNeed(150, 50), free)]
    assert [] == list(space_findings(SpaceNeed(110, 50), free))
