"""Evidence and ledger in an object store, with tasks that find nothing of each other on their disk.

The store is moto's S3 server, a double: no S3 can be had here. It speaks to Airflow's provider (s3fs) and to
Spark's own client (s3a) alike. Fresh disks are what KubernetesExecutor and CeleryExecutor give tasks.
"""

from __future__ import annotations

import json
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox import jars
from sandbox.parts import free_ports
from tests.deploy.conftest import Clusters
from tests.deploy.stock import StockAirflow
from tests.waiting import wait_until

pytestmark = [pytest.mark.live, pytest.mark.campaign]

S3A = "s3a-3.4.1"
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
def object_store(installed: StockAirflow, tmp_path: Path) -> Iterator[str]:
    """An S3 server with an empty bucket `proofs`; its address."""
    # Their own pins do not go with the lock file's.
    installed.install("apache-airflow-providers-amazon[s3fs]", "moto[server]", is_locked=False)
    (port,) = free_ports(1)
    server = str(installed.venv / "bin" / "moto_server")
    with (tmp_path / "moto.log").open("w") as log:
        process = subprocess.Popen([server, "-H", "127.0.0.1", "-p", str(port)], stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: "Running on" in (tmp_path / "moto.log").read_text(), 120, "the S3 server to run")
        with urllib.request.urlopen(urllib.request.Request(f"{address}/proofs", method="PUT"), timeout=30) as reply:
            assert 200 == reply.status
        yield address
    finally:
        process.terminate()
        process.wait(30)


def in_object_store(installed: StockAirflow, clusters: Clusters, address: str, folder: Path) -> StockAirflow:
    """Return an Airflow whose evidence lies in the bucket, and whose tasks have a disk of their own each."""
    jars.ensure_sets([S3A], print)
    home, disk, notes = folder / "home", folder / "disk", folder / "notes"
    for made in (disk, home / "dags", home / "plugins", home / "include" / "migrations"):
        made.mkdir(parents=True)
    (home / "plugins" / "fresh_disk.py").write_text(FRESH_DISK.format(disk=str(disk), notes=str(notes)))
    (home / "spark-defaults.conf").write_text(
        f"spark.hadoop.fs.s3a.endpoint {address}\nspark.hadoop.fs.s3a.path.style.access true\n"
        "spark.hadoop.fs.s3a.endpoint.region us-east-1\n"
    )
    known = clusters.connections()
    s3a = ",".join(str(jar) for jar in sorted(jars.jar_set(S3A).libs.glob("*.jar")))
    extra = {"endpoint_url": address, "region_name": "us-east-1"}
    airflow = installed.with_home(
        home,
        **{
            **known,
            "TMPDIR": str(disk),
            "SPARK_CONF_DIR": str(home),
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AIRFLOW_CONN_AWS_DEFAULT": json.dumps({"conn_type": "aws", "extra": extra}),
            "AIRFLOW__KAFKA_MIGRATION__EVIDENCE_ROOT": "s3://aws_default@proofs/kafka",
            "AIRFLOW__KAFKA_MIGRATION__SPARK_JARS": f"{known['AIRFLOW__KAFKA_MIGRATION__SPARK_JARS']},{s3a}",
        },
    )
    (home / "dags" / "migrations.py").write_text((installed.home / "dags" / "migrations.py").read_text())
    return airflow


def test_nothing_passes_from_task_to_task_but_through_the_store(
    installed: StockAirflow, clusters: Clusters, object_store: str, tmp_path: Path
) -> None:
    """Evidence, ledger, Spark's request and result live in the bucket; no task leaves a file, and none needs one."""
    airflow = in_object_store(installed, clusters, object_store, tmp_path)

    clusters.migrate(airflow, "deployed-s3", "kafka-migration")

    notes = dict(line.split(": ", 1) for line in (tmp_path / "notes").read_text().splitlines())
    assert {"preflight", "start_mirror", "stop_mirror", "validate_topics", "judge", "finish"} <= set(notes)
    assert {"[]"} == set(notes.values())
    assert not (airflow.home / "kafka_migration").exists()
