"""The operators of a copy: from `preflight` to `judge`, and `restore_settings`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from airflow.sdk import Context, TriggerRule
from airflow.sdk.exceptions import TaskDeferred

from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.run.task_steps import COPYING, TaskId, expected_skips
from kafka_migration.orchestration.operators.operator_base import MigrationOperator
from kafka_migration.orchestration.operators.spark_job import SparkJobOperator
from kafka_migration.orchestration.task.lineage import CopiedTopics, TellsLineage

if TYPE_CHECKING:
    from kafka_migration.core.run.run_identity import RunIdentity
    from kafka_migration.steps.before.take_reservation import MustWait
    from kafka_migration.steps.reading.spark_documents import SparkJobs
    from kafka_migration.steps.run.migration_run import MigrationRun
    from kafka_migration.steps.run.task_frame import Summary


class PreflightOperator(MigrationOperator):
    """Freeze `<migrations_folder>/<migration>.yaml` into the run's evidence and run every check.

    All later tasks read the frozen copy, so editing the file during a run has no effect on it. All refusals are
    reported together; nothing is started or changed. A scheduled run that begins outside its window does nothing, so
    nothing is checked.
    """

    tells_step = False
    begins_attempt = True

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Freeze, check, refuse or pass."""
        from kafka_migration.airflow_adapters.checked_airflow import ThisAirflow
        from kafka_migration.orchestration.task.context import occasion_of
        from kafka_migration.steps.before.preflight_checks import preflight

        return preflight(run, ThisAirflow(), occasion_of(context))


# A tuple, not a set: Airflow's enum members equal these strings but hash differently.
FINISHED = ("success", "failed")


class ReserveOperator(MigrationOperator):
    """Reserve the migration for this run: from here to `finish` no other run may act on it.

    A reservation held by a finished or deleted run, or by an earlier attempt of this run, is taken over, and the
    take-over is recorded. If an active run holds it, a scheduled run (`nightly.when_reserved: wait`) and a backfill run
    wait, deferred, for at most `nightly.wait_limit`, and a scheduled run not beyond its window. All other runs, and
    runs that have waited that long, are refused (`RESERVED_BY`). A run with nothing to do is skipped here, with all its
    downstream tasks.

    A holder that is no run, as of a person who reserved by hand, is refused at once. So is a host that names a new
    holder after each of three take-overs.

    Waiting runs have no order: the first run that asks when the reservation is free gets it.
    """

    tells_step = False

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Reserve, take over from a holder that no longer exists, or defer."""
        from kafka_migration.steps.before.take_reservation import MustWait, reserve

        try:
            return reserve(run, partial(_is_over, context["ti"]))
        except MustWait as wait:
            raise _waiting(run, wait) from None

    def try_again(self, context: Context, event: Mapping[str, Any]) -> Summary:
        """Continue after the trigger saw a change, or when it is time to ask Airflow about the holder's run."""
        return self.execute(context)


def _waiting(run: MigrationRun, wait: MustWait) -> TaskDeferred:
    from kafka_migration.core.watching.watch import TRIGGER_MARGIN
    from kafka_migration.orchestration.triggers.reservation import ReservationTrigger

    deadline = wait.deadline.isoformat()
    return TaskDeferred(
        trigger=ReservationTrigger(run=run.to_arguments(), holder=wait.holder, deadline=deadline),
        method_name="try_again",
        timeout=wait.deadline - run.clock.now() + TRIGGER_MARGIN,
    )


def _is_over(task_instance: Any, other: RunIdentity) -> bool:
    """Return whether a run has ended or was deleted."""
    try:
        state = task_instance.get_dagrun_state(dag_id=other.dag_id, run_id=other.run_id)
    except Exception as error:
        # Airflow reports a deleted run as "not found". After any other error the state is unknown: no take-over.
        return "not found" in str(error).lower() or "404" in str(error)
    return state in FINISHED


class PlanOperator(MigrationOperator):
    """Plan the run: topics to create or grow, positions and frozen goals per source partition.

    The goal is the present end of the source; later records belong to the next run. The present state is compared with
    the last stop certificate. A gap refuses the run before anything is started.

    For a run with an interval, the interval's bounds are written to the ledger. In mode `interval` the goal is the
    interval's end. If nothing has to be copied, the run only answers, and findings that would refuse a copy become
    warnings.

    If nothing has to be created or copied, and the mode does not follow the source, `create_topics`, `start_mirror` and
    `watch_lag` are skipped.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Write the plan of the run."""
        from kafka_migration.steps.mirror.plan_mirror import plan

        return plan(run)

    def skips(self, mode: Mode, summary: Summary) -> list[str]:
        """After a plan with nothing to create or copy, no task that creates or copies is needed."""
        needless = expected_skips(mode, is_done=True) & COPYING if summary["is_done"] else frozenset()
        below = self.get_flat_relatives(upstream=False)
        skipped = {task.task_id for task in below} & needless
        return sorted(skipped) if self._may_skip(skipped, below) else []

    def _may_skip(self, skipped: set[str], below: Collection[Any]) -> bool:
        """Return whether all other tasks still run: a DAG of the user's own may have other ids, rules, migrations."""
        is_usual = self.task_id == TaskId.PLAN and not any(task.is_setup for task in below if task.task_id in skipped)
        is_alone = all(getattr(task, "migration", self.migration) == self.migration for task in below)
        return is_usual and is_alone and all(_runs_without(task, skipped) for task in below)


# The rules by which a task runs although tasks before it were skipped.
_AFTER_SKIPS = {TriggerRule.NONE_FAILED, TriggerRule.ALL_DONE, TriggerRule.ALWAYS}


def _runs_without(task: Any, skipped: set[str]) -> bool:
    """Return whether a task is skipped itself, or runs if these tasks are skipped."""
    before = set(task.upstream_task_ids)
    if task.task_id in skipped or not before & skipped or task.is_teardown:
        return True
    needs_one = task.trigger_rule == TriggerRule.NONE_FAILED_MIN_ONE_SUCCESS
    return bool(before - skipped) if needs_one else task.trigger_rule in _AFTER_SKIPS


class CreateTopicsOperator(MigrationOperator):
    """Create the planned topics, and add partitions to the migration's topics whose source topic has more.

    New topics get the source's partition count and topic settings, but retention is disabled: record timestamps are
    kept, so the target would delete old records on arrival. The real values are recorded in the ledger. If a cutover
    restored them and was rolled back, they are frozen again. The task is idempotent: a topic is announced in the ledger
    before it is created, so that the next try recognizes it after an interruption.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Create and grow the topics of the plan."""
        from kafka_migration.steps.mirror.topic_creation import create_topics

        return create_topics(run)


class StartMirrorOperator(MigrationOperator):
    """Start MirrorMaker once: a retry finds the process of the first try and adopts it.

    Before the start, while no process is alive, positions and target ends are written to the ledger and compared with
    the last stop certificate; a gap refuses the start. If the plan has nothing to copy, MirrorMaker is not started,
    except in a mode that follows the source, because records may still arrive. It is also not started outside the
    window for mirroring.

    This task does not wait until records are copied; `watch_lag` does.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Start MirrorMaker, or adopt the process of an earlier try."""
        from kafka_migration.steps.mirror.start_stop import start_mirror

        return start_mirror(run)

    def skips(self, mode: Mode, summary: Summary) -> list[str]:
        """Only a mode that moves groups asks that producers stop."""
        return [] if mode.moves_groups else sorted(self.downstream_task_ids & {TaskId.STOP_PRODUCERS.value})


class StopMirrorOperator(MigrationOperator):
    """Stop the open MirrorMaker process of this migration and write its stop certificate.

    It only needs the reservation and the frozen migration file, which Airflow keeps. So it also stops MirrorMaker if
    the evidence was modified. If no generation is open (nothing was started, or the task was cleared), it changes
    nothing and returns the stored certificate.

    If the ledger cannot be read or written, MirrorMaker is still stopped, and the task fails without a certificate.

    A MirrorMaker that may have lost records is ended with KILL, because an orderly stop would store positions beyond
    them. Records that the source deleted before they were copied fail the task (`GAP_DURING_RUN`) once everything is
    stopped and certified. The log states when the next run must start at the latest.
    """

    needs_evidence = False

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Stop the open generation and certify it."""
        from kafka_migration.steps.mirror.stop_mirror import stop_mirror

        return stop_mirror(run)


class RestoreSettingsOperator(MigrationOperator):
    """Set the frozen settings of target topics to their real values, which the ledger recorded at their creation.

    After a cutover it restores the topics that were moved, after a rollback those that were rolled back. It only
    changes topics that this package created and that have not been recreated since. If the cluster denies the change,
    the task does not fail, because everything else is done; the report lists what is left to do manually. The task is
    idempotent.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Set the real values of the topics that the run moved."""
        from kafka_migration.steps.groups.cutover_end import restore_settings

        return restore_settings(run)


class JudgeOperator(TellsLineage, MigrationOperator):
    """Judge the newest measurements, add the verdicts to the ledger, and fail on anything that is not proved.

    Verdicts: `PASS` every record of the window is on the target, unchanged and in order; `FAIL` something is
    missing, extra, altered or out of order; `NOT_VERIFIABLE` records can no longer be read or be attributed.

    In modes `rehearse` and `cutover`, NOT_VERIFIABLE topics are left out if others are proved: the groups of the others
    are planned. Then `finish` fails a rehearsal, and ends a cutover as *partly done*.

    In mode `interval` the verdict applies to the records of the run's interval, no matter which runs copied and judged
    them. A changed answer is added to the ledger.

    After a good verdict, OpenLineage receives the source topics and the target topics to which they were copied.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Judge, record, and raise if the verdict is bad, unless groups of other topics can be planned."""
        from kafka_migration.steps.validation.judge_topics import judge_copy

        proved = judge_copy(run)
        self.copied = partial(CopiedTopics.of, run, proved.topics)
        return proved.summary

    def ends_mode(self, mode: Mode) -> bool:
        """Only a mode that plans the consumer groups continues."""
        return not mode.plans_groups


class ValidateTopicsOperator(SparkJobOperator):
    """Measure counts, content and order of the run's windows on both sides, in one Spark application.

    :param migration: name of the migration. (templated)

    Mode `sync` reads the windows of all stopped generations that no run has judged yet. Mode `interval` reads the same
    windows except those that an earlier attempt found good. Mode `validate` reads the whole copy again, or only the
    windows of the generations in its parameters. If there is nothing to read, Spark is not started.

    After `RunWindow.validate_until` Spark is not started, or is stopped if it is running. Then the task is skipped
    and leaves its windows to the next run. The limit only applies to the attempt whose preflight set it, not to a task
    that is cleared later.

    This task does not judge. It succeeds when the measurements are written, regardless of their result.
    """

    def work(self, run: MigrationRun, jobs: SparkJobs) -> Summary:
        """Measure what the mode asks for."""
        from kafka_migration.steps.validation.spark_request import validate_topics

        return validate_topics(run, jobs)
