"""Each check of preflight that asks a cluster or the host passes on real ones, and fails there for its own reason."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from confluent_kafka import Consumer, Producer

from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.airflow_adapters.checked_airflow import ThisAirflow
from kafka_migration.airflow_adapters.ssh import SshMirrorHost
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.kafka.cluster import NewTopic, Side
from kafka_migration.core.mirror.host import HostReply
from kafka_migration.engines.mirrormaker2_topics import InternalTopics
from kafka_migration.engines.required_versions import KafkaVersion
from kafka_migration.orchestration.task import context as context_module
from kafka_migration.preflight.checks import CHECKS
from kafka_migration.preflight.clusters.keys_check import java_partition
from kafka_migration.preflight.host import mirror_checks as versions
from kafka_migration.preflight.host.mirror_checks import old_broker_findings
from kafka_migration.preflight.scene.check import CheckResult, run_checks
from kafka_migration.steps.before.planned_run import preview
from kafka_migration.steps.before.preflight_checks import checked, scene_of
from sandbox.brokers import running_broker
from sandbox.kafka import KafkaCluster, Listener
from sandbox.parts import HOST, free_ports
from sandbox.sandbox import Sandbox
from sandbox.security.listeners import AUTHORIZER, PORTS, Security
from tests.checked_scene import OF_CONNECT, alone
from tests.live.stage import FILE, set_the_stage
from tests.waiting import wait_until

pytestmark = pytest.mark.live

# They ask neither a cluster nor the host.
ASK_NO_SERVICE = {
    "earlier runs",
    "schedule",
    "overlap",
    "connections",
    "spark",
    "security",
    "evidence",
    "alerts",
    "phase",
    "follow",
    "generations",
    "spark client",
    "spark versions",
    "connect secrets",
    "connect lease",
}
# Checks that do not apply to MirrorMaker 2 of Kafka 3.9.
NOT_ASKED = {"keys", "versions", *OF_CONNECT}
# Checks of which another file has the failing test. A schema registry cannot be had here, so a server of the tests is
# asked. This machine is never short of disk or open files, so the rules about them are tested with other answers.
MACHINE, PROBE = "tests/unit/preflight/test_host_machine.py", "tests/live/test_host_probe.py"
CONNECT = "tests/live/test_connect_preflight.py"
ELSEWHERE = {
    "registries": "tests/steps/test_schemas.py::test_preflight_reports_both_registries",
    "host disk": f"{MACHINE}::test_disk_needs_room_for_the_logs_of_one_process",
    "host files": f"{MACHINE}::test_open_files_are_for_connections",
    "host clock": f"{PROBE}::test_wrong_clock_is_warned_of",
    "host names": f"{PROBE}::test_unresolved_name_is_refused_with_its_line",
    "host brokers": f"{PROBE}::test_closed_port_is_refused",
    "cluster clocks": f"{PROBE}::test_wrong_clock_of_a_cluster_is_warned_of",
    "target space": f"{PROBE}::test_target_without_room_is_refused",
    "quotas": f"{PROBE}::test_quota_is_warned_of",
    "mirror tasks": f"{PROBE}::test_few_tasks_at_a_long_round_trip_are_warned_of",
    "connect": f"{CONNECT}::test_old_workers_are_refused",
    "connect kafka": f"{CONNECT}::test_workers_of_another_cluster_are_refused",
    "connect workers": f"{CONNECT}::test_worker_that_is_gone_is_warned_of",
    "connect configuration": f"{CONNECT}::test_override_policy_is_shown_by_its_worker",
    "connect topics": f"{CONNECT}::test_internal_topics_are_looked_at",
    "connect tasks": f"{CONNECT}::test_idle_workers_are_warned_of",
    "transactions": f"{PROBE}::test_open_transaction_is_warned_of",
}
# A broker on which most things are not as a migration needs them.
STRICT = {
    **AUTHORIZER,
    "auto.create.topics.enable": "true",
    "min.insync.replicas": "2",
    "message.max.bytes": "200000",
    "log.cleanup.policy": "compact",
    "log.message.timestamp.before.max.ms": "3600000",
    "log.message.timestamp.after.max.ms": "60000",
}
LARGE = 300_000
DAY_S = 86_400


@dataclass(frozen=True)
class Strict:
    """The strict broker, with a listener whose certificate ends soon."""

    kafka: KafkaCluster
    security: Security

    def ending(self) -> dict[str, str]:
        """Return the settings of a connection to the listener whose certificate ends soon."""
        (listener,) = [each for each in self.kafka.listeners if each.name == "ending"]
        return {**self.security.connection("tls"), "bootstrap.servers": listener.address}


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Strict]:
    """The strict broker, which runs until the end of the module."""
    folder: Path = tmp_path_factory.mktemp("strict")
    ports = free_ports(3 + len(PORTS))
    security = Security(folder / "security", dict(zip(PORTS, ports, strict=False)))
    soon = security.authority.issue("broker", ends=datetime.now(UTC) + timedelta(days=9))
    ending = Listener("ending", ports[-3], "SSL", security.tls_properties("ending", soon))
    kafka = KafkaCluster("strict", folder / "kafka", ports[-2], ports[-1], (*security.listeners(), ending), STRICT)
    with running_broker(kafka):
        yield Strict(kafka, security)


@dataclass
class Scene:
    """One migration of one topic that bears its name, on both clusters of the sandbox or with the strict target."""

    brokers: Sandbox
    strict: Strict
    folder: Path
    patch: pytest.MonkeyPatch
    params: dict[str, Any] = field(default_factory=lambda: {"mode": "sync"})
    name: str = field(default_factory=lambda: f"preflight-{uuid4().hex[:8]}")

    def __post_init__(self) -> None:
        set_the_stage(self.brokers, self.folder, self.patch)
        (self.folder / "migrations").mkdir(exist_ok=True)
        self.write()

    @property
    def heartbeats(self) -> str:
        """A heartbeats topic of its own."""
        return f"{self.name}.heartbeats"

    def write(self, old: str = "", new: str = "", engine: str = "mirrormaker2") -> None:
        """Write the migration file, with a part replaced."""
        text = FILE.format(name=self.name, topics=self.name, engine=engine, mirror="")
        assert old in text
        (self.folder / "migrations" / f"{self.name}.yaml").write_text(text.replace(old, new) if old else text)

    def with_settings(self, settings: str) -> None:
        """Write the migration file, with these settings of the topic."""
        self.write(f"topics: [{self.name}]", f"topics: [{{name: {self.name}, {settings}}}]")

    def connect(self, side: Side, settings: dict[str, str]) -> None:
        """Let the connection of a side have other settings."""
        self.patch.setenv(f"AIRFLOW_CONN_DEMO_{side.upper()}", json.dumps({"conn_type": "kafka", "extra": settings}))

    def use_strict(self) -> None:
        """Let the strict broker be the target."""
        self.connect("target", {"bootstrap.servers": self.strict.kafka.bootstrap})

    def create(self, side: Side, partitions: int = 1, name: str = "", **configs: str) -> None:
        """Create the topic on a side of the sandbox, or another one; `_` stands for a dot in the name of a setting."""
        own = {setting.replace("_", "."): value for setting, value in configs.items()}
        cluster = ConfluentCluster(side, {"bootstrap.servers": self.brokers.bootstraps[side]})
        cluster.create_topics([NewTopic(name or self.name, partitions, 1, own)])

    def produce(self, side: Side, value: bytes = b"1", topic: str = "", at_s: float = 0, **record: Any) -> None:
        """Append a record to a topic of the sandbox, with this timestamp or with that of now."""
        producer = Producer({"bootstrap.servers": self.brokers.bootstraps[side]})
        producer.produce(topic or self.name, value, timestamp=int(at_s * 1000), **record)
        assert producer.flush(60) == 0

    def result(self, name: str) -> CheckResult:
        """Return the result of one check, without those that it needs."""
        (check,) = [each for each in CHECKS if each.name == name]
        with preview(self.name, self.params, context_module.deployment()) as run:
            return run_checks([alone(check)], scene_of(run, ThisAirflow()))[0]


@pytest.fixture
def scene(brokers: Sandbox, strict: Strict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    """A migration whose topic exists on the source."""
    made = Scene(brokers, strict, tmp_path, monkeypatch)
    made.create("source")
    yield made
    # The other migrations of the target would see them for a minute.
    ConfluentCluster("target", {"bootstrap.servers": brokers.bootstraps["target"]}).delete_topics([made.heartbeats])


def same_cluster(scene: Scene) -> None:
    """Let both connections lead to the target, by different names of the machine."""
    scene.connect("source", {"bootstrap.servers": scene.brokers.state.target_bootstrap.replace(HOST, "localhost")})


def too_many_replicas(scene: Scene) -> None:
    """Ask for more replicas than there are brokers."""
    scene.write("replication_factor: 1", "replication_factor: 2")


def ending_certificate(scene: Scene) -> None:
    """Use the listener whose certificate ends soon."""
    scene.connect("target", scene.strict.ending())


def user_without_rights(scene: Scene) -> None:
    """Use a login to which nothing was granted."""
    scene.connect("target", scene.strict.security.connection("plain"))


def missing_source_topic(scene: Scene) -> None:
    """Name a topic that the source does not have."""
    scene.write(f"topics: [{scene.name}]", "topics: [never-created]")


def other_partitions(scene: Scene) -> None:
    """Create the target topic with another number of partitions."""
    scene.create("target", partitions=3)


def written_target(scene: Scene) -> None:
    """Write to the target topic."""
    scene.create("target")
    scene.produce("target")


def other_settings(scene: Scene) -> None:
    """Create the target topic with another setting."""
    scene.create("target", segment_ms="3600000")


def colliding_name(scene: Scene) -> None:
    """Create a topic on the target that Kafka takes for the same one."""
    name = scene.name.replace("-", ".")
    scene.create("source", name=name)
    scene.create("target", name=name.replace(".", "_"))
    scene.write(f"topics: [{scene.name}]", f"topics: [{name}]")


def replicas_at_least(scene: Scene) -> None:
    """Create topics with exactly the replicas that the strict broker asks for."""
    scene.use_strict()
    too_many_replicas(scene)


def smaller_limit(scene: Scene) -> None:
    """Create the target topic with a smaller limit."""
    scene.create("target", max_message_bytes="1000")


def large_record(scene: Scene) -> None:
    """Have a record on the source that is larger than the strict broker's default."""
    scene.use_strict()
    scene.produce("source", b"x" * LARGE)


def shorter_retention(scene: Scene) -> None:
    """Create the target topic with a shorter retention."""
    scene.create("target", retention_ms="3600000")


def late_record(scene: Scene) -> None:
    """Have a record on the source whose timestamp is later than the target topic takes."""
    scene.create("target", message_timestamp_after_max_ms="60000")
    scene.produce("source", at_s=time.time() + DAY_S)


def large_buffers(scene: Scene) -> None:
    """Ask for a buffer that the heap does not hold with all its records."""
    properties = "properties: {producer.buffer.memory: '200000000'}"
    scene.write("  engine: mirrormaker2", f"  engine: mirrormaker2\n  {properties}")


def impossible_setting(scene: Scene) -> None:
    """Ask for a setting that no broker knows."""
    scene.with_settings('configs: {no.such.setting: "1"}')


def unfit_positions(scene: Scene) -> None:
    """Create the topic of MirrorMaker's positions as a broker would that creates topics by itself."""
    scene.create("target", name=InternalTopics.of(scene.name, 0).offsets, cleanup_policy="delete")


def other_partitioner(scene: Scene) -> None:
    """Have a record with a key in another partition than Kafka's own partitioner gives it."""
    scene.write(engine="mirrormaker1")
    ConfluentCluster("source", {"bootstrap.servers": scene.brokers.state.source_bootstrap}).create_partitions(
        {scene.name: 3}
    )
    scene.produce("source", key=b"foobar", partition=(java_partition(b"foobar", 3) + 1) % 3)


def heartbeats(scene: Scene) -> None:
    """Write a heartbeat to the target."""
    scene.create("target", name=scene.heartbeats)
    scene.produce("target", topic=scene.heartbeats)


def unknown_group(scene: Scene) -> None:
    """Ask for a group that the source does not have."""
    scene.params |= {"mode": "rehearse", "groups": [f"{scene.name}-nobody"]}


def host_is_away(scene: Scene) -> None:
    """Let the host's connection lead to a port where nothing listens."""
    connection = json.loads(scene.brokers.state.environment["AIRFLOW_CONN_DEMO_MIRROR_HOST"])
    scene.patch.setenv("AIRFLOW_CONN_DEMO_MIRROR_HOST", json.dumps({**connection, "port": free_ports(1)[0]}))


def no_kafka(scene: Scene) -> None:
    """Name a folder of the host without Kafka."""
    scene.write("  engine: mirrormaker2", "  engine: mirrormaker2\n  kafka_home: /nowhere")


def old_brokers(scene: Scene) -> None:
    """Let MirrorMaker be of Kafka 4, and need brokers of a version that does not exist yet."""
    scene.patch.setattr(SshMirrorHost, "fingerprint", kafka_4)
    scene.patch.setattr(versions, "old_broker_findings", partial(old_broker_findings, oldest=KafkaVersion(99, 0)))


def kafka_4(self: SshMirrorHost, kafka_home: str | None, java_home: str | None) -> HostReply:
    """Return the reply of a host with Kafka 4."""
    return replace(self.status(), facts={"kafka": "4.0.0"})


# Per check: what makes it fail or warn, and the code.
FAILING: dict[str, list[tuple[Callable[[Scene], None], Code]]] = {
    "clusters": [
        (same_cluster, Code.SAME_CLUSTER),
        (too_many_replicas, Code.REPLICATION_FACTOR_TOO_HIGH),
    ],
    "certificates": [(ending_certificate, Code.CERTIFICATE_ENDS_SOON)],
    "rights": [(user_without_rights, Code.RIGHT_MISSING)],
    "topics": [
        (missing_source_topic, Code.SOURCE_TOPIC_MISSING),
        (other_partitions, Code.TOPIC_PARTITIONS_DIFFER),
        (written_target, Code.TARGET_TOPIC_NOT_EMPTY),
        (other_settings, Code.TOPIC_CONFIG_DIFFERS),
    ],
    "brokers": [
        (Scene.use_strict, Code.TOPICS_AUTO_CREATED),
        (user_without_rights, Code.FACT_UNKNOWN),
    ],
    "limits": [
        (colliding_name, Code.TOPIC_NAME_COLLIDES),
        (Scene.use_strict, Code.REPLICATION_BELOW_MIN_INSYNC),
        (replicas_at_least, Code.REPLICATION_AT_MIN_INSYNC),
        (Scene.use_strict, Code.RECORD_LIMIT_LOWER),
        (smaller_limit, Code.RECORD_LIMIT_LOWER),
        (large_record, Code.RECORD_ABOVE_LIMIT),
        (shorter_retention, Code.TARGET_RETENTION_SHORTER),
        (Scene.use_strict, Code.TARGET_COMPACTS),
        (Scene.use_strict, Code.TIMESTAMPS_LIMITED),
        (late_record, Code.TIMESTAMPS_LIMITED),
    ],
    "mirror heap": [(large_buffers, Code.MIRROR_HEAP_SMALL)],
    "creation": [(impossible_setting, Code.TOPIC_NOT_CREATED)],
    "own topics": [(unfit_positions, Code.MIRROR_TOPIC_UNFIT)],
    "keys": [(other_partitioner, Code.KEYS_PARTITIONED_OTHERWISE)],
    "other mirror": [(heartbeats, Code.OTHER_MIRRORMAKER)],
    "groups": [(unknown_group, Code.RUN_CONF_INVALID)],
    "host": [(host_is_away, Code.SSH_UNREACHABLE)],
    "mirror": [(no_kafka, Code.MM_BINARY_NOT_FOUND)],
    "versions": [(old_brokers, Code.BROKERS_TOO_OLD)],
}
CASES = [
    pytest.param(name, arrange, code, id=f"{name}-{arrange.__name__}-{code}")
    for name, cases in FAILING.items()
    for arrange, code in cases
]


def test_every_check_passes(scene: Scene) -> None:
    """On clusters and a host that fit, no check has a finding or a warning, also when the host asks the clusters."""
    scene.patch.setenv("AIRFLOW__KAFKA_MIGRATION__HOST_TOOLS", "True")
    with preview(scene.name, scene.params, context_module.deployment()) as run:
        results = checked(run, ThisAirflow())

    others = {result.name for result in results if not result.has_passed}
    assert [] == [str(finding) for result in results for finding in result.findings]
    assert NOT_ASKED == others
    asked = [result for result in results if result.name not in ASK_NO_SERVICE]
    assert [] == [str(warning) for result in asked for warning in result.warnings]


@pytest.mark.parametrize(("name", "arrange", "code"), CASES)
def test_check_fails_for_its_own_reason(scene: Scene, name: str, arrange: Callable[[Scene], None], code: Code) -> None:
    """What a check is for is found on real parts, with its code."""
    arrange(scene)
    result = scene.result(name)

    assert code in {finding.code for finding in (*result.findings, *result.warnings)}
    assert Code.CHECK_FAILED not in {finding.code for finding in result.findings}


def test_reader_named_like_mirrormaker_1(scene: Scene) -> None:
    """A group whose members are named as those of MirrorMaker 1 and read the topic is named, until it has left."""
    group = f"{scene.name}-mm"
    settings = {"bootstrap.servers": scene.brokers.state.source_bootstrap, "group.id": group, "client.id": f"{group}-0"}
    with closing(Consumer(settings)) as consumer:
        consumer.subscribe([scene.name])
        wait_until(lambda: consumer.poll(0.1) is None and bool(consumer.assignment()), 60, "an assignment")
        (warning,) = scene.result("other mirror").warnings

    assert (Code.OTHER_MIRRORMAKER, True) == (warning.code, group in warning.subject)
    assert () == scene.result("other mirror").warnings
