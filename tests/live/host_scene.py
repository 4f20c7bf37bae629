"""A migration of one topic on real clusters, and the checks that ask them from a real MirrorMaker host."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.airflow_adapters.checked_airflow import AirflowConnections
from kafka_migration.airflow_adapters.ssh import SshMirrorHost
from kafka_migration.core.kafka.cluster import ClusterFacts, KafkaCluster
from kafka_migration.core.migration.settings import Cluster, Migration
from kafka_migration.migration_file.loading import load_migration_file
from kafka_migration.preflight.checks import CHECKS
from kafka_migration.preflight.host.asking_clusters import ClientAnswer, answers_of_host
from kafka_migration.preflight.scene.check import CheckResult, run_checks
from kafka_migration.preflight.scene.scene import Scene as CheckedScene
from sandbox.jars import fetched_kafka
from sandbox.parts import HOST, free_ports
from sandbox.sandbox import Sandbox
from tests.checked_scene import Airflow, Deployed, Run, alone, scene_of
from tests.live.quotas import config_command
from tests.live.stage import Stage, set_the_stage

# The questions of the program on the host, and the checks that read the answers.
QUESTIONS = ("brokers", "clock", "quotas", "round_trip", "space")
TOOLS = ("host brokers", "cluster clocks", "target space", "quotas", "mirror tasks")
PARTITIONS = 2
# How each question ends that is answered.
ALL_ANSWERED = dict.fromkeys(QUESTIONS, "0")

Settings = Mapping[str, Any]


@dataclass
class HostScene:
    """A migration of one topic, and what its checks ask."""

    stage: Stage
    host: SshMirrorHost
    second_host: SshMirrorHost
    topic: str

    def check(self, name: str, airflow: Airflow | None = None, **changes: Any) -> CheckResult:
        """Run one check of a run that differs in `changes`."""
        (check,) = (check for check in CHECKS if check.name == name)
        (result,) = run_checks([alone(check)], self.checked(airflow, **changes))
        return result

    def checked(self, airflow: Airflow | None = None, **changes: Any) -> CheckedScene:
        """Return a new scene, for which nothing was asked yet."""
        facts: dict[str, Any] = {
            "migration": self.migration,
            "source": ConfluentCluster("source", self.stage.source),
            "target": ConfluentCluster("target", self.stage.target),
            "host": self.host,
            "second_host": self.second_host,
            "deployment": Deployed(client_settings=self.settings),
        }
        return scene_of(Run(**{**facts, **changes}), airflow or Airflow(connections=AirflowConnections()))

    @property
    def migration(self) -> Migration:
        """The migration of the file, with a task for each partition: no round trip of a slow machine is too long."""
        migration = load_migration_file(self.stage.folder / "migrations" / f"{self.stage.name}.yaml")[1]
        return replace(migration, mirror=replace(migration.mirror, tasks=PARTITIONS))

    def settings(self, cluster: Cluster) -> Mapping[str, Any]:
        """Return the settings of a side."""
        return self.stage.source if cluster.connection == "demo_source" else self.stage.target

    def source_with(self, *addresses: str) -> Any:
        """Return the source, which advertises further brokers."""
        bare = ConfluentCluster("source", self.stage.source)
        return _Advertising(bare, addresses)

    def configure(self, *words: str) -> None:
        """Change a quota of the source with Kafka's own tool."""
        config_command(self.stage.source["bootstrap.servers"], "--alter", *words)


class _Advertising:
    """A cluster that advertises more brokers than it has."""

    def __init__(self, cluster: KafkaCluster, addresses: tuple[str, ...]) -> None:
        self._cluster = cluster
        self._addresses = addresses

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cluster, name)

    def facts(self) -> ClusterFacts:
        """Return the facts with the further brokers."""
        facts = self._cluster.facts()
        return replace(facts, addresses=(*facts.addresses, *self._addresses))


@dataclass(frozen=True)
class AskedFromHost:
    """A scene whose clusters were asked from the host, and the answers by side and question."""

    scene: CheckedScene
    answers: Mapping[str, Mapping[str, ClientAnswer]]

    @classmethod
    def of(
        cls, scene: HostScene, source: Settings | None = None, target: Settings | None = None, kafka: str = ""
    ) -> AskedFromHost:
        """Ask the clusters of a scene, or others with these settings, with this version of Kafka on the host."""
        sides = {"demo_source": source or scene.stage.source, "demo_target": target or scene.stage.target}
        home = str(fetched_kafka(kafka)) if kafka else None
        migration = replace(scene.migration, mirror=replace(scene.migration.mirror, kafka_home=home))
        deployed = Deployed(client_settings=lambda cluster: sides[cluster.connection])
        checked = scene.checked(deployment=deployed, migration=migration)
        return cls(checked, answers_of_host(checked).by_side)

    def exits(self, side: str) -> dict[str, str]:
        """Return how each question about a side ended."""
        return {question: answer.exit for question, answer in self.answers[side].items()}

    def results(self) -> dict[str, CheckResult]:
        """Run the checks that read the answers."""
        asking = [alone(check) for check in CHECKS if check.name in TOOLS]
        return {result.name: result for result in run_checks(asking, self.scene)}


@contextmanager
def host_scene(sandbox: Sandbox, root: Path) -> Iterator[HostScene]:
    """Yield a migration whose topic exists on the source and has a record."""
    with pytest.MonkeyPatch.context() as patch:
        set_the_stage(sandbox, root, patch)
        topic = f"probed-{time.time_ns()}"
        stage = Stage(sandbox, "probed", root, [topic])
        stage.create(topic, PARTITIONS)
        stage.produce(topic, b"x" * 1000)
        hosts = (closing(SshMirrorHost("probed", "demo_mirror_host")) for _ in range(2))
        with next(hosts) as host, next(hosts) as second:
            yield HostScene(stage, host, second, topic)


@contextmanager
def silent_port() -> Iterator[int]:
    """Yield a port whose connections nothing reads from or writes to."""
    (port,) = free_ports(1)
    with closing(socket.create_server((HOST, port))):
        yield port
