"""A reading that waits where no Spark job runs can be given up as well."""

from __future__ import annotations

import threading
import time

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from kafka_digest.reading.kafka_silence import Reading

pytestmark = pytest.mark.spark

LONG_MS = 600_000


def test_reading_that_waits_outside_any_job_is_given_up(spark: SparkSession) -> None:
    """The driver's own waiting ends at once, and what follows the reading is not interrupted."""
    reading, thread = Reading(), spark._jvm.java.lang.Thread
    giving_up = threading.Timer(1, reading.interrupt)
    began = time.monotonic()
    giving_up.start()
    with pytest.raises(Py4JJavaError, match="InterruptedException"), reading.interruptible(spark._jvm):
        thread.sleep(LONG_MS)

    assert time.monotonic() - began < LONG_MS / 1000
    thread.sleep(1)


def test_late_end_interrupts_nothing_that_follows(spark: SparkSession) -> None:
    """An interruption that comes just before the end of the reading, or after it, does not reach the next call."""
    reading, thread = Reading(), spark._jvm.java.lang.Thread
    with reading.interruptible(spark._jvm):
        reading.interrupt()
    thread.sleep(1)

    reading.interrupt()
    thread.sleep(1)
