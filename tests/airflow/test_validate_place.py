"""Rules of how the validation is told to run: client ids, limits, and its end."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk.exceptions import AirflowException

from kafka_migration.core.evidence import Kind
from kafka_migration.orchestration.operators.start import StartMirrorOperator
from kafka_migration.orchestration.operators.stop import StopMirrorOperator
from kafka_migration.orchestration.operators.validate import ValidateTopicsOperator
from tests.airflow.conftest import World
from tests.airflow.running import BEFORE_START, P0, do, mirror, validated

pytestmark = pytest.mark.airflow


@dataclass
class Submitted:
    """What was handed to spark-submit."""

    clients: dict[str, dict[str, str]] = field(default_factory=dict)


@pytest.fixture
def submitted(world: World, monkeypatch: pytest.MonkeyPatch) -> Submitted:
    """A spark-submit that notes what it gets, and measures as Spark does."""
    seen = Submitted()

    def submit(operator: Any, context: Any) -> None:
        seen.clients = json.loads(Path(operator.files).read_text())
        validated(world)

    monkeypatch.setattr(SparkSubmitOperator, "execute", submit)
    return seen


def copied(world: World, more: str = "") -> None:
    """Copy one record in a run of a file with more in its section `validation`, which is the last."""
    path = world.migrations / "shop.yaml"
    path.write_text(path.read_text() + more)
    world.source.produce("orders", 0, (b"a", b"1"))
    do(world, *BEFORE_START, StartMirrorOperator)
    mirror(world, {P0: 1})
    do(world, StopMirrorOperator)


def test_consumers_bear_the_migrations_name(world: World, submitted: Submitted):
    """Both clusters see the validation's consumers under one client id, for their quotas and metrics."""
    copied(world)
    do(world, ValidateTopicsOperator)

    assert {"kafka-migration-validation-shop"} == {side["kafka.client.id"] for side in submitted.clients.values()}
    assert {"source", "target"} == submitted.clients.keys()
    assert world.run.evidence.require(Kind.VALIDATION_REQUEST)["max_bytes_per_s"] is None


def test_limit_reaches_the_job(world: World, submitted: Submitted):
    """The file's limit is in the request, and its quota will be on a client id that nothing else uses."""
    copied(world, "  max_bytes_per_s: 2000000\n")
    do(world, ValidateTopicsOperator)

    assert 2_000_000 == world.run.evidence.require(Kind.VALIDATION_REQUEST)["max_bytes_per_s"]
    assert "kafka-migration-validation-shop.limited" == submitted.clients["source"]["kafka.client.id"]


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
