"""A task or trigger context as a `MigrationRun`, and this Airflow as its `Deployment`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from airflow.sdk import Context, conf

from kafka_migration.adapters.store.digest_keeper import TaskKeeper
from kafka_migration.airflow_adapters import airflow_settings as settings
from kafka_migration.airflow_adapters.airflow_metrics import emit
from kafka_migration.airflow_adapters.deployment_factory import airflow_deployment
from kafka_migration.airflow_adapters.ledger_anchor import VariableAnchor
from kafka_migration.core.kafka.cluster import KafkaCluster
from kafka_migration.core.migration.settings import Insecurity, Mode
from kafka_migration.core.report.alerts import run_link
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.core.run.run_window import Interval, RunType
from kafka_migration.orchestration.report_link import report_link
from kafka_migration.orchestration.task.digest_store import TaskShelf, TriggerShelf
from kafka_migration.steps.run.deployment import Deployment
from kafka_migration.steps.run.migration_run import MigrationRun
from kafka_migration.steps.run.run_request import Occasion


def identity_of(context: Context) -> RunIdentity:
    """Return the run and the attempt to which a task belongs."""
    dag_run = context["dag_run"]
    return RunIdentity(dag_run.dag_id, dag_run.run_id, (dag_run.clear_number or 0) + 1)


def nightly_mode_of(context: Context) -> Mode | None:
    """Return the mode of a run of the nightly DAG; `None` for all other DAGs, whose params set the mode.

    A user's own DAG with these operators may have a schedule and still needs a mode in its params.
    """
    if not identity_of(context).is_nightly:
        return None
    return Mode.INTERVAL if run_type_of(context) is RunType.BACKFILL else Mode.SYNC


def occasion_of(context: Context) -> Occasion:
    """Return what started the run of a task."""
    dag_run = context["dag_run"]
    return Occasion(run_type_of(context), Interval(dag_run.data_interval_start, dag_run.data_interval_end))


def run_type_of(context: Context) -> RunType:
    """Return Airflow's type of the run; a run triggered by an asset or another DAG counts as manual."""
    # Airflow's enum members are strings but do not print as their values.
    run_type = context["dag_run"].run_type.value
    return RunType(run_type) if run_type in set(RunType) else RunType.MANUAL


def triggered_by(context: Context) -> str | None:
    """Return the name of the user who triggered the run; `None` if Airflow does not know it."""
    return getattr(context["dag_run"], "triggering_user_name", None) or None


def started_at(context: Context) -> str | None:
    """Return the start time of the run as ISO 8601 text with seconds; `None` if Airflow does not know it."""
    moment: datetime | None = getattr(context["dag_run"], "start_date", None)
    return None if moment is None else moment.isoformat(timespec="seconds")


def run_of(context: Context, migration_name: str) -> MigrationRun:
    """Return the run that a task belongs to."""
    shelf = TaskShelf(context, migration_name)
    keeper = TaskKeeper(shelf, migration_name)
    params = context.get("params") or {}
    mode, try_id = nightly_mode_of(context), str(context["ti"].id)
    return MigrationRun(migration_name, identity_of(context), params, deployment(), mode, keeper, shelf.tasks, try_id)


def bare_run_of(context: Context, migration_name: str) -> MigrationRun:
    """Return the run without what Airflow keeps of it, for a callback outside of a task."""
    return MigrationRun(migration_name, identity_of(context), context.get("params") or {}, deployment())


def run_from(arguments: Mapping[str, Any]) -> MigrationRun:
    """Return, in a trigger, the run that `MigrationRun.to_arguments` described."""
    identity = RunIdentity(arguments["dag_id"], arguments["run_id"], arguments["attempt"])
    mode, name, tasks = arguments["nightly_mode"], arguments["migration"], arguments["tasks"]
    keeper = TaskKeeper(TriggerShelf(identity, tasks, name), name, arguments["digests"])
    nightly_mode = None if mode is None else Mode(mode)
    return MigrationRun(name, identity, arguments["params"], deployment(), nightly_mode, keeper, tasks)


def deployment() -> Deployment:
    """Return what this Airflow is to a run: its configuration, its connections, its variables."""
    made = airflow_deployment(VariableAnchor, link_to)
    spark_path = lambda path: settings.evidence_place().for_spark(path)  # noqa: E731
    return replace(made, send_metrics=emit, report_link=report_link_to, spark_path=spark_path)


def report_link_to(identity: RunIdentity) -> str:
    """Return the URL of the report of a run, based on `[api] base_url`."""
    return report_link(_base_url(), identity.dag_id, identity.run_id)


def link_to(identity: RunIdentity, task_id: str = "") -> str:
    """Return the URL of a run in Airflow's UI, or of a task's Required Action, based on `[api] base_url`."""
    return run_link(_base_url(), identity.dag_id, identity.run_id, task_id)


def _base_url() -> str:
    return conf.get("api", "base_url", fallback="") or "http://localhost:8080"


def cluster_at(connection_id: str, insecure: Collection[str] = ()) -> KafkaCluster:
    """Return the cluster of an Airflow connection that does not belong to a migration."""
    from kafka_migration.airflow_adapters.airflow_connections import cluster_named

    return cluster_named("", connection_id, tuple(Insecurity(each) for each in insecure))
