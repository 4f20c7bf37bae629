"""`stop_mirror`: the teardown that stops MirrorMaker and certifies where it stopped."""

from __future__ import annotations

import time

from airflow.sdk import Context

from kafka_migration.core.codes import Code
from kafka_migration.core.drain import gap_findings
from kafka_migration.core.errors import MirrorFailed, OutcomeUnknown, Refused, TransientError
from kafka_migration.core.evidence import Kind
from kafka_migration.core.generations import Generation, StopCertificate
from kafka_migration.core.host import HostReply
from kafka_migration.core.retention import Forecast
from kafka_migration.orchestration.forecast import forecast_after
from kafka_migration.orchestration.operators.base import MigrationOperator, Summary
from kafka_migration.orchestration.run import MigrationRun, partitions_of
from kafka_migration.orchestration.starting import end_generation, stop_generation

# A transaction that a killed MirrorMaker left open was seen to end after 66 s (Kafka 3.9.1).
SETTLE_LIMIT_S = 150.0
SETTLE_PAUSE_S = 2.0
# Their logs are worth a look for some weeks of nightly runs.
KEPT_GENERATIONS = 20


# How a process that is dead already came to its end, by the host's words for it.
_REASONS = {"lease-expired": "stopped by the host, its lease not being renewed", "ended": "died"}


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
        reply = stop_generation(run, generation)
        certificate = _end_when_settled(run, generation, reply)
        forecast = self._forecast(run, certificate, ledger.last_stop)
        document = {"at": run.now(), "certificate": certificate.to_document(), "log": reply.log}
        run.evidence.write(Kind.STOP, {**document, "forecast": forecast and forecast.to_document()})
        self.log.info("Generation %d: %s", certificate.generation, certificate.reason)
        self._clean(run)
        if certificate.gaps:
            raise MirrorFailed(gap_findings(certificate.gaps, Code.GAP_DURING_RUN))
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

    def _clean(self, run: MigrationRun) -> None:
        """Remove the folders of old generations; one that stays for longer does not fail a stop."""
        try:
            run.host.clean(run.identity.holder, KEPT_GENERATIONS)
        except (TransientError, Refused, OutcomeUnknown) as error:
            self.log.warning("Old generations are still on the host: %s", error)


def _end_when_settled(run: MigrationRun, generation: Generation, reply: HostReply) -> StopCertificate:
    """Certify when nothing of what the process left behind changes the target any more.

    With exactly-once that is an open transaction; after a KILL the target's ends, which rise while a follower catches
    up.
    """
    reason = "killed after the grace time" if reply.killed else _REASONS.get(reply.exit_reason, "stopped by the run")
    deadline = run.clock.monotonic_s() + (SETTLE_LIMIT_S if run.migration.mirror.exactly_once else 0)
    if not run.engine.is_graceful(reply.log):
        _await_still_ends(run, generation)
    while True:
        try:
            return end_generation(run, generation, reply, reason)
        except TransientError:
            if run.clock.monotonic_s() >= deadline:
                raise
        time.sleep(SETTLE_PAUSE_S)


def _await_still_ends(run: MigrationRun, generation: Generation) -> None:
    """Return when two looks at the target's ends are equal; `TransientError` when they never are."""
    partitions = partitions_of(run.describe("target", {p.topic for p in generation.start.mirror_positions}))
    deadline, before = run.clock.monotonic_s() + SETTLE_LIMIT_S, None
    while (ends := run.target.log_end_offsets(partitions, "read_uncommitted")) != before:
        if run.clock.monotonic_s() >= deadline:
            raise TransientError("the target's ends go on rising although MirrorMaker is dead")
        before = ends
        time.sleep(SETTLE_PAUSE_S)
