"""Rules of groups whose application keeps offsets or state elsewhere."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from kafka_migration.core.cutover.plan_page import render_plan
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.groups.group_rules import plan_groups
from kafka_migration.core.groups.kept_elsewhere import kept_elsewhere
from kafka_migration.core.groups.offsets_plan import OffsetsPlan
from kafka_migration.core.kafka.cluster import GroupMember
from kafka_migration.core.migration.settings import Mode
from tests.unit.groups.copied_partition import DENSE, committed
from tests.unit.partitions import P0

STREAMS = ("orders-app-counts-changelog", "orders-app-by-user-repartition")


def said(group: str, clients: Collection[str] = (), topics: Collection[str] = ()) -> str:
    """Return what is found of a group; empty without a warning."""
    members = [GroupMember(f"{client}-id", client, "/10.0.0.1") for client in clients]
    found = kept_elsewhere([committed({}, name=group, source_members=members)], topics)
    return found[group].found if found else ""


@pytest.mark.parametrize(
    ("group", "clients", "topics", "words"),
    [
        ("orders-app", (), STREAMS, "Kafka Streams (its internal topics orders-app-by-user-repartition, orders-app-co"),
        ("orders", ["orders-5f-StreamThread-1-consumer"], (), "Kafka Streams (its member orders-5f-StreamThread-1-con"),
        ("connect-archive", (), (), "a sink of Kafka Connect (its id)"),
        ("archive", ["connector-consumer-archive-0"], (), "a sink of Kafka Connect (its member connector-consumer-"),
        ("KafkaSource--8812345678901", (), (), "a Flink job (its id)"),
        ("prod.Flink.orders", (), (), "a Flink job (its id)"),
        ("flink", (), (), "a Flink job (its id)"),
        ("billing", ["KafkaSource-77-enumerator"], (), "a Flink job (its member KafkaSource-77-enumerator)"),
        ("spark-kafka-source-0b1c-driver-0", (), (), "a query of Spark Structured Streaming (its id)"),
        ("spark-executor-shop", (), (), "a query of Spark Structured Streaming (its id)"),
        # More than one kind: the internal topics are the stronger evidence.
        ("connect-app", (), ["connect-app-x-changelog"], "Kafka Streams"),
    ],
)
def test_application_is_recognized(group: str, clients: Collection[str], topics: Collection[str], words: str) -> None:
    """Each kind is named with its evidence, and as a likeness only."""
    assert said(group, clients, topics).startswith(f"looks like {words}")


@pytest.mark.parametrize(
    "group", ["billing", "connect", "reconnect-x", "spark", "flinkster", "kafkasource", "", "a\nb"]
)
def test_other_groups_are_not(group: str) -> None:
    """Another word that only contains such a name, and topics of another application, are no evidence."""
    assert "" == said(group, ["consumer-billing-1", ""], ["orders-app-counts-changelog", "changelog"])


@pytest.mark.parametrize("at", [[5], []], ids=["moved", "left out"])
def test_plan_and_approval_name_it(at: list[int]) -> None:
    """The warning stands with the group, also if the group is left out; the digest does not depend on it."""
    groups = [committed(dict.fromkeys([P0], at[0]) if at else {}, name="connect-archive")]
    hints = kept_elsewhere(groups, ())
    plans = [plan_groups(groups, DENSE.translated(5), is_final=True, hints=each) for each in (hints, {})]
    warned, plain = (OffsetsPlan("t", Mode.CUTOVER, ("orders",), found, {}) for found in plans)

    assert Code.OFFSETS_KEPT_ELSEWHERE in {finding.code for finding in plans[0][0].warnings}
    text = render_plan(warned, "shop")
    assert "**OFFSETS_KEPT_ELSEWHERE** · group connect-archive\n" in text
    assert "sink of Kafka Connect" in text
    assert warned.digest == plain.digest
