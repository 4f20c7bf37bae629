"""Runs that do not end well: each cause starts a run of a migration with records, and returns its id once it ended."""

from __future__ import annotations

from pathlib import Path

from confluent_kafka import Producer

from kafka_migration.adapters.store.run_status_store import StopRequestStore
from kafka_migration.core.run.stop_request import StopRequest
from tests.live.conftest import LiveWorld
from tests.live.migrations import LiveMigration


def damage(live: LiveWorld, migration: LiveMigration) -> str:
    """Write a record of another program to the target while MirrorMaker runs."""
    run_id = following(migration)
    producer = Producer(migration.target)
    producer.produce(migration.name, key="alien", value="alien")
    assert 0 == producer.flush(60)
    done = migration.cli("stop")
    assert 0 == done.returncode, done.stderr
    migration.finished(run_id)
    return run_id


def end_early(live: LiveWorld, migration: LiveMigration) -> str:
    """Ask for the end of mirroring before it has begun."""
    requests = StopRequestStore(Path(live.sandbox.state.evidence_root), migration.name)
    requests.request(StopRequest(1, "nobody", "2030-01-01T00:00:00+00:00", "tester", "too slow"))
    run_id = migration.trigger("sync")
    migration.finished(run_id)
    return run_id


def following(migration: LiveMigration) -> str:
    """Start a run that follows the source; return its id once MirrorMaker is watched."""
    run_id = migration.trigger("follow")
    migration.wait_for_task(run_id, "watch_lag", ["deferred"])
    return run_id
