"""`start_mirror`: starts the next generation of MirrorMaker on its host."""

from __future__ import annotations

from airflow.sdk import Context

from kafka_migration.core.findings.errors import MirrorFailed
from kafka_migration.core.mirror.diagnosis import with_causes
from kafka_migration.core.mirror.mirror_process import ProcessReply
from kafka_migration.core.stored.stored_documents import MirrorNotStarted, MirrorStarted, Stored
from kafka_migration.orchestration.operators.operator_base import MigrationOperator, Summary
from kafka_migration.steps.mirror.start_stop import end_when_settled, start_generation, stop_generation
from kafka_migration.steps.run.migration_run import MigrationRun


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
        plan = run.evidence.require(Stored.PLAN)
        if not plan.offsets_to_copy and not run.request.mode.follows_source:
            return self._not_started(run, "nothing to copy")
        reply = self._present(run)
        if reply is None and (reason := run.run_window.still_at(run.clock.now())):
            return self._not_started(run, reason)
        reply = reply or self._start(run)
        run.evidence.write(Stored.START, MirrorStarted(run.now(), reply.generation, reply.pid))
        self.log.info("MirrorMaker generation %d is running with pid %s", reply.generation, reply.pid)
        return {"generation": reply.generation, "pid": reply.pid}

    def _start(self, run: MigrationRun) -> ProcessReply:
        try:
            return start_generation(run)
        except MirrorFailed as error:
            # The host's refusal ends with MirrorMaker's log.
            raise MirrorFailed(with_causes(error.findings, "", run.migration.mirror.heap_mb)) from None

    def _not_started(self, run: MigrationRun, reason: str) -> Summary:
        self.log.info("MirrorMaker is not started: %s.", reason)
        run.evidence.write(Stored.START, MirrorNotStarted(run.now(), reason))
        return {"generation": None, "pid": None}

    def _present(self, run: MigrationRun) -> ProcessReply | None:
        """Return the running process of this attempt; stop and certify one that an earlier run left open."""
        generation = run.ledger.known().open_generation
        if generation is None:
            return None
        reply = run.process.status()
        if generation.start.run == run.identity.holder and reply.is_running:
            return reply
        end_when_settled(run, generation, stop_generation(run, generation), f"left open by {generation.start.run}")
        return None
