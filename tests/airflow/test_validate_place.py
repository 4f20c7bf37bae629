"""Rules of the arguments of a validation job: paths, client ids and limits."""

from __future__ import annotations

import json
import resource
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk.exceptions import AirflowException

from kafka_migration.airflow_adapters import airflow_settings as settings
from kafka_migration.core.evidence.evidence_documents import Kind
from tests.airflow.world import World, result_in
from tests.steps.world import P0


@dataclass
class Submitted:
    """The arguments and client settings of a job."""

    arguments: list[str] = field(default_factory=list)
    clients: dict[str, dict[str, str]] = field(default_factory=dict)
    core_limit: int = -1


@pytest.fixture
def submitted(world: World, monkeypatch: pytest.MonkeyPatch) -> Submitted:
    """A spark-submit that keeps its arguments and writes a result."""
    seen = Submitted()

    def submit(operator: Any, context: Any) -> None:
        seen.arguments = operator.application_args
        seen.core_limit, _ = resource.getrlimit(resource.RLIMIT_CORE)
        seen.clients = json.loads(Path(option(seen, "--clients-once")).read_text())
        world.validated(result=result_in(operator.application_args))

    monkeypatch.setattr(SparkSubmitOperator, "execute", submit)
    return seen


def copied(world: World, more: str = "") -> None:
    """Copy one record, with more settings in the section `validation` of the file, which is the last."""
    world.extend_file(more)
    world.source.produce("orders", 0, (b"a", b"1"))
    world.copy({P0: 1})


def option(submitted: Submitted, name: str) -> str:
    return submitted.arguments[submitted.arguments.index(name) + 1]


def test_spark_gets_its_own_spelling(world: World, submitted: Submitted, monkeypatch: pytest.MonkeyPatch) -> None:
    """The job's paths have Spark's spelling of the evidence root, and Airflow reads the result with its own."""
    monkeypatch.setenv("AIRFLOW__KAFKA_MIGRATION__SPARK_EVIDENCE_ROOT", "file:///mnt/evidence/")
    copied(world)

    world.do("validate_topics")
    attempt = f"file:///mnt/evidence/shop/{world.run.evidence.folder.parent.name}/attempt-1"
    request, result = option(submitted, "--request"), option(submitted, "--result")

    assert {attempt} == {place.rpartition("/")[0] for place in (request, result)}
    assert (world.run.evidence.folder / request.rpartition("/")[2]).exists()


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("/srv/evidence", "/srv/evidence/shop/run.json"),
        ("file:///srv/evidence/", "file:///srv/evidence/shop/run.json"),
        ("s3://my_conn@bucket/evidence", "s3a://bucket/evidence/shop/run.json"),
        ("hdfs://name/evidence", "hdfs://name/evidence/shop/run.json"),
    ],
)
def test_airflows_paths_are_translated(setting: str, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path of Airflow is translated to the path that Spark opens."""
    monkeypatch.setenv("AIRFLOW__KAFKA_MIGRATION__EVIDENCE_ROOT", setting)

    assert expected == settings.evidence_place().for_spark(str(settings.evidence_root() / "shop" / "run.json"))


def test_spark_writes_no_core_dump(world: World, submitted: Submitted) -> None:
    """The driver has the logins in its memory, which no crash may write to a file."""
    copied(world)
    resource.setrlimit(resource.RLIMIT_CORE, (1, resource.getrlimit(resource.RLIMIT_CORE)[1]))

    world.do("validate_topics")

    assert 0 == submitted.core_limit


def test_consumers_bear_the_migrations_name(world: World, submitted: Submitted) -> None:
    """The validation's consumers have one client id on both clusters, for quotas and metrics."""
    copied(world)
    world.do("validate_topics")

    assert {"kafka-migration-validation-shop"} == {side["kafka.client.id"] for side in submitted.clients.values()}
    assert {"source", "target"} == submitted.clients.keys()
    assert world.run.evidence.require(Kind.VALIDATION_REQUEST)["max_bytes_per_s"] is None


def test_limit_reaches_the_job(world: World, submitted: Submitted) -> None:
    """The file's limit is in the request, and its quota applies to a client id of its own."""
    copied(world, "  max_bytes_per_s: 2000000\n")
    world.do("validate_topics")

    assert 2_000_000 == world.run.evidence.require(Kind.VALIDATION_REQUEST)["max_bytes_per_s"]
    assert "kafka-migration-validation-shop.limited" == submitted.clients["source"]["kafka.client.id"]


def test_task_killed_before_spark_starts_none(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A task that was killed before it submitted Spark does not submit it."""
    copied(world)
    variable = json.dumps({"conn_type": "spark", "host": "local[1]"})
    monkeypatch.setenv("AIRFLOW_CONN_SPARK", variable)
    operator = world.task("validate_topics")
    operator.on_kill()

    with pytest.raises(AirflowException, match="stopped before it started Spark"):
        operator.execute(world.context())
    assert operator._submission._hook is None
