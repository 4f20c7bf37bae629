"""A Spark session in this process, on loopback, without pages and progress bars."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from pyspark.sql import SparkSession

from sandbox.jars import PROJECT


def local_session(cores: int, options: Mapping[str, str]) -> SparkSession:
    """Return a local session with these options of Spark's, whose Python workers know the digest."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # What the submitted zip is to the workers of a real application.
    os.environ["PYTHONPATH"] = str(PROJECT / "spark_jobs")
    builder = SparkSession.builder.master(f"local[{cores}]").appName("kafka-migration")
    quiet = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    loopback = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    for name, value in {**quiet, **loopback, **options}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session
