"""Rules of where the validation runs and of how it is told: paths, client ids, limits, and its end."""

from __future__ import annotations

import json

import pytest
from airflow.sdk.exceptions import AirflowException

from kafka_migration.orchestration.operators.start import StartMirrorOperator
from kafka_migration.orchestration.operators.stop import StopMirrorOperator
from kafka_migration.orchestration.operators.validate import ValidateTopicsOperator
from tests.airflow.conftest import World
from tests.airflow.running import BEFORE_START, P0, do, mirror

pytestmark = pytest.mark.airflow


def copied(world: World, more: str = "") -> None:
    """Copy one record in a run of a file with more in its section `validation`, which is the last."""
    path = world.migrations / "shop.yaml"
    path.write_text(path.read_text() + more)
    world.source.produce("orders", 0, (b"a", b"1"))
    do(world, *BEFORE_START, StartMirrorOperator)
    mirror(world, {P0: 1})
    do(world, StopMirrorOperator)


def test_task_killed_before_spark_starts_none(world: World, monkeypatch: pytest.MonkeyPatch):
    """Airflow tells a task to stop and lets it go on: Spark that has not begun is not submitted any more."""
    copied(world)
    variable = json.dumps({"conn_type": "spark", "host": "local[1]"})
    monkeypatch.setenv("AIRFLOW_CONN_SPARK", variable)
    operator = ValidateTopicsOperator(task_id="validate_topics", migration="shop")
    operator.on_kill()

    with pytest.raises(AirflowException, match="stopped before it started Spark"):
        operator.execute(world.context())  # type: ignore[arg-type]
    assert operator._hook is None
