"""`stop_mirror`: the teardown that stops MirrorMaker and certifies where it stopped."""

from __future__ import annotations

import time

from airflow.sdk import Context

from kafka_migration.core.codes import Code
from kafka_migration.core.drain import gap_findings
from kafka_migration.core.errors import Finding, MirrorFailed, Refused, TransientError
from kafka_migration.core.evidence import Kind
from kafka_migration.core.generations import Generation, StopCertificate
from kafka_migration.core.host import HostReply
from kafka_migration.core.retention import Forecast
from kafka_migration.orchestration.forecast import forecast_after
from kafka_migration.orchestration.operators.base import MigrationOperator, Summary
from kafka_migration.orchestration.run import MigrationRun
from kafka_migration.orchestration.starting import end_generation

# A transaction that a killed MirrorMaker left open was seen to end after 66 s (Kafka 3.9.1).
SETTLE_LIMIT_S = 150.0
SETTLE_PAUSE_S = 2.0


class StopMirrorOperator(MigrationOperator):
    """Stop whatever MirrorMaker of this migration is open and write its stop certificate.

    Needs nothing of the tasks before it but the reservation and the frozen migration file. With nothing open
    (nothing was started, or a cleared task runs again) it changes nothing and returns the stored certificate.

    A MirrorMaker that may have lost records is ended by KILL, because its orderly end would store positions beyond
    them. Records that the source deleted before they were copied fail the task (`GAP_DURING_RUN`), when everything is
    stopped and certified. The log tells when the next run must start at the latest.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Stop, certify, record."""
        ledger = run.ledger.read()
        generation = ledger.open_generation
        if generation is None:
            stored = ledger.last_stop
            self.log.info("No MirrorMaker of this migration is open.")
            return {"generation": stored.generation if stored else None, "stopped": False}
        reply = run.host.stop(run.identity.holder, generation.number, _grace_s(run))
        if reply.is_running:
            raise MirrorFailed([_not_stopped(reply)])
        certificate = _end_when_settled(run, generation, reply)
        forecast = self._forecast(run, certificate, ledger.last_stop)
        document = {"at": run.now(), "certificate": certificate.to_document(), "log": reply.log}
        run.evidence.write(Kind.STOP, {**document, "forecast": forecast and forecast.to_document()})
        self.log.info("Generation %d: %s", certificate.generation, certificate.reason)
        if certificate.gaps:
            raise MirrorFailed(_gaps(certificate))
        return {"generation": certificate.generation, "stopped": True, "graceful": certificate.graceful}

    def _forecast(
        self, run: MigrationRun, certificate: StopCertificate, before: StopCertificate | None
    ) -> Forecast | None:
        """Tell until when the source keeps what is not copied; not to know it does not fail a stop."""
        try:
            forecast = forecast_after(run, certificate, before)
        except (TransientError, Refused) as error:
            self.log.warning("When the next run must start could not be told: %s", error)
            return None
        self.log.info("Forecast: %s.", forecast or "the source deletes nothing by itself")
        return forecast


def _grace_s(run: MigrationRun) -> int:
    """Return the time from TERM to KILL: none where an orderly end would store positions of lost records."""
    alarm = run.host.status().alarm
    return 0 if run.engine.distrusts_position(alarm) else run.migration.mirror.stop_grace_s


def _end_when_settled(run: MigrationRun, generation: Generation, reply: HostReply) -> StopCertificate:
    """Certify; with exactly-once wait until the target has ended what the process left open."""
    reason = _reason(reply, generation.number)
    deadline = run.clock.monotonic_s() + (SETTLE_LIMIT_S if run.migration.mirror.exactly_once else 0)
    while True:
        try:
            return end_generation(run, generation, reply, reason)
        except TransientError:
            if run.clock.monotonic_s() >= deadline:
                raise
        time.sleep(SETTLE_PAUSE_S)


def _gaps(certificate: StopCertificate) -> tuple[Finding, ...]:
    positions = {p: start for p, (start, _) in certificate.gaps.items()}
    log_start = {p: end for p, (_, end) in certificate.gaps.items()}
    return gap_findings(positions, log_start, Code.GAP_DURING_RUN)


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
