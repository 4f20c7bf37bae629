"""A Connect cluster beside a live Airflow, and migrations whose engine runs on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from kafka_migration.core.connect.connect_config import copier_name
from tests.live.connect_cluster import ConnectCluster, connect_cluster
from tests.live.migrations import LiveMigration
from tests.waiting import wait_until

if TYPE_CHECKING:
    from tests.live.conftest import LiveWorld

PLACE = """\
engine: connect
  connection: {connection}
  tasks: {tasks}
  connect: {{status_topic: {status}, group: {group}{secrets}}}"""


@dataclass
class ConnectWorld:
    """Workers on the target of a live world, and the Airflow connection of their REST interface."""

    live: LiveWorld
    cluster: ConnectCluster
    connection: str = field(default_factory=lambda: f"connect_{uuid4().hex[:6]}")
    secrets: str = ""
    tasks: int = 2

    def migration(self, name: str, **settings: str) -> LiveMigration:
        """Return a migration of one topic that bears its name, copied by connectors."""
        group = self.cluster.workers[0].group
        secrets = f", {self.secrets}" if self.secrets else ""
        place = PLACE.format(
            connection=self.connection,
            tasks=self.tasks,
            status=self.cluster.status_topic,
            group=group,
            secrets=secrets,
        )
        return self.live.migration(name, place=place, **settings)

    def connect(self, number: int = 0) -> None:
        """Let the connection lead to a worker."""
        self.live.api.add_connection(self.connection, "http", {}, host=self.cluster.workers[number].url)

    def workers_of(self, migration: LiveMigration) -> set[str]:
        """Return the workers that run a task of a migration now, as its status says."""
        rest = self.cluster.rest()
        status = rest.status(copier_name(migration.name)) or {}
        rest.close()
        return {task["worker_id"] for task in status.get("tasks", [])}

    def wait_until_copying(self, migration: LiveMigration) -> set[str]:
        """Return the workers once tasks of a migration run."""
        wait_until(lambda: self.workers_of(migration), 240, "running tasks")
        return self.workers_of(migration)


@contextmanager
def connect_world(
    live: LiveWorld, folder: Path, count: int = 2, secrets: str = "", tasks: int = 2, **more: Any
) -> Iterator[ConnectWorld]:
    """Run workers on the target until the end of the block; the connection leads to the first one.

    `secrets` is the field of that name in `mirror.connect` of its migrations, and `tasks` that in `mirror`.
    """
    group = f"runs-{uuid4().hex[:6]}"
    with connect_cluster(live.sandbox, folder, count, group, **more) as cluster:
        world = ConnectWorld(live, cluster, secrets=secrets, tasks=tasks)
        world.connect()
        yield world
