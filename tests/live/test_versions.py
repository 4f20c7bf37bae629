"""Whole migrations between brokers of other Kafka versions, and with MirrorMakers of other versions.

Each cell of the matrix is a cutover on a real Airflow: copied, validated, approved, groups moved and read on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from kafka_migration.core.findings.verdict import Verdict
from sandbox.jars import KAFKA_VERSION, fetched_kafka
from tests.live.conftest import LiveWorld
from tests.live.groups import awaiting, commit, committed, decide, ends, read_on
from tests.live.invariants import require_complete_copy
from tests.live.worlds import own_world
from tests.topic_verdicts import topic_verdict

pytestmark = [pytest.mark.live, pytest.mark.campaign, pytest.mark.runs]

MIRRORMAKERS = {
    ("2.4.1", "3.2.0"): ("3.9.1", "4.2.0"),
    ("3.9.1", "4.2.0"): ("3.9.1", "4.2.0"),
    ("3.9.1", "3.9.1"): ("4.0.0", "4.1.1", "4.2.0"),
}
CELLS = [
    pytest.param(pair, mirrormaker, id=f"{pair[0]}-to-{pair[1]}-with-{mirrormaker}")
    for pair, mirrormakers in MIRRORMAKERS.items()
    for mirrormaker in mirrormakers
]


@pytest.fixture
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, spark_submit: dict[str, str]
) -> Iterator[LiveWorld]:
    """A pair of clusters with Airflow; for the sandbox's own version, the one of all other tests of whole runs."""
    source, target = request.param
    if {source, target} == {KAFKA_VERSION}:
        yield request.getfixturevalue("live")
        return
    versions = {"source": source, "target": target}
    root = tmp_path_factory.mktemp("versions")
    with own_world(root, spark_submit, secured=False, versions=versions) as made:
        yield made


def configure(side: Mapping[str, str], topic: str, settings: Mapping[str, str]) -> None:
    """Set settings of a topic."""
    entries = [ConfigEntry(*each, incremental_operation=AlterConfigOpType.SET) for each in settings.items()]
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=entries)
    admin = AdminClient(dict(side))
    for future in admin.incremental_alter_configs([resource]).values():
        future.result(60)


@pytest.mark.parametrize(("world", "mirrormaker"), CELLS, indirect=["world"])
def test_consumers_move_to_a_proved_copy(world: LiveWorld, mirrormaker: str) -> None:
    """A copy and its continuation pass, each group reads on at its next record, and each stop is in order."""
    name = f"with-{mirrormaker.replace('.', '-')}"
    migration = world.migration(name, mirror=f"  kafka_home: {fetched_kafka(mirrormaker)}")
    # Kafka 4 refuses this setting.
    configure(migration.source, name, {"message.format.version": "2.4"})
    migration.produce(400)
    at_end = ends(migration.source, name)
    groups = {f"{name}-end": at_end, f"{name}-middle": {p: end // 2 for p, end in at_end.items()}}
    for group, offsets in groups.items():
        commit(migration.source, group, name, offsets)

    first = migration.run("sync")
    assert ("success", "PASS") == (first["state"], first["verdict"]), first["findings"]
    migration.produce(30, first=400)
    run_id = awaiting(migration)
    decide(world.api, migration, run_id, "Approve")

    assert "success" == migration.finished(run_id).state, migration.document(run_id)["findings"]
    assert Verdict.PASS is topic_verdict(migration.ledger, name)
    require_complete_copy(migration)
    until = ends(migration.source, name)
    for group, offsets in groups.items():
        assert offsets == committed(migration.target, group, name)
        expected = sorted(read_on(migration.source, group, name, until))
        assert expected == sorted(read_on(migration.target, group, name, until))
    assert [True, True] == [g.stop is not None and g.stop.graceful for g in migration.ledger.generations]
    assert ([], None) == (migration.mirror_pids(), migration.reservation)
