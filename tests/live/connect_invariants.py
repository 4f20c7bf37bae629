"""That no two generations of a migration ever copied at once on Kafka Connect, as its workers' topics tell it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from kafka_migration.core.connect.connect_config import BARRED, CREATION, GENERATION, copier_name
from sandbox.data.reading import read_records
from sandbox.data.records import Record
from tests.live.connect_cluster import ConnectCluster


class CopierEvent(NamedTuple):
    """What happened to a copier at a moment: a generation began, or a task is in a state on a worker."""

    at: float
    generation: int = 0
    creation: str = ""
    task: str = ""
    worker: str = ""
    state: str = ""


def require_never_two(events: Iterable[CopierEvent], killed: Iterable[tuple[float, str]]) -> int:
    """I5: all tasks of a generation had ended before the next one began, or were killed with their worker.

    `killed` are moments (Unix time) and workers. Return how many generations began.
    """
    kills = [CopierEvent(at, worker=worker, state="KILLED") for at, worker in killed]
    creations, running = set[str](), set[tuple[str, str]]()
    for event in sorted([*events, *kills]):
        if event.state == "RUNNING":
            running.add((event.task, event.worker))
        elif event.state:
            ended = {each for each in running if event.worker == each[1] and event.task in ("", each[0])}
            running -= ended
        elif event.creation not in creations:
            assert not running, f"I5: generation {event.generation} began while {sorted(running)} ran"
            creations.add(event.creation)
    return len(creations)


def copier_events(cluster: ConnectCluster, migration: str) -> Iterator[CopierEvent]:
    """Yield what the workers' topics tell about a migration's copier."""
    bootstrap, name = cluster.brokers.bootstraps["target"], copier_name(migration)
    for record in _records(bootstrap, f"{cluster.workers[0].group}-config", f"connector-{name}"):
        config: dict[str, str] = _document(record).get("properties", {})
        if GENERATION in config and BARRED not in config:
            yield CopierEvent(record.timestamp_ms / 1000, int(config[GENERATION]), config[CREATION])
    for record in _records(bootstrap, cluster.status_topic, f"status-task-{name}-"):
        row = _document(record)
        if row:
            task = (record.key or b"").decode()
            yield CopierEvent(record.timestamp_ms / 1000, task=task, worker=row["worker_id"], state=row["state"])


def _records(bootstrap: str, topic: str, key: str) -> Iterator[Record]:
    for placed in read_records(bootstrap, topic).values():
        yield from (each.record for each in placed if (each.record.key or b"").startswith(key.encode()))


def _document(record: Record) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(record.value or b"null") or {}
    return document
