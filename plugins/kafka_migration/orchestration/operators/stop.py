"""`stop_mirror`: the teardown that stops MirrorMaker and certifies where it stopped."""

from __future__ import annotations

from airflow.sdk import Context

from kafka_migration.core.codes import Code
from kafka_migration.core.errors import Finding, MirrorFailed
from kafka_migration.core.evidence import Kind
from kafka_migration.core.host import HostReply
from kafka_migration.orchestration.mirroring import certify
from kafka_migration.orchestration.operators.base import MigrationOperator, Summary
from kafka_migration.orchestration.run import MigrationRun


class StopMirrorOperator(MigrationOperator):
    """Stop whatever MirrorMaker of this migration is open and write its stop certificate.

    Needs nothing of the tasks before it but the reservation and the frozen migration file. With nothing open
    (nothing was started, or a cleared task runs again) it changes nothing and returns the stored certificate.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Stop, certify, record."""
        ledger = run.ledger.read()
        generation = ledger.open_generation
        if generation is None:
            stored = ledger.last_stop
            self.log.info("No MirrorMaker of this migration is open.")
            return {"generation": stored.generation if stored else None, "stopped": False}
        reply = run.host.stop(run.identity.holder, generation.number, run.migration.mirror.stop_grace_s)
        if reply.is_running:
            raise MirrorFailed([_not_stopped(reply)])
        certificate = certify(run, generation, reply, _reason(reply, generation.number))
        run.ledger.append(certificate.to_document())
        run.evidence.write(Kind.STOP, {"at": run.now(), "certificate": certificate.to_document(), "log": reply.log})
        self.log.info("Generation %d: %s", certificate.generation, certificate.reason)
        return {"generation": certificate.generation, "stopped": True, "graceful": certificate.graceful}


def _reason(reply: HostReply, generation: int) -> str:
    if reply.generation < generation:
        return "never started"
    return "killed after the grace time" if reply.killed else "stopped by the run"


def _not_stopped(reply: HostReply) -> Finding:
    return Finding(
        Code.MIRROR_NOT_STOPPED,
        "MirrorMaker",
        f"pid {reply.pid} alive after TERM, grace time and KILL",
        "no process",
        "Log in to the MirrorMaker host and look at the process; do not start another run before it is gone.",
    )
