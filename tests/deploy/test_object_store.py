"""Evidence and ledger in an object store, with tasks that find nothing of each other on their disk.

Fresh disks are what KubernetesExecutor and CeleryExecutor give tasks.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deploy.conftest import Clusters
from tests.deploy.stock import StockAirflow
from tests.object_store import ObjectStore, object_store

pytestmark = [pytest.mark.live, pytest.mark.campaign]

# A plugin of Airflow that looks at, and empties, the task's disk after each task.
FRESH_DISK = """\
import shutil, sys
from pathlib import Path

from airflow.listeners import hookimpl
from airflow.plugins_manager import AirflowPlugin

DISK, NOTES = Path({disk!r}), Path({notes!r})


@hookimpl
def on_task_instance_success(previous_state, task_instance):
    left = sorted(str(path.relative_to(DISK)) for path in DISK.rglob("*") if path.is_file())
    with NOTES.open("a") as notes:
        notes.write(f"{{task_instance.task_id}}: {{left}}\\n")
    for path in DISK.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


class FreshDisk(AirflowPlugin):
    name = "fresh_disk"
    listeners = [sys.modules[__name__]]
"""


@pytest.fixture
def store(installed: StockAirflow, tmp_path: Path) -> Iterator[ObjectStore]:
    """An S3 server with an empty bucket."""
    # Their own pins do not go with the lock file's.
    installed.install("apache-airflow-providers-amazon[s3fs]", "moto[server]", is_locked=False)
    with object_store([str(installed.venv / "bin" / "moto_server")], tmp_path / "moto.log") as running:
        yield running


def in_object_store(installed: StockAirflow, clusters: Clusters, store: ObjectStore, folder: Path) -> StockAirflow:
    """Return an Airflow whose evidence lies in the bucket, and whose tasks have a disk of their own each."""
    home, disk, notes = folder / "home", folder / "disk", folder / "notes"
    for made in (disk, home / "dags", home / "plugins", home / "include" / "migrations"):
        made.mkdir(parents=True)
    (home / "plugins" / "fresh_disk.py").write_text(FRESH_DISK.format(disk=str(disk), notes=str(notes)))
    known = clusters.connections()
    stored = store.environment(home, known["AIRFLOW__KAFKA_MIGRATION__SPARK_JARS"])
    airflow = installed.with_home(home, **{**known, **stored, "TMPDIR": str(disk)})
    (home / "dags" / "migrations.py").write_text((installed.home / "dags" / "migrations.py").read_text())
    return airflow


def test_nothing_passes_from_task_to_task_but_through_the_store(
    installed: StockAirflow, clusters: Clusters, store: ObjectStore, tmp_path: Path
) -> None:
    """Evidence, ledger, Spark's request and result live in the bucket; no task leaves a file, and none needs one."""
    airflow = in_object_store(installed, clusters, store, tmp_path)

    clusters.migrate(airflow, "deployed-s3", "kafka-migration")

    notes = dict(line.split(": ", 1) for line in (tmp_path / "notes").read_text().splitlines())
    assert {"preflight", "start_mirror", "stop_mirror", "validate_topics", "judge", "finish"} <= set(notes)
    assert {"[]"} == set(notes.values())
    assert not (airflow.home / "kafka_migration").exists()
