"""Two real clusters and a Spark session on the same cores."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from kafka_digest.runtime.session import START_OPTIONS, set_up
from sandbox import jars
from sandbox.sandbox import Sandbox
from sandbox.spark import local_session

CORES = 2


@contextmanager
def two_clusters() -> Iterator[tuple[Path, dict[str, str]]]:
    """Start both clusters; yield a folder and the address of each side."""
    with (
        tempfile.TemporaryDirectory(prefix="kafka-migration-bench-") as folder,
        Sandbox(Path(folder) / "sandbox", airflow=False, java_options=()) as sandbox,
    ):
        yield Path(folder), {"source": sandbox.state.source_bootstrap, "target": sandbox.state.target_bootstrap}


@contextmanager
def spark_session() -> Iterator[SparkSession]:
    """Start a session as the job has it."""
    options = {
        "spark.jars": ",".join(str(jar) for jar in jars.spark_jars()),
        "spark.driver.memory": "6g",
        "spark.sql.shuffle.partitions": "8",
        # The stage counters of the shuffle.
        "spark.ui.enabled": "true",
        **START_OPTIONS,
    }
    session = set_up(local_session(CORES, options))
    try:
        yield session
    finally:
        session.stop()
