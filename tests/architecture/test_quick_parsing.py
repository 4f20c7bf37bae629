"""Parsing a DAG file imports what declares tasks (ADR 0059); a task imports what it asks (ADR 0060)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_migration import operators

pytestmark = pytest.mark.unit

ROOT = Path(__file__).parents[2]
# What only tasks, triggers and pages need; the first three took most of the time.
HEAVY = (
    "airflow.models",
    "sqlalchemy",
    "airflow.providers.openlineage",
    "airflow.providers.apache",
    "airflow.providers.standard.operators.trigger_dagrun",
    "confluent_kafka",
    "fastapi",
    "paramiko",
    "pyspark",
)
# The rooms of the package that declare: what a migration file may say, and which tasks there are.
DECLARING = {
    "__version__",
    "airflow_adapters.airflow_settings",
    "airflow_adapters.deployed_airflow",
    "core.documents",
    "core.findings",
    "core.kafka",
    "core.ledger",
    "core.migration",
    "core.run",
    "core.text",
    "migration_file",
    "orchestration",
}
USERS_PROGRAM = """
import json, sys
import airflow.sdk
before = set(sys.modules)
from kafka_migration.operators import ConsumerGroupLagSensor, FinishOperator, HookOperator, ValidateTopicsOperator
print(json.dumps(sorted(set(sys.modules) - before)))
"""
# What the tasks of a run import that has nothing to copy, besides those that ask a cluster or the host.
TASKS_PROGRAM = """
import json, sys
import airflow.sdk
before = set(sys.modules)
import kafka_migration.orchestration.task.context
import kafka_migration.steps.finish.finish_run
import kafka_migration.steps.mirror.start_stop
import kafka_migration.steps.mirror.stop_mirror
import kafka_migration.steps.mirror.watching
import kafka_migration.steps.validation.judge_topics
import kafka_migration.steps.validation.spark_request
print(json.dumps(sorted(set(sys.modules) - before)))
"""
CLIENTS = ("airflow.providers.apache", "airflow.providers.ssh", "confluent_kafka", "cryptography.x509", "paramiko")
PROGRAM = """
import json, runpy, sys
import airflow.sdk
before = set(sys.modules)
made = runpy.run_path(sys.argv[1])
dags = {name: dag for name, dag in made.items() if str(name).startswith("kafka_")}
assert len(dags) == 3 and all(dag.deadline and "invalid" not in dag.tags for dag in dags.values()), dags
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def _imported(program: str, migrations: Path) -> list[str]:
    """Return the modules that a program says it has imported, in a process of its own."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "plugins"),
        "AIRFLOW__KAFKA_MIGRATION__MIGRATIONS_FOLDER": str(migrations),
        "AIRFLOW__KAFKA_MIGRATION__ALERTS_FILE": str(migrations / "alerts.yml"),
    }
    command = [sys.executable, "-c", program, str(ROOT / "dags" / "kafka_migration.py")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (0, "") == (done.returncode, done.stderr if done.returncode else "")
    return list(json.loads(done.stdout.splitlines()[-1]))


def _is_in(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def test_parsing_imports_only_what_declares(tmp_path: Path, migration_text: str) -> None:
    """Parsing imports no heavy package, and only the rooms that declare tasks, also for a file with every section."""
    more = 'nightly: {cron: "0 1 * * *", until: "05:30"}\ncutover: {hooks: {stop_producers: {dag: stop}}}\n'
    (tmp_path / "shop.yaml").write_text(migration_text + more)
    (tmp_path / "alerts.yml").write_text("notifiers: [{notifier: a.B}]\ntoo_long_after: 2h\n")
    found = _imported(PROGRAM, tmp_path)

    assert [] == [name for name in found if any(_is_in(name, heavy) for heavy in HEAVY)]
    ours = {name.removeprefix("kafka_migration.") for name in found if name.startswith("kafka_migration.")}
    rooms = {room for room in ours if "." in room}
    assert set() == {room for room in rooms if not any(_is_in(room, allowed) for allowed in DECLARING)}


def test_operators_in_a_dag_of_a_user_import_nothing_heavy(tmp_path: Path) -> None:
    """A DAG file of a user that imports operators and sensors imports no heavy package, no use case and no trigger."""
    found = _imported(USERS_PROGRAM, tmp_path)

    parts = ("kafka_migration.steps", "kafka_migration.preflight", "kafka_migration.orchestration.triggers")
    assert [] == [name for name in found if any(_is_in(name, part) for part in (*HEAVY, *parts))]


def test_use_cases_import_no_client_before_they_ask(tmp_path: Path) -> None:
    """A task imports the client of Kafka, of the host or of Spark when it asks one; many tasks of a night ask none."""
    found = _imported(TASKS_PROGRAM, tmp_path)

    assert [] == [name for name in found if any(_is_in(name, client) for client in CLIENTS)]


def test_every_exported_name_can_be_imported() -> None:
    """Each name that `kafka_migration.operators` exports is there, also those of triggers."""
    assert [] == [name for name in operators.__all__ if getattr(operators, name).__name__ != name]
    with pytest.raises(AttributeError, match="has no attribute 'NoTrigger'"):
        _ = operators.NoTrigger
