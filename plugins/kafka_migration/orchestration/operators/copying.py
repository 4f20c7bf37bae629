"""The operators of the copy itself: `plan`, `create_topics`, `start_mirror`, `stop_mirror`, `restore_settings`."""

from __future__ import annotations

from airflow.sdk import Context

from kafka_migration.orchestration.operators.operator_base import MigrationOperator
from kafka_migration.steps.groups.restore_settings import restore_settings
from kafka_migration.steps.mirror.plan_mirror import plan
from kafka_migration.steps.mirror.start_stop import start_mirror
from kafka_migration.steps.mirror.stop_mirror import stop_mirror
from kafka_migration.steps.mirror.topic_creation import create_topics
from kafka_migration.steps.run.migration_run import MigrationRun
from kafka_migration.steps.run.task_frame import Summary


class PlanOperator(MigrationOperator):
    """Plan the run: topics to create or grow, positions and frozen goals per source partition.

    The goal is the present end of the source; later records belong to the next run. The present state is compared with
    the last stop certificate. A gap refuses the run before anything is started.

    For a run with an interval, the interval's bounds are written to the ledger. In mode `interval` the goal is the
    interval's end. If nothing has to be copied, the run only answers, and findings that would refuse a copy become
    warnings.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Read both clusters, compare, and write the plan."""
        return plan(run)


class CreateTopicsOperator(MigrationOperator):
    """Create the planned topics, and add partitions to the migration's topics whose source topic has more.

    New topics get the source's partition count and topic settings, but retention is disabled: record timestamps are
    kept, so the target would delete old records on arrival. The real values are recorded in the ledger. If a cutover
    restored them and was rolled back, they are frozen again. The task is idempotent: a topic is announced in the ledger
    before it is created, so that the next try recognizes it after an interruption.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Create topics, add partitions, freeze settings, and record the result. Refuses a login without rights."""
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
        """Adopt the running process, or close what a dead run left open and start the next generation."""
        return start_mirror(run)


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
        """Stop, certify and record."""
        return stop_mirror(run)


class RestoreSettingsOperator(MigrationOperator):
    """Set the frozen settings of target topics to their real values, which the ledger recorded at their creation.

    After a cutover it restores the topics that were moved, after a rollback those that were rolled back. It only
    changes topics that this package created and that have not been recreated since. If the cluster denies the change,
    the task does not fail, because everything else is done; the report lists what is left to do manually. The task is
    idempotent.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Restore the settings and record the result."""
        return restore_settings(run)
