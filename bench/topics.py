"""The cost of many topics before anything is copied.

One arm checks, plans and creates topics as `preflight`, `plan` and `create_topics` do. The others plan the same topics
by one pattern and by their exact names, on a source that has many more.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bench.measuring import cost_of, interleaved, ratio
from bench.results import Arm, Row, compared
from bench.sizes import Topics as Size
from sandbox.brokers import SecondBroker, running_broker
from sandbox.data.topics import wait_until_led
from sandbox.sandbox import Sandbox

SYNC = {"mode": "sync"}
_FILE = """\
version: 1
name: {name}
source: {{connection: demo_source}}
target: {{connection: demo_target, replication_factor: 1}}
topics: [{topics}]
mirror: {{connection: demo_mirror_host}}
validation: {{spark_connection: demo_spark}}
"""


def rows(size: Size) -> Iterator[Row]:
    """Create few and many topics, then plan some of very many; yield the figures."""
    with clusters_and_files() as folder:
        few, many = (_median_s(folder, count, size.runs) for count in (size.few, size.many))
    names = (f"{size.many:,} topics", f"{size.few:,} topics")
    yield compared("preflight and creation of topics, 1,000 ÷ 100 topics", Arm(names[0], many), Arm(names[1], few))
    # A broker keeps a file open per partition, and many systems allow 20,000.
    with clusters_and_files() as folder, running_broker(_second_broker(folder.parent)):
        yield _by_pattern(folder, size)


@contextmanager
def clusters_and_files() -> Iterator[Path]:
    """Yield an empty folder for migration files, beside two clusters that the connections of this process name."""
    with (
        tempfile.TemporaryDirectory(prefix="kafka-migration-bench-") as folder,
        Sandbox(Path(folder) / "sandbox", airflow=False, java_options=()) as sandbox,
    ):
        migrations = Path(folder) / "migrations"
        migrations.mkdir()
        settings = {name: text for name, text in sandbox.state.environment.items() if name.startswith("AIRFLOW_")}
        with patch.dict(os.environ, settings):
            yield migrations


def _second_broker(root: Path) -> SecondBroker:
    """Return a second broker of the source."""
    return SecondBroker.of(root / "sandbox" / "source", root, java_options=())


def _median_s(folder: Path, count: int, runs: int) -> float:
    """Return the median seconds of checks, plan and creation, each time with new topics; the first run is dropped."""
    seconds = [_created_s(folder, f"of-{count}-{number}", count) for number in range(runs + 1)]
    return statistics.median(seconds[1:])


def _created_s(folder: Path, name: str, count: int) -> float:
    topics = _names(name, count)
    create_topics(topics)
    write_file(folder, name, topics)
    return cost_of(lambda: _check_and_create(folder, name, count)).wall_s


def _check_and_create(folder: Path, name: str, count: int) -> None:
    from kafka_migration.cli.shell.airflow_access import shown_deployment, this_airflow
    from kafka_migration.steps.before.planned_run import preview
    from kafka_migration.steps.before.preflight_checks import checked
    from kafka_migration.steps.mirror.plan_mirror import plan_document

    with preview(name, SYNC, shown_deployment(folder)) as run:
        found = [finding for result in checked(run, this_airflow()) for finding in result.findings]
        assert not found, found
        planned = plan_document(run, run.ledger.known(), run.describe("source"), run.describe("target"))
        assert len(planned.create) == count
        run.target.create_topics(planned.create)


def _by_pattern(folder: Path, size: Size) -> Row:
    """Plan the same topics by one pattern and by their names."""
    wanted = _names("wanted", size.many)
    create_topics([*wanted, *_names("other", size.named - size.many)])
    write_file(folder, "by-pattern", ["{pattern: 'wanted-[0-9]+'}"])
    write_file(folder, "by-name", wanted)
    arms = {
        "one pattern": lambda: _plan(folder, "by-pattern", size.many),
        f"{size.many:,} names": lambda: _plan(folder, "by-name", size.many),
    }
    pattern, names = arms
    costs = interleaved(arms, size.plans)
    return ratio("plan with a pattern over 20,000 topics ÷ with exact names", costs, pattern, names)


def _plan(folder: Path, name: str, count: int) -> None:
    from kafka_migration.cli.shell.airflow_access import shown_deployment
    from kafka_migration.steps.before.planned_run import preview, run_plan

    with preview(name, SYNC, shown_deployment(folder)) as run:
        assert len(run_plan(run).topics) == count


def _names(name: str, count: int) -> list[str]:
    return [f"{name}-{number:05}" for number in range(count)]


def create_topics(topics: Sequence[str]) -> None:
    """Create topics on the source, and wait until their leaders answer, which is after Kafka confirms the creation."""
    from kafka_migration.core.kafka.cluster import NewTopic

    source = source_cluster()
    source.create_topics([NewTopic(topic, 1, 1, {}) for topic in topics])
    wait_until_led(source.facts().addresses[0], dict.fromkeys(topics, 1))


def source_cluster() -> Any:
    """Return the source, by its connection."""
    from kafka_migration.airflow_adapters.airflow_connections import cluster_named

    return cluster_named("source", "demo_source")


def write_file(folder: Path, name: str, topics: Sequence[str]) -> None:
    """Write a migration file with these topics."""
    (folder / f"{name}.yaml").write_text(_FILE.format(name=name, topics=", ".join(topics)))
