"""The cost of orchestration in addition to the work of MirrorMaker and Spark.

Overhead is a run's wall time, excluding the time from the start of `start_mirror` to the end of `stop_mirror` and
excluding `validate_topics`. It is compared between 10 and 1,000 topics, and with a DAG of the same number of empty
sequential tasks in the same Airflow.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
from collections.abc import Mapping
from pathlib import Path

from confluent_kafka import Producer

from bench.results import Row
from sandbox.airflow import AirflowFolders
from sandbox.airflow_api import AirflowApi, Timeline
from sandbox.data.topics import Topic, create_topics
from sandbox.jars import PROJECT
from sandbox.sandbox import Sandbox

FEW, MANY = 10, 1000
RECORDS_PER_TOPIC = 10
RUNS = 3
RUN_TIMEOUT_S = 1800.0
# The tasks of a sync that Airflow starts; tasks that move consumer groups are skipped after `drain_groups`.
SEQUENTIAL_TASKS = 11
EMPTY_DAG = "empty_tasks"
_EMPTY_DAG_FILE = f'''"""As many empty tasks, one after the other, as a sync has."""

from airflow.sdk import dag, task


@dag(dag_id="{EMPTY_DAG}", schedule=None)
def empty_tasks():
    last = None
    for number in range({SEQUENTIAL_TASKS}):
        now = task(task_id=f"empty_{{number}}")(lambda: None)()
        if last is not None:
            last >> now
        last = now


empty_tasks()
'''
_FILE = """\
version: 1
name: {name}
source:
  connection: demo_source
target:
  connection: demo_target
  replication_factor: 1
topics: [{topics}]
mirror:
  connection: demo_mirror_host
  tasks: 2
  heap_mb: 1024
watch:
  poll_interval: 2s
validation:
  spark_connection: demo_spark
"""


def rows() -> list[Row]:
    """Run syncs of few and of many topics, and the empty DAG, in one Airflow; return the figures."""
    with tempfile.TemporaryDirectory(prefix="kafka-migration-bench-") as folder:
        folders = _folders(Path(folder))
        with (
            Sandbox(Path(folder) / "sandbox", folders=folders, java_options=()) as sandbox,
            AirflowApi.of(sandbox.state) as api,
        ):
            bootstrap = sandbox.state.source_bootstrap
            api.wait_for_dag(EMPTY_DAG)
            empty_s = statistics.median(_run(api, EMPTY_DAG, {}).wall_s for _ in range(RUNS)) / SEQUENTIAL_TASKS
            few = [_sync(api, bootstrap, f"few-{number}", FEW) for number in range(RUNS)]
            nothing_new = _run(api, "kafka_migration__few-0", {"mode": "sync"})
            many = _sync(api, bootstrap, "many", MANY)
    few_s = statistics.median(overhead_s(run) for run in few)
    return [
        Row(f"overhead of a sync, {MANY:,} topics ÷ {FEW} topics", overhead_s(many) / few_s, 5, 3),
        Row(f"overhead of a sync, {FEW} topics ÷ empty tasks", few_s / (SEQUENTIAL_TASKS * empty_s), 1.6, 1.3),
        Row("a sync with nothing new ÷ empty tasks", nothing_new.wall_s / (SEQUENTIAL_TASKS * empty_s), None, None),
    ]


def overhead_s(run: Timeline) -> float:
    """Return the run's time without MirrorMaker's and Spark's."""
    mirror_s = (run.tasks["stop_mirror"].end - run.tasks["start_mirror"].start).total_seconds()
    return run.wall_s - mirror_s - run.tasks["validate_topics"].seconds


def _folders(folder: Path) -> AirflowFolders:
    folders = AirflowFolders(dags=folder / "dags", migrations=folder / "migrations")
    shutil.copytree(PROJECT / "dags", folders.dags)
    (folders.dags / f"{EMPTY_DAG}.py").write_text(_EMPTY_DAG_FILE)
    folders.migrations.mkdir()
    for name, count in {**{f"few-{number}": FEW for number in range(RUNS)}, "many": MANY}.items():
        (folders.migrations / f"{name}.yaml").write_text(
            _FILE.format(name=name, topics=", ".join(_topics(name, count)))
        )
    return folders


def _topics(name: str, count: int) -> list[str]:
    return [f"{name}-{number:04}" for number in range(count)]


def _sync(api: AirflowApi, bootstrap: str, name: str, count: int) -> Timeline:
    topics = _topics(name, count)
    create_topics(bootstrap, [Topic(topic, 1) for topic in topics])
    producer = Producer({"bootstrap.servers": bootstrap})
    for number in range(RECORDS_PER_TOPIC):
        for topic in topics:
            producer.produce(topic, b"%d" % number)
    producer.flush(120)
    api.wait_for_dag(f"kafka_migration__{name}")
    return _run(api, f"kafka_migration__{name}", {"mode": "sync"})


def _run(api: AirflowApi, dag_id: str, conf: Mapping[str, str]) -> Timeline:
    run_id = api.trigger(dag_id, conf)
    run = api.wait(dag_id, run_id, RUN_TIMEOUT_S)
    if run.state != "success":
        raise RuntimeError(f"run {run_id} of {dag_id} ended {run.state}")
    return api.timeline(dag_id, run_id)
