"""Rules of what of Spark's output the task's log shows."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_migration.orchestration.operators.spark_log import SparkLog

WARN, ERROR, INFO = (f"25/11/22 20:14:03 {level}" for level in ("WARN", "ERROR", "INFO"))


class Log:
    """Notes each text with its level."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []

    def __getattr__(self, level: str) -> Any:
        return lambda text, *arguments: self.lines.append((level, text % arguments if arguments else text))


@pytest.fixture
def log() -> Log:
    """An empty log."""
    return Log()


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("validate_topics: 1 of at most 2 records read", "info"),
        (f"{WARN} TaskSetManager: Lost task 0.0 in stage 1.0", "warning"),
        (f"{ERROR} Executor: Exception in task 0.0", "error"),
        (f"{WARN} InternalKafkaConsumerPool: Pool is broken", "warning"),
        (f"{WARN} Utils: Suppressing exception in finally", "warning"),
        ('Exception in thread "main" java.lang.OutOfMemoryError: Java heap space', "info"),
        ("\tat org.apache.spark.Something(Something.scala:1)", "info"),
        ("Traceback (most recent call last):", "info"),
        ("a % b", "info"),
    ],
)
def test_what_matters_is_told_at_its_level(log: Log, line: str, level: str) -> None:
    """The job's own lines, warnings, errors, and what no logger wrote, such as the end of a process."""
    SparkLog(log, "validate_topics").info(line)

    assert [(level, line)] == log.lines


@pytest.mark.parametrize(
    "line",
    [
        f"{INFO} SparkContext: Running Spark version 4.0.0",
        f"{INFO} ShutdownHookManager: Deleting directory /tmp/spark-1",
        f"{WARN} InternalKafkaConsumerPool: Pool exceeds its soft max size, cleaning up idle objects...",
        f"{WARN} NativeCodeLoader: Unable to load native-hadoop library for your platform",
        f"{WARN} Utils: Your hostname, host, resolves to a loopback address: 127.0.0.1",
        f"{WARN} ConsumerConfig: These configurations '[a]' were supplied but are not used yet.",
        "WARNING: Using incubator modules: jdk.incubator.vector",
        f"{INFO} Client:",
        "ApplicationMaster RPC port: -1",
        'Setting default log level to "WARN".',
        'Setting Spark log level to "WARN".',
        "Using Spark's default log4j profile: org/apache/spark/log4j2-defaults.properties",
    ],
)
def test_noise_is_not_told(log: Log, line: str) -> None:
    """What Spark says about itself, each time or each second, buries nothing."""
    SparkLog(log, "validate_topics").info(line)

    assert [] == log.lines


def test_last_word_of_the_job_is_kept(log: Log) -> None:
    """The reason of a failure is the job's last line, whatever Spark logs after it; the hook's lines are logged too."""
    heard: list[str] = []
    spark_log = SparkLog(log, "validate_topics", heard.append)
    spark_log.info("validate_topics: 1 of at most 2 records read")
    spark_log.info("validate_topics: SPARK_FAILED: it was so")
    spark_log.info(f"{INFO} ShutdownHookManager: Shutdown hook called")
    spark_log.info("Spark-Submit cmd: %s", "spark-submit …")
    spark_log.debug("of the hook")

    assert "SPARK_FAILED: it was so" == spark_log.last_said
    assert ["1 of at most 2 records read", "SPARK_FAILED: it was so"] == heard
    assert ("info", "Spark-Submit cmd: spark-submit …") in log.lines
    assert ("debug", "of the hook") in log.lines


def test_state_of_an_application_is_told_once(log: Log) -> None:
    """Each state of an application on YARN is one line with its page; the repetitions of a report are not."""
    spark_log = SparkLog(log, "validate_topics")
    for state in ("ACCEPTED", "ACCEPTED", "RUNNING"):
        spark_log.info(f"{INFO} Client: Application report for application_1_2 (state: {state})")
        spark_log.info("queue: root.default")
        spark_log.info("tracking URL: http://rm:8088/proxy/application_1_2/")
        spark_log.info("Identified spark application id: %s", "application_1_2")

    assert [
        (
            "info",
            f"YARN: application_1_2 is {state} in queue root.default. YARN's page: "
            "http://rm:8088/proxy/application_1_2/",
        )
        for state in ("ACCEPTED", "RUNNING")
    ] == log.lines
