"""User hooks of a cutover, and the question whether the producers have stopped, which replaces a missing hook.

A task that has asked is deferred. The trigger resumes it when the watch ends; Airflow resumes it when a user answers.
Airflow before 3.3 does not, so there the trigger looks for the answer too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseOperatorLink, Context
from airflow.sdk.exceptions import TaskDeferred

from kafka_migration.airflow_adapters.deployed_airflow import RESUMES_TASKS_WITH_ANSWERS
from kafka_migration.core.migration.settings import Hook, HookName
from kafka_migration.orchestration.operators.operator_base import MigrationOperator, reporting
from kafka_migration.orchestration.operators.provider_operator import divided, executed, provided, refuse_unknown

if TYPE_CHECKING:
    from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator

    from kafka_migration.core.watching.producers_question import ProducersAsk
    from kafka_migration.steps.run.migration_run import MigrationRun
    from kafka_migration.steps.run.task_frame import Summary


def waiting_for_watch(
    run: MigrationRun, method_name: str, *, is_over: bool = False, asked: Context | None = None
) -> TaskDeferred:
    """Return the deferral of a task until the watch announces that the producers must stop, or until it ends.

    `asked` is the context of a task that has asked; it is also resumed when a user answers.
    """
    from kafka_migration.core.watching.watch import TRIGGER_MARGIN
    from kafka_migration.orchestration.triggers.announcement import AnnouncementTrigger

    question = None if asked is None or RESUMES_TASKS_WITH_ANSWERS else str(asked["task_instance"].id)
    time_limit_s = run.migration.watch.time_limit_s + run.migration.cutover.fence_wait_s
    deadline = run.clock.now() + timedelta(seconds=time_limit_s)
    return TaskDeferred(
        trigger=AnnouncementTrigger(
            run=run.to_arguments(), deadline=deadline.isoformat(), is_over=is_over, question=question
        ),
        method_name=method_name,
        timeout=deadline - run.clock.now() + TRIGGER_MARGIN,
    )


def ask(run: MigrationRun, context: Context) -> None:
    """Ask whether the producers have stopped. An earlier answer is discarded."""
    from airflow.sdk.execution_time.hitl import upsert_hitl_detail

    from kafka_migration.core.watching.producers_question import OPTIONS, question_body
    from kafka_migration.steps.mirror.producers_answer import ask_about_producers

    stop = ask_about_producers(run)
    upsert_hitl_detail(
        ti_id=context["task_instance"].id,
        options=list(OPTIONS),
        subject=f"{stop.instruction}. Have they stopped?",
        body=question_body(stop),
        params={},
    )


POLL_S = 5


class TriggeredDagLink(BaseOperatorLink):
    """The provider's link from a task to the DAG run that it triggered, under the provider's key."""

    name = "Triggered DAG"

    @property
    def xcom_key(self) -> str:
        """Return the key of the link in XCom."""
        return "_link_TriggerDagRunLink"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        """Return the URL of the run that the operator triggered."""
        from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunLink

        return str(TriggerDagRunLink().get_link(operator, ti_key=ti_key))


class HookOperator(MigrationOperator):
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

    ui_color = "#ffefeb"
    operator_extra_links: Collection[Any] = (TriggeredDagLink(),)

    def __init__(self, *, migration: str, hook: str, **kwargs: Any) -> None:
        own, given = divided(kwargs)
        super().__init__(migration=migration, **own)
        self.hook = hook
        waiting = {"wait_for_completion": True, "deferrable": True, "poke_interval": POLL_S, "reset_dag_run": True}
        # The run of a paused DAG never starts, and the task would wait for it.
        self.trigger_arguments = {"fail_when_dag_is_paused": True, **waiting, **given}
        self.trigger_dag_id = ""
        if given:
            self._check_arguments(given)

    def _check_arguments(self, given: Mapping[str, Any]) -> None:
        from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator

        refuse_unknown(self, TriggerDagRunOperator, given)

    def step(self, run: MigrationRun, context: Context) -> Any:
        """Wait for the moment, then call."""
        from kafka_migration.steps.groups.cutover_end import hook_of
        from kafka_migration.steps.mirror.producers_answer import known_answer
        from kafka_migration.steps.run.task_frame import skip_unless_moving

        skip_unless_moving(run)
        self._forget_link()
        if self.hook == HookName.STOP_PRODUCERS:
            if answer := known_answer(run):
                return self._told(answer)
            raise waiting_for_watch(run, "announced")
        return self._call(context, run, hook_of(run, HookName(self.hook)))

    def announced(self, context: Context, event: Mapping[str, Any]) -> Any:
        """Call the hook or ask, if the watch has announced that the producers must stop."""
        from kafka_migration.orchestration.task.context import run_of
        from kafka_migration.steps.run.task_frame import NothingToDo

        run = run_of(context, self.migration)
        with reporting(run, self.task_id):
            self._forget_link()
            if not event["announced"]:
                raise NothingToDo("The watch ended before it announced that the producers must stop.")
            hook = run.migration.cutover.hooks.get(HookName(self.hook))
            if hook is not None:
                return self._call(context, run, hook)
            ask(run, context)
            self.log.warning("Have the producers stopped? Answer in Airflow (Required Actions of this task).")
            raise waiting_for_watch(run, "answered", is_over=True, asked=context)

    def answered(self, context: Context, event: Mapping[str, Any]) -> Any:
        """Record the answer, or succeed without one: the watch is over and reports its own result."""
        from kafka_migration.orchestration.task.context import run_of
        from kafka_migration.steps.mirror.producers_answer import take_answer

        run = run_of(context, self.migration)
        with reporting(run, self.task_id):
            self._forget_link()
            if not event.get("chosen_options"):
                self.log.info("The watch is over. No answer is needed any more.")
                return {"chosen": None}
            user = event.get("responded_by_user") or {}
            by = user.get("name") or user.get("id") or "an unnamed user"
            return self._told(take_answer(run, event["chosen_options"][0], by, event["responded_at"]))

    def _told(self, answer: ProducersAsk) -> Summary:
        self.log.info("%s: %s at %s. The fence must prove it.", answer.chosen, answer.by, answer.answered_at)
        return {"chosen": answer.chosen, "by": answer.by}

    def _forget_link(self) -> None:
        """Remove the link to a triggered DAG run; `_call` sets it if there is one."""
        self.operator_extra_links = ()

    def _call(self, context: Context, run: MigrationRun, hook: Hook) -> Any:
        from kafka_migration.steps.groups.cutover_end import call_function

        if hook.dag is None:
            return call_function(run, self.hook, hook)
        self.operator_extra_links = (TriggeredDagLink(),)
        trigger = self._trigger(run, hook.dag)
        self.log.info("%s runs as %s.", hook, trigger.trigger_run_id)
        return executed(trigger, context)

    def _trigger(self, run: MigrationRun, dag_id: str) -> TriggerDagRunOperator:
        """Return the provider's operator, which triggers the DAG of the hook and judges how its run ended."""
        from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator

        from kafka_migration.steps.groups.cutover_end import arguments_of

        # The link reads it.
        self.trigger_dag_id = dag_id
        what = {"trigger_dag_id": dag_id, "trigger_run_id": self._run_id(run), "conf": arguments_of(run)}
        return provided(self, TriggerDagRunOperator, {**self.trigger_arguments, **what})

    def execute_complete(self, context: Context, event: tuple[str, dict[str, Any]]) -> Summary:
        """Record that the DAG's run has succeeded; raises if it has not."""
        from kafka_migration.orchestration.task.context import run_of
        from kafka_migration.steps.groups.cutover_end import record_hook

        run = run_of(context, self.migration)
        with reporting(run, self.task_id):
            hook = run.migration.cutover.hooks[HookName(self.hook)]
            self._trigger(run, hook.dag or "").execute_complete(context, event)
            return record_hook(run, self.hook, hook, {"run_id": self._run_id(run)})

    def _run_id(self, run: MigrationRun) -> str:
        return f"{run.identity.run_id}__{run.name}__{self.hook}"
