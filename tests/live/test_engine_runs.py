"""Whole runs of every engine, with every kind of topic names, on a live Airflow."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from sandbox.data.reading import read_records
from sandbox.data.records import Record
from sandbox.data.topics import wait_until_led
from tests.live.conftest import LiveWorld
from tests.live.invariants import require_complete_copy
from tests.live.migrations import LiveMigration

pytestmark = [pytest.mark.live, pytest.mark.campaign]

PREFIXED = "  topic_names:\n    naming: prefixed"


def _all(bootstrap: str, topic: str) -> list[Record]:
    """Return the records of all partitions, one partition after the other."""
    placed = read_records(bootstrap, topic)
    return [each.record for partition in sorted(placed) for each in placed[partition]]


def _two_syncs(migration: LiveMigration) -> list[dict[str, Any]]:
    """Copy 300 records, then 40 more, in two runs; return both documents."""
    migration.produce(300)
    first = migration.run()
    migration.produce(40, first=300)
    return [first, migration.run()]


def _outcomes(documents: list[dict[str, Any]]) -> list[tuple[object, object]]:
    return [(document["state"], document["verdict"]) for document in documents]


def test_exactly_once_copies_are_proved(live: LiveWorld) -> None:
    """With exactly-once the target has transaction markers of its own, and the copy passes all the same."""
    migration = live.migration("exactly-once", mirror="  exactly_once: true")

    assert [("success", "PASS")] * 2 == _outcomes(_two_syncs(migration))
    require_complete_copy(migration)
    assert all(g.stop is not None and g.stop.graceful for g in migration.ledger.generations)


def test_prefixed_names_are_proved(live: LiveWorld) -> None:
    """A copy under a prefixed name is made, grown and validated like any other, and nothing bears the old name."""
    migration = live.migration("prefixed", mirror=PREFIXED)
    documents = _two_syncs(migration)
    bootstrap = migration.target["bootstrap.servers"]

    assert [("success", "PASS")] * 2 == _outcomes(documents)
    assert _all(migration.source["bootstrap.servers"], "prefixed") == _all(bootstrap, "prefixed-source.prefixed")


def test_both_directions_at_once_with_prefixes(live: LiveWorld) -> None:
    """Two migrations in opposite directions mirror at the same time, each into topics of its own."""
    there = live.migration("there", mirror=PREFIXED)
    back = live.migration("back", source="demo_target", target="demo_source", mirror=PREFIXED)
    for migration in (there, back):
        migration.produce(400)
    runs = [(migration, migration.trigger()) for migration in (there, back)]

    ended = [(migration, migration.finished(run_id)) for migration, run_id in runs]

    assert ["success"] * 2 == [run.state for _, run in ended]
    assert ["PASS"] * 2 == [migration.document(run.run_id)["verdict"] for migration, run in ended]
    for migration, name in ((there, "there"), (back, "back")):
        copied = _all(migration.target["bootstrap.servers"], f"{name}-source.{name}")
        assert _all(migration.source["bootstrap.servers"], name) == copied


def test_mirrormaker1_copies_are_proved_over_other_partitions(live: LiveWorld) -> None:
    """MirrorMaker 1 copies each record once, over two runs, into more partitions; compared by key the copy passes."""
    migration = live.migration("mm1", mirror="  engine: mirrormaker1")
    admin = AdminClient(migration.target)
    admin.create_topics([NewTopic("mm1", 5, 1)])["mm1"].result(60)
    wait_until_led(migration.target["bootstrap.servers"], {"mm1": 5})
    documents = _two_syncs(migration)
    source, target = (_all(side["bootstrap.servers"], "mm1") for side in (migration.source, migration.target))

    assert [("success", "PASS")] * 2 == _outcomes(documents)
    assert Counter(record._replace(partition=0) for record in source) == Counter(
        record._replace(partition=0) for record in target
    )
    assert [True, True] == [g.stop is not None and g.stop.graceful for g in migration.ledger.generations]
    assert ([], None) == (migration.mirror_pids(), migration.reservation)
