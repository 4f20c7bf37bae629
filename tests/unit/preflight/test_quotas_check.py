"""The quotas that may slow MirrorMaker, and the time of a cluster."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kafka_migration.preflight.host.tools_checks import controller_time, quota_findings, quotas_of
from kafka_migration.preflight.scene.check import UnknownFact

# As Kafka 3.9.1 prints it.
OUTPUT = """\
Quota configs for user-principal 'mirror' are producer_byte_rate=1024.0
Quota configs for user-principal 'other' are producer_byte_rate=1.0
Quota configs for the default user-principal are consumer_byte_rate=5.0
Quota configs for client-id 'app' are producer_byte_rate=2.0
Quota configs for the default client-id are request_percentage=10.0, controller_mutation_rate=3.0
Quota configs for user-principal 'mirror', client-id 'app' are producer_byte_rate=3.0
Quota configs for the default user-principal, the default client-id are producer_byte_rate=4.0
SCRAM credential configs for user-principal 'mirror' are SCRAM-SHA-256=iterations=8192
"""


@pytest.mark.parametrize(
    ("side", "rates"),
    [
        ("source", ["consumer_byte_rate=5.0", "request_percentage=10.0"]),
        ("target", ["producer_byte_rate=1024.0", "request_percentage=10.0", "producer_byte_rate=4.0"]),
    ],
)
def test_quotas_of_the_login_and_of_everyone_are_warned_of(side: str, rates: list[str]) -> None:
    """Only quotas of the login, or of every user or client, slow MirrorMaker, and only with rates of that side."""
    found = quota_findings(side, OUTPUT, "User:mirror")  # type: ignore[arg-type]

    assert rates == [finding.found.rpartition(": ")[2] for finding in found]


def test_credentials_are_no_quotas() -> None:
    """Lines about SCRAM credentials and entities without a quota are left out; an older wording is read too."""
    assert 7 == len(quotas_of(OUTPUT))
    assert () == quotas_of("Quota configs for client-id 'app' are \n")
    assert 1 == len(quotas_of("Configs for client-id 'app' are producer_byte_rate=2.0\n"))


def test_leader_shows_the_time() -> None:
    """The last fetch of the leader is the cluster's time, with and without the column of directory ids."""
    new = "NodeId DirectoryId LogEndOffset Lag LastFetchTimestamp LastCaughtUpTimestamp Status\n"
    rows = "2 AAA 8 0 1000 1000 Follower\n1 AAA 8 0 1795558429892 1795558429892 Leader\n"
    expected = datetime(2026, 11, 24, 22, 13, 49, 892000, tzinfo=UTC)

    assert expected == controller_time(new + rows)
    assert expected == controller_time(rows.replace("AAA ", ""))


@pytest.mark.parametrize("output", ["", "1 AAA 8 0 -1 -1 Leader", "1 AAA 8 0 1795558429892 1795558429892 Observer"])
def test_cluster_without_a_leaders_fetch_shows_no_time(output: str) -> None:
    """Without a leader that shows its last fetch, the time is unknown."""
    assert isinstance(controller_time(output), UnknownFact)
