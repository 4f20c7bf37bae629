"""A cluster that nothing has used yet: it has no coordinator of groups."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.core.kafka.cluster import Resource
from sandbox.sandbox import Sandbox

pytestmark = [pytest.mark.live, pytest.mark.campaign]

GROUP = Resource("group", "billing")


@pytest.mark.parametrize("version", ["3.2.0", "3.9.1"])
def test_rights_on_groups_are_known(version: str, tmp_path: Path) -> None:
    """The first question about a group gets an answer, although the brokers create the topic of groups only then."""
    with Sandbox(tmp_path / "sandbox", airflow=False, versions={"source": version, "target": version}) as sandbox:
        assert GROUP in granted(sandbox.state.target_bootstrap)


def granted(bootstrap: str) -> Mapping[Resource, object]:
    """Return what a new client may do; the client is gone before the brokers are, or librdkafka waits for them."""
    cluster = ConfluentCluster("target", {"bootstrap.servers": bootstrap})
    try:
        return cluster.granted([GROUP])
    finally:
        cluster.close()
