"""Rules of missing rights: a finding names operations, resources, clients and the command; unknown rights are none."""

from __future__ import annotations

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.kafka.cluster import Operation, Resource
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.rights.rights import Client, Need, Right, missing_findings, rights_for

ORDERS, PAY, GROUPS = Resource("topic", "orders"), Resource("topic", "pay"), Resource("group", "app-", is_prefix=True)
RIGHTS = [
    Right(ORDERS, Operation.READ, Client.AIRFLOW, Need.SYNC),
    Right(ORDERS, Operation.READ, Client.MIRRORMAKER, Need.SYNC),
    Right(PAY, Operation.READ, Client.SPARK, Need.SYNC),
    Right(GROUPS, Operation.READ, Client.AIRFLOW, Need.CUTOVER),
    Right(GROUPS, Operation.DELETE, Client.AIRFLOW, Need.RESTORE),
]


def test_all_that_is_missing_is_in_one_finding_for_each_operation() -> None:
    """The finding lists the resources and the clients, and its command grants what is missing."""
    granted = {ORDERS: {Operation.WRITE}, PAY: set[Operation](), GROUPS: {Operation.READ, Operation.DELETE}}
    (finding,) = missing_findings("source (connection old)", RIGHTS, granted, "User:me")

    assert (Code.RIGHT_MISSING, "source (connection old)") == (finding.code, finding.subject)
    assert "no right Read on topic orders, pay" == finding.found
    assert "these rights, for Airflow and MirrorMaker and Spark" == finding.expected
    assert finding.remedy.endswith("--allow-principal User:me --operation Read --topic orders --topic pay")


def test_commands_are_enough_for_a_new_login() -> None:
    """Brokers tell such a login neither whether it may create a topic nor its rights on what does not exist yet."""
    create = Right(ORDERS, Operation.CREATE, Client.AIRFLOW, Need.SYNC)
    known = Right(GROUPS, Operation.READ, Client.AIRFLOW, Need.SYNC)
    (finding,) = missing_findings(
        "source", [*RIGHTS[:3], create, known], {ORDERS: {Operation.CREATE}, GROUPS: {Operation.READ}}, "User:me"
    )

    assert "no right Read on topic orders" == finding.found
    assert "--operation Create --operation Read --topic orders" in finding.remedy
    assert "--operation Read --topic pay" in finding.remedy
    assert "app-" not in finding.remedy


def test_rights_that_are_not_known_are_not_missing() -> None:
    """A resource that the brokers do not report, such as a topic that does not exist yet, has no finding."""
    assert [] == list(missing_findings("source", RIGHTS, {}, "User:me"))


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (Mode.SYNC, RIGHTS[:3]),
        (Mode.VALIDATE, [RIGHTS[0], RIGHTS[2]]),
        (Mode.REHEARSE, RIGHTS[:3]),
        (Mode.CUTOVER, RIGHTS[:4]),
        (Mode.RESTORE, RIGHTS[4:]),
        (Mode.FAIL_BACK, []),
    ],
)
def test_each_mode_needs_its_own_rights(mode: Mode, expected: list[Right]) -> None:
    """A run is not refused for a right that only another mode needs."""
    assert expected == rights_for(mode, RIGHTS)
