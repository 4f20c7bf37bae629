"""The cost of orchestration in addition to the work of MirrorMaker and Spark.

Overhead is a run's wall time, excluding the time from the start of `start_mirror` to the end of `stop_mirror` and
excluding `validate_topics`. It is compared between few and many topics, and with a DAG of the same number of empty
sequential tasks in the same Airflow.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from confluent_kafka import Producer

from bench.airflow_folders import airflow_folders
from bench.results import Arm, Row, compared
from bench.sizes import Orchestration as Size
from sandbox.airflow import COLD_TASKS, AirflowFolders
from sandbox.airflow_api import AirflowApi, Timeline
from sandbox.data.topics import Topic, create_topics
from sandbox.sandbox import Sandbox

RECORDS_PER_TOPIC = 10
RUN_TIMEOUT_S = 1800.0
# The tasks that Airflow starts in a sync, one after the other; `judge` skips those that move consumer groups.
SEQUENTIAL_TASKS = 10
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


def rows(size: Size) -> Iterator[Row]:
    """Run syncs of few and of many topics, and the empty DAG, in one Airflow; yield the figures."""
    names = [f"few-{number}" for number in range(size.runs)]
    with tempfile.TemporaryDirectory(prefix="kafka-migration-bench-") as folder:
        folders = _folders(Path(folder), {**dict.fromkeys(names, size.few), "many": size.many})
        with (
            Sandbox(
                Path(folder) / "sandbox", folders=folders, extra_environment=COLD_TASKS, java_options=()
            ) as sandbox,
            AirflowApi.of(sandbox.state) as api,
        ):
            bootstrap = sandbox.state.source_bootstrap
            api.wait_for_dag(EMPTY_DAG)
            rounds = [_round(api, bootstrap, name, size.few) for name in names]
            empty_s, few_s, again_s = (statistics.median(seconds) for seconds in zip(*rounds, strict=True))
            empty = Arm(f"{SEQUENTIAL_TASKS} empty tasks", empty_s)
            few = Arm(f"{size.few:,} topics", few_s)
            yield compared("overhead of a sync, 10 topics ÷ empty tasks", few, empty)
            yield compared("a sync with nothing new ÷ empty tasks", Arm("sync", again_s), empty)
            many = Arm(f"{size.many:,} topics", overhead_s(_sync(api, bootstrap, "many", size.many)))
            yield compared("overhead of a sync, 1,000 topics ÷ 10 topics", many, few)


def _round(api: AirflowApi, bootstrap: str, name: str, count: int) -> tuple[float, float, float]:
    """Return the seconds of empty tasks, of a sync's overhead, and of a sync with nothing new, measured in turn."""
    empty_s = _run(api, EMPTY_DAG, {}).wall_s
    sync_s = overhead_s(_sync(api, bootstrap, name, count))
    return empty_s, sync_s, _run(api, f"kafka_migration__{name}", {"mode": "sync"}).wall_s


def overhead_s(run: Timeline) -> float:
    """Return the run's time without MirrorMaker's and Spark's."""
    mirror_s = (run.tasks["stop_mirror"].end - run.tasks["start_mirror"].start).total_seconds()
    return run.wall_s - mirror_s - run.tasks["validate_topics"].seconds


def _folders(folder: Path, counts: Mapping[str, int]) -> AirflowFolders:
    """Make the folders of Airflow: the DAGs, and a migration file for each name with its number of topics."""
    files = {name: _FILE.format(name=name, topics=", ".join(_topics(name, count))) for name, count in counts.items()}
    folders = airflow_folders(folder, files)
    (folders.dags / f"{EMPTY_DAG}.py").write_text(_EMPTY_DAG_FILE)
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
