"""`stop_mirror`: the teardown that stops MirrorMaker and certifies where it stopped."""

from __future__ import annotations

from airflow.sdk import Context

from kafka_migration.airflow_adapters.metrics import emit
from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, MirrorFailed, OutcomeUnknown, Refused, TransientError
from kafka_migration.core.ledger.generations import StopCertificate
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import RunIdentity
from kafka_migration.core.mirror.drain import gap_findings
from kafka_migration.core.mirror.host import HostReply
from kafka_migration.core.mirror.retention_forecast import Forecast
from kafka_migration.core.report.metrics import MetricsOf
from kafka_migration.orchestration.operators.base import MigrationOperator, Summary
from kafka_migration.steps.guards import hold_reservation
from kafka_migration.steps.mirror.forecast import forecast_after
from kafka_migration.steps.mirror.start_stop import end_when_settled, stop_generation
from kafka_migration.steps.run import MigrationRun

# Their logs are worth a look for some weeks of nightly runs.
KEPT_GENERATIONS = 20
# How a process that is dead already came to its end, by the host's words for it.
_REASONS = {"lease-expired": "stopped by the host, its lease not being renewed", "ended": "died"}


class StopMirrorOperator(MigrationOperator):
    """Stop whatever MirrorMaker of this migration is open and write its stop certificate.

    Needs nothing of the tasks before it but the reservation and the frozen migration file, which Airflow keeps: it also
    stops where somebody changed the evidence. With nothing open
    (nothing was started, or a cleared task runs again) it changes nothing and returns the stored certificate.

    Where the ledger cannot be read, MirrorMaker is stopped all the same, and the task fails without a certificate.

    A MirrorMaker that may have lost records is ended by KILL, because its orderly end would store positions beyond
    them. Records that the source deleted before they were copied fail the task (`GAP_DURING_RUN`), when everything is
    stopped and certified. The log tells when the next run must start at the latest.
    """

    needs_evidence = False

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Stop, certify, record."""
        ledger = _ledger_or_stop(run)
        generation = ledger.open_generation
        if generation is None:
            stored = ledger.last_stop
            self.log.info("No MirrorMaker of this migration is open.")
            return {"generation": stored.generation if stored else None, "stopped": False}
        # Cleared by itself, it comes as a later attempt than the one whose reservation could not be freed.
        hold_reservation(run)
        reply = stop_generation(run, generation)
        # The certificate needs both clusters, which may be silent for long.
        run.news.tell_stopped(run.identity.holder, generation.number, run.now())
        certificate = end_when_settled(run, generation, reply, _reason(run, reply))
        forecast = self._forecast(run, certificate, ledger.last_stop)
        document = {"at": run.now(), "certificate": certificate.to_document(), "log": reply.log}
        run.evidence.write(Kind.STOP, {**document, "forecast": forecast and forecast.to_document()})
        self.log.info("Generation %d: %s", certificate.generation, certificate.reason)
        self._clean(run)
        if losses := _losses(certificate):
            raise MirrorFailed(losses)
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
        if forecast is not None:
            emit(*MetricsOf(run.name).headroom(forecast.at, run.clock.now()))
        return forecast

    def _clean(self, run: MigrationRun) -> None:
        """Remove the folders of old generations; one that stays for longer does not fail a stop."""
        try:
            run.host.clean(run.identity.holder, KEPT_GENERATIONS)
        except (TransientError, Refused, OutcomeUnknown) as error:
            self.log.warning("Old generations are still on the host: %s", error)


def _ledger_or_stop(run: MigrationRun) -> Ledger:
    """Return the ledger; where it cannot be read, stop what this run has started before that is raised.

    Nothing is certified then: the next run that can read the ledger does that.
    """
    try:
        return run.ledger.known()
    except Exception:
        # Whatever it is, it must not keep MirrorMaker alive.
        status = run.host.status()
        if status.is_running and RunIdentity.from_holder(status.holder).is_same_run(run.identity):
            run.host.stop(status.holder, None, run.whole_migration.mirror.stop_grace_s)
        raise


def _reason(run: MigrationRun, reply: HostReply) -> str:
    """Return how the process came to its end."""
    if run.engine.distrusts_position(reply.alarm):
        return "ended by KILL at once, because records may be lost"
    if reply.killed:
        return "killed after the grace time"
    return _REASONS.get(reply.exit_reason, "stopped by the run")


def _losses(certificate: StopCertificate) -> tuple[Finding, ...]:
    """Name what the certificate says is lost: offsets that were never copied, and topics that are gone."""
    return (
        *gap_findings(certificate.gaps, Code.GAP_DURING_RUN),
        *(_gone(Code.SOURCE_TOPIC_MISSING, "source", topic) for topic in certificate.gone.get("source", ())),
        *(_gone(Code.TARGET_TOPIC_MISSING, "target", topic) for topic in certificate.gone.get("target", ())),
    )


def _gone(code: Code, side: str, topic: str) -> Finding:
    return Finding(
        code,
        f"topic {topic}",
        f"no such topic on the {side} when MirrorMaker was stopped",
        "the topic that was copied",
        "Somebody deleted it while the run went on. Take it out of the migration file, or copy it by a file with "
        "another name into an empty topic; made anew under this one it is refused.",
    )
