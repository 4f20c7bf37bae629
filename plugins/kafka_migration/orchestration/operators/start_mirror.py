"""`start_mirror`: starts the next generation of MirrorMaker on its host."""

from __future__ import annotations

from airflow.sdk import Context

from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.mirror.host import HostReply
from kafka_migration.orchestration.operators.base import MigrationOperator, Summary
from kafka_migration.steps.mirror.start_stop import end_when_settled, start_generation, stop_generation
from kafka_migration.steps.run import MigrationRun


class StartMirrorOperator(MigrationOperator):
    """Start MirrorMaker, once: tried again, it finds the process of the first try and adopts it.

    Before the start, with no process alive, positions and target ends go into the ledger; they are compared
    with the last stop certificate, and a gap refuses the start. Where the plan found nothing to copy, nothing
    is started, but in a mode that follows the source: records may arrive until it ends. Neither is it where the
    window for mirroring is over, or never began.

    What it does not do: wait for anything to be copied; that is the sensor's task.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Adopt, or close what a dead run left open and start the next generation."""
        plan = run.evidence.require(Kind.PLAN)
        if not plan["offsets_to_copy"] and not run.request.mode.follows_source:
            return self._not_started(run, "nothing to copy")
        reply = self._present(run)
        if reply is None and (reason := run.occasion.still_at(run.clock.now())):
            return self._not_started(run, reason)
        reply = reply or start_generation(run)
        document = {"at": run.now(), "started": True, "generation": reply.generation, "pid": reply.pid}
        run.evidence.write(Kind.START, document)
        self.log.info("MirrorMaker generation %d runs with pid %s", reply.generation, reply.pid)
        return {"generation": reply.generation, "pid": reply.pid}

    def _not_started(self, run: MigrationRun, reason: str) -> Summary:
        self.log.info("MirrorMaker is not started: %s.", reason)
        run.evidence.write(Kind.START, {"at": run.now(), "started": False, "reason": reason})
        return {"generation": None, "pid": None}

    def _present(self, run: MigrationRun) -> HostReply | None:
        """Return the living process of this attempt; stop and certify what an earlier one left open."""
        generation = run.ledger.known().open_generation
        if generation is None:
            return None
        reply = run.host.status()
        if generation.start.run == run.identity.holder and reply.is_running:
            return reply
        end_when_settled(run, generation, stop_generation(run, generation), f"left open by {generation.start.run}")
        return None
