"""Spark on loopback without UI and progress bars: a session in this process, or a submission of `spark_jobs/`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from pyspark.sql import SparkSession

from kafka_migration.core.spark.driver_java import DEFAULT_OPTIONS
from sandbox.jars import PROJECT
from sandbox.private import write_private
from sandbox.shared_classes import spark_options

JOB = PROJECT / "spark_jobs" / "validate_topics.py"


def local_session(cores: int, options: Mapping[str, str]) -> SparkSession:
    """Return a local session with these Spark options, whose Python workers can import the digest."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # What the submitted zip is to the workers of a real application.
    os.environ["PYTHONPATH"] = str(PROJECT / "spark_jobs")
    builder = SparkSession.builder.master(f"local[{cores}]").appName("kafka-migration")
    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    loopback = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    for name, value in {**quiet, **loopback, **shared_classes(), **options}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def shared_classes() -> dict[str, str]:
    """Return the setting with which the driver uses the class archive; none without one."""
    options = " ".join(spark_options())
    return {DEFAULT_OPTIONS: options} if options else {}


def submit_job(
    folder: Path,
    documents: Mapping[str, object],
    package: Path,
    jars: Iterable[Path],
    *,
    master: str = "local[2]",
    conf: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    timeout_s: float | None = None,
) -> tuple[subprocess.CompletedProcess[str], Path]:
    """Run the validation job with spark-submit; return its exit and the path of its result.

    Args:
        folder: holds the input and output files.
        documents: `request` and `clients`.
        package: the zip of `kafka_digest`.
        jars: the Kafka connector's.
        environment: of spark-submit; may name another Spark and another Python than those of this process.
    """
    for name, document in documents.items():
        (folder / f"{name}.json").write_text(json.dumps(document))
    arguments = [
        *("--clients-once", str(folder / "clients.json")),
        *("--request", str(folder / "request.json"), "--result", (folder / "result.json").as_uri()),
    ]
    ended = run_spark(
        folder,
        JOB,
        arguments,
        package,
        jars,
        master=master,
        conf=conf,
        environment=environment,
        timeout_s=timeout_s,
    )
    return ended, folder / "result.json"


def run_spark(
    folder: Path,
    application: Path,
    arguments: Iterable[str],
    package: Path,
    jars: Iterable[Path],
    *,
    master: str = "local[2]",
    conf: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    timeout_s: float | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run an application with spark-submit in this folder, which also holds its settings; return its exit."""
    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    settings = folder / "spark.properties"
    write_private(
        settings, "".join(f"{name} {value}\n" for name, value in {**quiet, **shared_classes(), **(conf or {})}.items())
    )
    command = [
        *(str(Path(sys.executable).parent / "spark-submit"), "--master", master),
        *("--properties-file", str(settings)),
        *("--jars", ",".join(str(jar) for jar in jars)),
        *("--py-files", str(package), str(application), *arguments),
    ]
    own = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", **(environment or {})}
    return subprocess.run(
        command, env=os.environ | own, cwd=folder, capture_output=True, text=True, timeout=timeout_s, check=False
    )
