"""Differences of existing topics, and the commands that change them."""

from __future__ import annotations

import shlex
from dataclasses import replace

import pytest

from kafka_migration.core.kafka.cluster import TopicDescription
from kafka_migration.core.ledger.cutovers import CreatedTopic, TopicsCreated
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.engine_table import EngineName
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.target.planned_topics import TopicsSeen, drift_findings
from tests.folded import fold

NOTHING = fold([])
KEPT = {"retention.ms": "-1", "retention.bytes": "-1"}
OURS = fold([TopicsCreated("r", "t", {"orders": CreatedTopic("id", {"retention.ms": "1000"})}).to_document()])


def seen(migration: Migration, source: dict[str, str], target: dict[str, str]) -> TopicsSeen:
    sides = [{"orders": TopicDescription("orders", "id", 1, configs)} for configs in (source, target)]
    return TopicsSeen(migration, sides[0], sides[1], NOTHING)


@pytest.mark.parametrize(
    ("source", "target", "found", "options"),
    [
        (
            {"cleanup.policy": "compact,delete"},
            {},
            "cleanup.policy not set instead of compact,delete",
            ["--add-config", "cleanup.policy=[compact,delete]"],
        ),
        ({}, {"retention.ms": "5"}, "retention.ms 5 instead of not set", ["--delete-config", "retention.ms"]),
        (
            {"max.message.bytes": "9", "retention.ms": "7"},
            {"retention.ms": "5", "segment.ms": "2"},
            "max.message.bytes not set instead of 9; retention.ms 5 instead of 7; segment.ms 2 instead of not set",
            ["--add-config", "max.message.bytes=9,retention.ms=7", "--delete-config", "segment.ms"],
        ),
    ],
)
def test_a_difference_has_its_command(
    migration: Migration, source: dict[str, str], target: dict[str, str], found: str, options: list[str]
) -> None:
    """The warning names each setting, and its command gives the topic the settings of the source."""
    (finding,) = drift_findings(seen(migration, source, target))
    command = shlex.split(finding.remedy.partition(": ")[2])

    assert (finding.code, finding.subject, finding.found) == ("TOPIC_CONFIG_DIFFERS", "topic orders", found)
    assert command[-len(options) :] == options
    assert command[command.index("--entity-name") + 1] == "orders"


def test_equal_settings_and_frozen_retention_are_no_difference(migration: Migration) -> None:
    """A topic that the migration created differs only by the retention that it disabled."""
    same = {"segment.ms": "2"}
    frozen = {"retention.ms": "-1", "retention.bytes": "-1"}
    ours = TopicsSeen(
        migration,
        {"orders": TopicDescription("orders", "id", 1, {"retention.ms": "1000"})},
        {"orders": TopicDescription("orders", "id", 1, frozen)},
        OURS,
    )

    assert [*drift_findings(seen(migration, same, same)), *drift_findings(ours)] == []


@pytest.mark.parametrize(
    ("engine", "on_target", "ledger", "expected"),
    [
        (
            "mirrormaker1",
            2,
            NOTHING,
            "kafka-topics.sh --bootstrap-server TARGET:9092 --topic orders --alter --partitions 4",
        ),
        ("mirrormaker1", 6, NOTHING, "kafka-topics.sh --bootstrap-server TARGET:9092 --topic orders --delete"),
        ("mirrormaker1", 4, NOTHING, None),
        ("mirrormaker1", 2, OURS, None),
        ("mirrormaker2", 2, NOTHING, None),
    ],
)
def test_other_partitions_have_their_command(
    migration: Migration, engine: EngineName, on_target: int, ledger: Ledger, expected: str | None
) -> None:
    """MirrorMaker 1 may copy into other partitions, which is a warning; a run adds missing ones to its own topics.

    Only a topic without records may be deleted.
    """
    own = replace(migration, mirror=replace(migration.mirror, engine=engine))
    source, target = ({"orders": TopicDescription("orders", "id", count, {})} for count in (4, on_target))
    target = {"orders": replace(target["orders"], configs=KEPT if ledger is OURS else {})}
    found = [finding.remedy.partition(": ") for finding in drift_findings(TopicsSeen(own, source, target, ledger))]

    assert [command for *_, command in found] == ([] if expected is None else [expected])
    assert all(("no records" in when) == command.endswith("--delete") for when, _, command in found)
