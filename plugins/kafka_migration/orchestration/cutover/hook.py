"""User hooks of a cutover: a DAG that is triggered and awaited, or a Python callable."""

from __future__ import annotations

import importlib
import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunLink, TriggerDagRunOperator
from airflow.sdk import Context
from airflow.sdk.exceptions import AirflowSkipException

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.migration.settings import Hook, HookName
from kafka_migration.core.stored.stored_documents import HookDocument, Stored
from kafka_migration.core.text.shortened import sentence
from kafka_migration.core.watching.producers_question import ProducersAsk
from kafka_migration.orchestration.cutover.asking_producers import ask, known_answer, take_answer, waiting_for_watch
from kafka_migration.orchestration.operators.operator_base import reporting
from kafka_migration.orchestration.task.context import run_of
from kafka_migration.orchestration.task.failures import never_again
from kafka_migration.steps.run.migration_run import MigrationRun
from kafka_migration.steps.run.task_frame import Summary, skip_unless_moving

POLL_S = 5


class HookOperator(TriggerDagRunOperator):
    """Call the hook that `cutover.hooks` configures for a moment of the cutover.

    :param migration: name of the migration. (templated)
    :param hook: the moment. `stop_producers` waits, deferred, until the watch announces it. Without a configured hook
        it asks whether the producers have stopped (Airflow's *Required Actions*). The question closes when the watch is
        over, because the fence proves it. *Abort the cutover* ends the watch and fails the task. `after_cutover` is
        skipped if it is not configured. Both hooks are skipped in a mode that moves no groups.

    A DAG gets the arguments as its conf, a callable as keyword arguments: `migration`, `run`, `topics` (by their names
    on the target), `source` and `target` (Airflow connections). A callable's return value goes into the evidence. A
    retry clears the DAG's run or calls the callable again.
    """

    template_fields: Sequence[str] = ("migration",)

    def __init__(self, *, migration: str, hook: str, **kwargs: Any) -> None:
        waiting = {"wait_for_completion": True, "deferrable": True, "poke_interval": POLL_S, "reset_dag_run": True}
        # The run of a paused DAG never starts, and the task would wait for it.
        super().__init__(trigger_dag_id="", fail_when_dag_is_paused=True, **{**waiting, **kwargs})
        self.migration = migration
        never_again(self)
        self.hook = hook

    def execute(self, context: Context) -> Any:
        """Wait for the moment, then call."""
        run = run_of(context, self.migration)
        with reporting(run, self.task_id):
            skip_unless_moving(run)
            self._forget_link()
            called = run.migration.cutover.hooks.get(HookName(self.hook))
            if self.hook == HookName.STOP_PRODUCERS:
                if answer := known_answer(run):
                    return self._told(answer)
                raise waiting_for_watch(run, "announced")
            if called is None:
                raise AirflowSkipException(f"cutover.hooks of the migration file has no {self.hook}.")
            return self._call(context, run, called)

    def announced(self, context: Context, event: Mapping[str, Any]) -> Any:
        """Call the hook or ask, if the watch has announced that the producers must stop."""
        run = run_of(context, self.migration)
        with reporting(run, self.task_id):
            self._forget_link()
            if not event["announced"]:
                raise AirflowSkipException("The watch ended before it announced that the producers must stop.")
            hook = run.migration.cutover.hooks.get(HookName(self.hook))
            if hook is not None:
                return self._call(context, run, hook)
            ask(run, context)
            self.log.warning("Have the producers stopped? Answer in Airflow (Required Actions of this task).")
            raise waiting_for_watch(run, "answered", is_over=True, asked=context)

    def answered(self, context: Context, event: Mapping[str, Any]) -> Any:
        """Record the answer, or succeed without one: the watch is over and reports its own result."""
        run = run_of(context, self.migration)
        with reporting(run, self.task_id):
            self._forget_link()
            answer = take_answer(run, event)
            if answer is None:
                self.log.info("The watch is over. No answer is needed any more.")
                return {"chosen": None}
            return self._told(answer)

    def _told(self, answer: ProducersAsk) -> Summary:
        self.log.info("%s: %s at %s. The fence must prove it.", answer.chosen, answer.by, answer.answered_at)
        return {"chosen": answer.chosen, "by": answer.by}

    def _forget_link(self) -> None:
        """Remove the link to a triggered DAG run; `_call` sets it if there is one."""
        self.operator_extra_links: Collection[Any] = []

    def _call(self, context: Context, run: MigrationRun, hook: Hook) -> Any:
        arguments = _arguments(run)
        if hook.dag is None:
            result = _function(hook)(**arguments)
            return _record(run, self.hook, hook, _as_json(result))
        self.operator_extra_links = [TriggerDagRunLink()]
        self.trigger_dag_id = hook.dag
        self.trigger_run_id = self._run_id(run)
        self.conf = arguments
        self.log.info("%s runs as %s.", hook, self.trigger_run_id)
        return super().execute(context)

    def execute_complete(self, context: Context, event: tuple[str, dict[str, Any]]) -> Summary:
        """Record that the DAG's run has succeeded; raises if it has not."""
        super().execute_complete(context, event)
        run = run_of(context, self.migration)
        with reporting(run, self.task_id):
            hook = run.migration.cutover.hooks[HookName(self.hook)]
            return _record(run, self.hook, hook, {"run_id": self._run_id(run)})

    def _run_id(self, run: MigrationRun) -> str:
        return f"{run.identity.run_id}__{run.name}__{self.hook}"


def _arguments(run: MigrationRun) -> dict[str, Any]:
    done = run.evidence.newest(Stored.CUTOVER)
    topics = done.topics if done else run.migration.topics
    return {
        "migration": run.name,
        "run": run.identity.holder,
        "topics": [run.migration.target_topic(topic) for topic in topics],
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
            "a function in a module that Airflow's workers can import",
            "Correct the path, or install the module on the workers (in the `plugins` folder or as a package).",
            happened=sentence(f"The {hook} of cutover.hooks cannot be imported: {type(error).__name__}: {error}"),
            matters="The hook was not called, so what it has to do in this cutover is not done.",
        )
        raise Refused([finding]) from None


def _as_json(result: Any) -> Any:
    """Return a callable's return value if it can be written as JSON, else its text."""
    try:
        json.dumps(result)
    except (TypeError, ValueError):
        return repr(result)
    return result


def _record(run: MigrationRun, name: str, hook: Hook, result: Any) -> Summary:
    run.evidence.write(Stored.HOOK, HookDocument(run.now(), name, str(hook), result))
    return {"called": str(hook)}
