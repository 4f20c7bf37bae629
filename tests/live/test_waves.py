"""A cutover in two waves, and its way back, on real parts; groups whose names mean something to shells and browsers."""

from __future__ import annotations

import csv
import io
import json

import pytest
from confluent_kafka import Producer

from kafka_migration.core.migration.settings import Phase
from tests.live.conftest import LiveWorld
from tests.live.groups import Offsets, approve, awaiting, commit, committed, ends, read_on
from tests.live.migrations import LiveMigration

pytestmark = [pytest.mark.live, pytest.mark.campaign]

LATER = "waves-later"
HOSTILE = (
    "two words",
    "\"quoted\" and 'that'",
    "<script>alert(1)</script>",
    "$(touch /tmp/never); `id` & rm",
    '=HYPERLINK("http://e.vil","x")',
    "new\nline",
    "a,b;c|d",
    "[x](javascript:alert(1))",
    "\u202egnp.\u00fc",
)


def cut_over(live: LiveWorld, migration: LiveMigration, mode: str = "cutover", **conf: object) -> str:
    """Do a whole cutover or rollback; return its question."""
    run_id = awaiting(migration, mode, **conf)
    question = live.api.question(migration.dag_id, run_id, "approve")
    approve(live.api, migration, run_id)
    assert_files_restore(migration, run_id)
    return question


def phase_of(migration: LiveMigration) -> Phase:
    return migration.ledger.phase


def assert_files_restore(migration: LiveMigration, run_id: str) -> None:
    """What was saved for Kafka's own tool reads as lines of four fields, whatever the groups are called."""
    text = (migration.evidence(run_id).folder / "offsets-before-source.csv").read_text()
    rows = list(csv.reader(io.StringIO(text)))
    assert rows
    assert {4} == {len(row) for row in rows}
    assert all(row[0].startswith(migration.name) and row[3].isdigit() for row in rows)


def assert_old_cluster_is_kept(migration: LiveMigration, groups: list[str]) -> None:
    """Asked on the command line, both clusters say that only the groups that read nowhere keep the source."""
    asked = migration.cli("decommission", "--quiet-for", "1s", "--overlap", "1s", "-o", "json")
    conditions = json.loads(asked.stdout)["conditions"]

    assert (5, "") == (asked.returncode, asked.stderr)
    unmet = {each["condition"]: each["state"] for each in conditions if each["state"] != "met"}
    assert {"The moved groups read on the target": "not met"} == unmet
    assert len(groups) + 1 == sum(len(each["reasons"]) for each in conditions)


def test_two_waves(live: LiveWorld) -> None:
    """Groups of the first wave read on on the target; the other topic is mirrored on, and its group moves later.

    Taken back, they stand on both sides as they did before.
    """
    migration = live.migration("waves", more_topics=f", {LATER}")
    migration.create_topic(LATER)
    for topic in (migration.name, LATER):
        migration.produce(200, topic=topic)
    half: Offsets = {p: end // 2 for p, end in ends(migration.source, migration.name).items()}
    hostile = [f"{migration.name}-{name}" for name in HOSTILE]
    for group in hostile:
        commit(migration.source, group, migration.name, half)
    commit(migration.source, "waves-last", LATER, half)

    question = cut_over(live, migration, topics=[migration.name])

    assert "<script>" not in question
    assert "](javascript" not in question
    assert [half] * len(hostile) == [committed(migration.target, group, migration.name) for group in hostile]
    until = ends(migration.target, migration.name)
    assert sum(until.values()) - sum(half.values()) == len(read_on(migration.target, hostile[2], migration.name, until))
    assert Phase.CUTTING_OVER is phase_of(migration)

    producer = Producer(migration.target)
    producer.produce(migration.name, b"written on the target")
    assert producer.flush(60) == 0
    migration.produce(60, first=200, topic=LATER)
    between = migration.run("sync")
    assert ("success", "PASS") == (between["state"], between["verdict"])
    generation = migration.ledger.last_generation
    assert generation is not None
    assert {LATER} == set(generation.topics)

    cut_over(live, migration)

    assert Phase.CUT_OVER is phase_of(migration)
    assert half == committed(migration.target, "waves-last", LATER)
    until = ends(migration.source, LATER)
    read = read_on(migration.target, "waves-last", LATER, until)
    assert sorted(read_on(migration.source, "waves-last", LATER, until)) == sorted(read)
    assert ["ALREADY_CUT_OVER"] == [finding["code"] for finding in migration.run("sync")["findings"]]

    assert_old_cluster_is_kept(migration, hostile)
    back = migration.way_back()
    question = cut_over(live, back, mode="restore", leave_records_of=[migration.name])

    assert "<script>" not in question
    assert "](javascript" not in question
    assert [{}] * len(hostile) == [committed(migration.target, group, migration.name) for group in hostile]
    assert [half] * len(hostile) == [committed(migration.source, group, migration.name) for group in hostile]
    assert Phase.ROLLED_BACK is migration.ledger.phase
    assert ["TARGET_WRITTEN_BY_OTHERS"] == [finding["code"] for finding in migration.run("sync")["findings"]]
