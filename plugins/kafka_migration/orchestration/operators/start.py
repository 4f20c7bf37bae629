"""`start_mirror`: starts the next generation of MirrorMaker on its host."""

from __future__ import annotations

from airflow.sdk import Context

from kafka_migration.clients.kafka_properties import java_properties
from kafka_migration.core.drain import gap_findings
from kafka_migration.core.engine import LaunchFacts
from kafka_migration.core.errors import Refused
from kafka_migration.core.evidence import Kind
from kafka_migration.core.generations import GenerationStart, continuity_findings
from kafka_migration.core.host import HostReply, MirrorLaunch
from kafka_migration.orchestration.mirroring import MirrorState, certify, mirror_state
from kafka_migration.orchestration.operators.base import MigrationOperator, Summary
from kafka_migration.orchestration.run import MigrationRun, connection_config

# What a broker takes unless it is told otherwise.
DEFAULT_MAX_MESSAGE_BYTES = 1_048_588


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
        reply = reply or self._start(run)
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
        generation = run.ledger.read().open_generation
        if generation is None:
            return None
        reply = run.host.status()
        if generation.start.run == run.identity.holder and reply.is_running:
            return reply
        reply = run.host.stop(run.identity.holder, generation.number, run.migration.mirror.stop_grace_s)
        reason = f"left open by {generation.start.run}"
        run.ledger.append(certify(run, generation, reply, reason).to_document())
        return None

    def _start(self, run: MigrationRun) -> HostReply:
        source, target = run.describe("source"), run.describe("target")
        state = mirror_state(run, source, target)
        self._refuse_discontinuity(run, state)
        last = run.ledger.read().last_generation
        generation = max(run.host.status().generation, last.number if last else 0) + 1
        run.target.delete_topics(run.engine.stale_topics(generation, run.target.topic_names()))
        start = GenerationStart(
            generation, run.identity.holder, run.now(), state.mirror_positions, state.target_end_offsets
        )
        run.ledger.append(start.to_document())
        return run.host.start(run.identity.holder, generation, self._launch(run, generation))

    @staticmethod
    def _refuse_discontinuity(run: MigrationRun, state: MirrorState) -> None:
        findings = (
            *continuity_findings(run.ledger.read().last_stop, state.stored, state.target_end_offsets),
            *gap_findings(state.mirror_positions, state.source_log_start),
        )
        if findings:
            raise Refused(findings)

    @staticmethod
    def _launch(run: MigrationRun, generation: int) -> MirrorLaunch:
        migration = run.migration
        limits = run.target.effective_configs(migration.topics, "max.message.bytes")
        sides = (migration.source.connection, migration.target.connection)
        source, target = (java_properties(side, connection_config(side)) for side in sides)
        smallest = min((int(limit) for limit in limits.values()), default=DEFAULT_MAX_MESSAGE_BYTES)
        return run.engine.launch(generation, LaunchFacts(source, target, smallest))
