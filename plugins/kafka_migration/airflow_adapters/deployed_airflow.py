"""The Airflow that is installed, and what differs between the supported versions (ADR 0040).

No other module compares versions of Airflow. This one must be importable with every Airflow.
"""

from __future__ import annotations

from airflow import __version__

from kafka_migration.core.run.airflow_version import release

AIRFLOW_VERSION: str = __version__
_IS_3_3 = release(AIRFLOW_VERSION) >= (3, 3)

# Before 3.3 only Airflow's own exception prevents the retry of a task, and the task's log then ends with a traceback.
HAS_RETRY_POLICIES = _IS_3_3
# Before 3.3 XCom has to keep what the retries of a task need.
HAS_STATE_STORE = _IS_3_3
# Before 3.3 the supervisor of a task has to say whether a variable does not exist or was not read.
LISTS_VARIABLES = _IS_3_3
# Before 3.3 metrics are sent with the functions of a class.
METRICS_ARE_FUNCTIONS = _IS_3_3
# Before 3.3 the trigger of a deferred task has to look for the answer to a question.
RESUMES_TASKS_WITH_ANSWERS = _IS_3_3
