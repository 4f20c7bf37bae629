"""What the target shows of the workers of a Kafka Connect cluster."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused, TransientError
from kafka_migration.core.kafka.cluster import NewTopic, Side
from kafka_migration.core.migration.settings import ConnectSettings, Migration
from kafka_migration.migration_file.loading import load_migration
from kafka_migration.preflight.clusters.connect_cluster_checks import (
    FLUSH_INTERVAL,
    connect_tasks,
    connect_topics,
    task_findings,
    unknown_settings_warnings,
    worker_addresses,
)
from kafka_migration.preflight.scene.check import Check, CheckResult, run_checks
from tests.checked_scene import Run, alone, on_connect, scene_of
from tests.contract.fake_cluster import FakeCluster

COMPACT = {"cleanup.policy": "compact"}
STATUS, CONFIGS, OFFSETS = "connect-status", "connect-configs", "connect-offsets"
SECRETS: dict[Side, dict[str, str]] = {
    "source": {"sasl.jaas.config": "${vault:kv/shop:source}", "ssl.key.password": "${file:/etc/shop.properties:key}"},
    "target": {"sasl.jaas.config": "${file:/etc/shop.properties:target}"},
}
GROUP, WORKERS = "connect-cluster", ("http://w1:8083/", "http://w2:8083/", "http://w3:8083/")


@pytest.fixture
def on_workers(migration_text: str) -> Migration:
    """A migration on Kafka Connect that names all that a file can name."""
    return load_migration(on_connect(migration_text), where="shop.yaml")


@pytest.fixture
def target() -> FakeCluster:
    """A target with three brokers, three workers, and their internal topics as they should be."""
    made = FakeCluster("target", brokers=3)
    made.create_topics([NewTopic(STATUS, 5, 3, COMPACT), NewTopic(CONFIGS, 1, 3, COMPACT)])
    made.create_topics([NewTopic(OFFSETS, 25, 3, COMPACT)])
    made.workers[GROUP] = WORKERS
    return made


def result(check: Check, migration: Migration, target: FakeCluster) -> CheckResult:
    """Return the result of a check."""
    source = FakeCluster("source")
    source.create_topics([NewTopic("orders", 6, 1, {}), NewTopic("audit", 1, 1, {})])
    (found,) = run_checks([alone(check)], scene_of(Run(migration, source=source, target=target)))
    return found


def test_good_topics_pass_and_the_flush_interval_stays_unknown(on_workers: Migration, target: FakeCluster) -> None:
    """Compacted and replicated topics pass, but what nobody names is a warning, never good."""
    found = result(connect_topics, on_workers, target)

    assert ((), [Code.CONNECT_UNKNOWN]) == (found.findings, [each.code for each in found.warnings])
    assert f"no word of {FLUSH_INTERVAL}" == found.warnings[0].found
    assert "60 s by default" in str(found.warnings[0].matters)


@pytest.mark.parametrize(
    ("topic", "made", "needs"),
    [
        (STATUS, None, "the workers' topic"),
        (STATUS, NewTopic(STATUS, 5, 3, {}), "cleanup.policy compact"),
        (OFFSETS, NewTopic(OFFSETS, 25, 3, {"cleanup.policy": "compact,delete"}), "cleanup.policy compact"),
        (STATUS, NewTopic(STATUS, 5, 2, COMPACT), "3 replicas"),
        (CONFIGS, NewTopic(CONFIGS, 3, 3, COMPACT), "1 partition, as each config.storage.topic has"),
    ],
)
def test_unsafe_internal_topic_is_refused(
    on_workers: Migration, target: FakeCluster, topic: str, made: NewTopic | None, needs: str
) -> None:
    """An internal topic that is named and is missing, not only compacted or has few replicas is refused."""
    target.delete_topics([topic])
    target.create_topics([made] if made else [])
    (finding,) = result(connect_topics, on_workers, target).findings

    assert (Code.CONNECT_TOPIC_UNSAFE, True, needs) == (finding.code, topic in finding.subject, finding.expected)


def test_replicas_are_at_most_the_brokers(on_workers: Migration, target: FakeCluster) -> None:
    """A cluster of one broker needs one replica."""
    target.brokers = 1
    for topic in target.topics.values():
        topic.replicas = 1

    assert () == result(connect_topics, on_workers, target).findings


def test_unknown_replicas_are_not_good(on_workers: Migration, target: FakeCluster) -> None:
    """A topic whose replicas the cluster does not tell is not taken for a replicated one."""
    target.topics[STATUS].replicas = None  # type: ignore[assignment]
    (finding,) = result(connect_topics, on_workers, target).findings

    assert "an unknown number of replica(s)" == finding.found


@pytest.mark.parametrize(
    ("settings", "unknown"),
    [
        (ConnectSettings(STATUS, CONFIGS, OFFSETS), FLUSH_INTERVAL),
        (ConnectSettings(STATUS, CONFIGS), f"offset.storage.topic, {FLUSH_INTERVAL}"),
        (
            ConnectSettings(STATUS, CONFIGS, OFFSETS, secrets=SECRETS),
            f"config.providers (needed: file, vault), {FLUSH_INTERVAL}",
        ),
        (ConnectSettings(STATUS), f"config.storage.topic, offset.storage.topic, {FLUSH_INTERVAL}"),
    ],
)
def test_all_that_is_unknown_is_one_warning(settings: ConnectSettings, unknown: str) -> None:
    """What neither REST nor the file tells is one warning, with the fields that would tell it and all providers."""
    (warning,) = unknown_settings_warnings(settings)

    assert f"no word of {unknown}" == warning.found
    assert ("mirror.connect." in warning.remedy) == ("storage.topic" in unknown)


def test_tasks_are_proposed_for_the_workers(on_workers: Migration, target: FakeCluster) -> None:
    """With fewer tasks than workers and partitions, the number of workers is proposed."""
    (warning,) = result(connect_tasks, on_workers, target).warnings

    assert (Code.CONNECT_TASKS, "3 tasks") == (warning.code, warning.expected)


@pytest.mark.parametrize(
    ("tasks", "partitions", "workers", "proposed"),
    [(1, 6, 3, "3 tasks"), (2, 2, 3, ""), (1, 2, 3, "2 tasks"), (3, 6, 3, ""), (4, 6, 3, ""), (9, 6, 3, "")],
)
def test_proposal_is_a_task_for_each_worker(tasks: int, partitions: int, workers: int, proposed: str) -> None:
    """Each worker has a task, as far as there are partitions; more tasks than that are the file's choice."""
    assert [proposed] * bool(proposed) == [each.expected for each in task_findings(tasks, partitions, workers)]


@pytest.mark.parametrize("workers", [(), None])
def test_no_tasks_are_proposed_for_unknown_workers(
    on_workers: Migration, target: FakeCluster, workers: tuple[str, ...] | None
) -> None:
    """If the number of workers is unknown, the check says so and proposes nothing."""
    if workers is None:
        connect = replace(on_workers.mirror.connect or ConnectSettings(""), group=None)
        on_workers = replace(on_workers, mirror=replace(on_workers.mirror, connect=connect))
    else:
        target.workers[GROUP] = workers

    assert "the number of workers is unknown" in str(result(connect_tasks, on_workers, target).not_applicable)


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (TransientError("the workers rebalance"), "Run preflight again"),
        (Refused([Finding(Code.RIGHT_MISSING, "target", "denied", "the right", "Grant it.")]), "Grant Describe"),
    ],
)
def test_unreadable_group_names_no_worker(
    on_workers: Migration, target: FakeCluster, error: TransientError | Refused, remedy: str
) -> None:
    """A group that rebalances or may not be described is unknown, with what to do, and no empty cluster."""
    target.broken_groups[GROUP] = error
    found = worker_addresses(scene_of(Run(on_workers, target=target)))

    assert ((), True, True) == (found.addresses, bool(found.why_unknown), found.remedy.startswith(remedy))
