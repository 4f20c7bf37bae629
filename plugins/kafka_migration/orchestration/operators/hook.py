"""A user's own work in a cutover: a DAG that is run and waited for, or a Python callable."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk import Context
from airflow.sdk.exceptions import AirflowSkipException, TaskDeferred

from kafka_migration.core.codes import Code
from kafka_migration.core.errors import Finding, Refused
from kafka_migration.core.evidence import Kind
from kafka_migration.core.migration import Hook, HookName
from kafka_migration.core.watch import TRIGGER_MARGIN
from kafka_migration.orchestration.operators.base import Summary, reporting
from kafka_migration.orchestration.run import MigrationRun
from kafka_migration.orchestration.triggers.announcement import AnnouncementTrigger

POLL_S = 5


class HookOperator(TriggerDagRunOperator):
    """Call what `cutover.hooks` names for a moment of the cutover.

    :param migration: name of the migration. (templated)
    :param hook: the moment. `stop_producers` waits, deferred, until the watch announces it; the task succeeds without
        doing anything where there is nothing to call, because the validation follows it. The others skip in a mode that
        moves no groups, and do nothing where there is nothing to call.

    A DAG gets the call as its conf, a callable as keyword arguments: `migration`, `run`, `topics` (by their names on
    the target), `source` and `target` (Airflow connections). What a callable returns goes into the evidence. Tried
    again, the DAG's run is cleared, and the callable called again.
    """

    template_fields: Sequence[str] = ("migration",)

    def __init__(self, *, migration: str, hook: str, **kwargs: Any) -> None:
        waiting = {"wait_for_completion": True, "deferrable": True, "poke_interval": POLL_S, "reset_dag_run": True}
        # The run of a paused DAG never begins, and would be waited for as long.
        super().__init__(trigger_dag_id="", fail_when_dag_is_paused=True, **{**waiting, **kwargs})
        self.migration = migration
        self.hook = hook

    def execute(self, context: Context) -> Any:
        """Wait for the moment, then call."""
        run = MigrationRun.from_context(context, self.migration)
        with reporting(run, self.task_id):
            called = run.migration.cutover.hooks.get(HookName(self.hook))
            if self.hook != HookName.STOP_PRODUCERS and not run.request.mode.moves_groups:
                raise AirflowSkipException(f"Mode {run.request.mode} moves no consumer groups.")
            if called is None or not run.request.mode.moves_groups:
                return {"called": None}
            if self.hook == HookName.STOP_PRODUCERS:
                self._wait(run)
            return self._call(context, run, called)

    def _wait(self, run: MigrationRun) -> None:
        time_limit_s = run.migration.watch.time_limit_s + run.migration.cutover.fence_wait_s
        deadline = run.clock.now() + timedelta(seconds=time_limit_s)
        raise TaskDeferred(
            trigger=AnnouncementTrigger(run=run.to_arguments(), deadline=deadline.isoformat()),
            method_name="announced",
            timeout=deadline - run.clock.now() + TRIGGER_MARGIN,
        )

    def announced(self, context: Context, event: Mapping[str, Any]) -> Any:
        """Call, if the watch got so far."""
        run = MigrationRun.from_context(context, self.migration)
        with reporting(run, self.task_id):
            if not event["announced"]:
                raise AirflowSkipException("The watch ended before the producers were to stop.")
            return self._call(context, run, run.migration.cutover.hooks[HookName(self.hook)])

    def _call(self, context: Context, run: MigrationRun, hook: Hook) -> Any:
        arguments = _arguments(run)
        if hook.dag is None:
            result = _function(hook)(**arguments)
            return _record(run, self.hook, hook, _as_json(result))
        self.trigger_dag_id = hook.dag
        self.trigger_run_id = self._run_id(run)
        self.conf = arguments
        self.log.info("%s runs as %s.", hook, self.trigger_run_id)
        return super().execute(context)

    def execute_complete(self, context: Context, event: tuple[str, dict[str, Any]]) -> Summary:
        """Record that the DAG's run has ended well; raises if it has not."""
        super().execute_complete(context, event)
        run = MigrationRun.from_context(context, self.migration)
        with reporting(run, self.task_id):
            hook = run.migration.cutover.hooks[HookName(self.hook)]
            return _record(run, self.hook, hook, {"run_id": self._run_id(run)})

    def _run_id(self, run: MigrationRun) -> str:
        return f"{run.identity.run_id}__{run.name}__{self.hook}"


def _arguments(run: MigrationRun) -> dict[str, Any]:
    return {
        "migration": run.name,
        "run": run.identity.holder,
        "topics": [run.migration.target_topic(topic) for topic in run.migration.topics],
        "source": run.migration.source.connection,
        "target": run.migration.target.connection,
    }


def _function(hook: Hook) -> Any:
    module, _, name = str(hook.callable).rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        finding = Finding(
            Code.HOOK_NOT_FOUND,
            f"cutover.hooks: {hook}",
            f"{type(error).__name__}: {error}",
            "a function of a module that Airflow's workers can import",
            "Correct the path, or put the module where workers find it (the folder `plugins`, or a package).",
        )
        raise Refused([finding]) from None


def _as_json(result: Any) -> Any:
    """Return what a callable returned, if it can be kept; else its text."""
    try:
        json.dumps(result)
    except (TypeError, ValueError):
        return repr(result)
    return result


def _record(run: MigrationRun, name: str, hook: Hook, result: Any) -> Summary:
    document = {"at": run.now(), "hook": name, "called": str(hook), "result": result}
    run.evidence.write(Kind.HOOK, document)
    return {"called": str(hook)}
