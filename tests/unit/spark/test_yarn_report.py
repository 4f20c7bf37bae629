"""Rules of what `spark-submit` says of an application on YARN, and of the findings from it."""

from __future__ import annotations

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.spark.spark_target import (
    SparkTarget,
    failure_finding,
    no_resources_finding,
    protecting_settings,
    settings_of_task,
)
from kafka_migration.core.spark.yarn_report import YarnReport

# As the provider's hook passes them on: without the spaces around each line.
WAITING = """\
26/11/28 20:48:31 INFO YarnClientImpl: Submitted application application_1795898679116_0002
26/11/28 20:48:32 INFO Client: Application report for application_1795898679116_0002 (state: ACCEPTED)
26/11/28 20:48:32 INFO Client:
client token: N/A
diagnostics: Application is added to the scheduler and is not yet activated. Queue's AM resource limit exceeded.
ApplicationMaster host: N/A
queue: root.starved
tracking URL: http://rm:8088/proxy/application_1795898679116_0002/
user: root
"""
RUNNING = """\
26/11/28 20:49:39 INFO Client: Application report for application_1795898679116_0002 (state: RUNNING)
diagnostics: N/A
"""
UNKNOWN_QUEUE = """\
Exception in thread "main" org.apache.spark.SparkException: Application application_1_2 could not be submitted
Caused by: org.apache.hadoop.yarn.exceptions.YarnException: Failed to submit application_1_2 to YARN: unknown queue: x
"""


def report_of(*texts: str) -> YarnReport:
    """Return the report after these lines."""
    report = YarnReport()
    for line in "".join(texts).splitlines():
        report = report.heard(line)
    return report


def test_waiting_application_says_why() -> None:
    """The state, the queue and YARN's own reason are in one text; an application that runs has no old reason."""
    waiting = report_of(WAITING)

    assert "application_1795898679116_0002" == waiting.application
    assert "http://rm:8088/proxy/application_1795898679116_0002/" == waiting.page
    assert waiting.words.startswith(
        "application_1795898679116_0002 is ACCEPTED in queue root.starved: Application is added"
    )
    assert "application_1795898679116_0002 is RUNNING in queue root.starved" == report_of(WAITING, RUNNING).words


@pytest.mark.parametrize(("state", "expected"), [("ACCEPTED", True), ("RUNNING", True), ("KILLED", False)])
def test_application_that_has_ended_needs_no_end(state: str, expected: bool) -> None:
    """Only an application that may still run has to be ended; without one there is nothing to end."""
    line = f"INFO Client: Application report for application_1_2 (state: {state})"

    assert expected == report_of(line).may_run
    assert not report_of("INFO Client: Requesting a new application").may_run


def test_starved_job_names_application_and_queue() -> None:
    """The finding has a code of its own, and says which application waits in which queue, for how long."""
    found = no_resources_finding(SparkTarget("spark", "yarn", "cluster"), report_of(WAITING), 600)

    assert Code.SPARK_NO_RESOURCES == found.code
    assert "is ACCEPTED in queue root.starved" in found.found
    assert "(http://rm:8088/proxy/application_1795898679116_0002/), 600 s after the submission" in found.found
    nothing = no_resources_finding(SparkTarget("spark", "spark://a:1"), YarnReport(), 600)
    assert "no application began on spark://a:1, 600 s after the submission" == nothing.found


def test_submission_that_yarn_refuses_names_its_reason() -> None:
    """Without a word of the job the finding has the last error of `spark-submit`; what the job said comes first."""
    refused = failure_finding("", "1", report_of(UNKNOWN_QUEUE))
    assert refused == failure_finding("1 of at most 2 records read", "1", report_of(UNKNOWN_QUEUE))
    said = failure_finding("RECORDS_DELETED_MEANWHILE: gone", "1", report_of(UNKNOWN_QUEUE))

    assert "spark-submit says: Failed to submit application_1_2 to YARN: unknown queue: x" == refused.found
    assert (Code.RECORDS_DELETED_MEANWHILE, "gone") == (said.code, said.found)


@pytest.mark.parametrize(
    ("master", "mode", "expected"), [("yarn", "cluster", "1"), ("yarn", "client", None), ("k8s://a", "cluster", None)]
)
def test_driver_in_a_container_begins_once(master: str, mode: str, expected: str | None) -> None:
    """YARN does not start a driver again; in mode `client` it may replace what keeps the application."""
    made = protecting_settings(SparkTarget("spark", master, mode))

    assert expected == made.get("spark.yarn.maxAppAttempts")


def test_yarn_may_say_why_an_application_waits() -> None:
    """On YARN the job sets Spark's level, because INFO has the state; a level of the task's own settings stays."""
    yarn, local = SparkTarget("spark", "yarn"), SparkTarget("spark", "local[2]")

    assert "spark.log.level" not in settings_of_task(yarn, {})
    assert "WARN" == settings_of_task(local, {})["spark.log.level"]
    assert "ERROR" == settings_of_task(yarn, {"spark.log.level": "ERROR"})["spark.log.level"]
