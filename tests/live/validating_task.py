"""One task `validate_topics` in a process of its own. As in Airflow, SIGTERM calls `on_kill`, and the task goes on.

`python -m tests.live.validating_task FOLDER`, where FOLDER holds `request.json` and `shop.yaml`; settings and
connections come from the environment, `TEST_LEASE_S` included. A login in `login.json` is added to both connections.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

from airflow.sdk.api.datamodels._generated import DagRunType

from kafka_migration.core.spark.letter_forms import LEASE_S
from kafka_migration.core.validation.validation_contract import ValidationRequest
from kafka_migration.orchestration.operators import driver_letters
from kafka_migration.orchestration.operators.copying import ValidateTopicsOperator
from kafka_migration.orchestration.task import context as context_module
from kafka_migration.orchestration.task.context import run_of
from kafka_migration.steps.validation import spark_request
from tests.airflow.conftest import FakeTaskInstance
from tests.live.spark_cluster import EXECUTOR
from tests.steps.kept import FakeAnchor

NAME = "shop"
LOGIN = "login.json"


def main(folder: Path) -> None:
    """Validate what the request says; the task ends as Spark does."""
    vars(driver_letters)["LEASE_S"] = float(os.environ.get("TEST_LEASE_S", LEASE_S))
    request = ValidationRequest.from_document(json.loads((folder / "request.json").read_text()))
    spark_request.request_of = lambda run: request
    # Outside Airflow there are no variables.
    made = context_module.deployment()
    deployed = replace(made, anchor=FakeAnchor().of)
    if (folder / LOGIN).exists():
        login = json.loads((folder / LOGIN).read_text())
        (folder / LOGIN).unlink()
        deployed = replace(deployed, client_settings=lambda cluster: {**made.client_settings(cluster), **login})
    dag_run = SimpleNamespace(dag_id="dag", run_id="run", clear_number=0, run_type=DagRunType.MANUAL)
    dag = SimpleNamespace(tasks=[])
    context = {"dag_run": dag_run, "params": {"mode": "sync"}, "ti": FakeTaskInstance(), "dag": dag}
    context_module.deployment = lambda: deployed
    run = run_of(context, NAME)
    run.evidence.freeze_migration((folder / f"{NAME}.yaml").read_text())
    operator = ValidateTopicsOperator(task_id="validate_topics", migration=NAME, conf=EXECUTOR)
    signal.signal(signal.SIGTERM, lambda number, frame: operator.on_kill())
    operator.execute(context)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
