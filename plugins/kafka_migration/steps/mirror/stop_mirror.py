"""Stops the open MirrorMaker process of a migration, writes its stop certificate, and forecasts the next start."""

from __future__ import annotations

import logging
from collections.abc import Collection
from datetime import UTC, datetime

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import (
    Finding,
    MirrorFailed,
    OutcomeUnknown,
    Refused,
    StoreFailed,
    TransientError,
)
from kafka_migration.core.kafka.cluster import KafkaCluster
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.ledger.generations import Generation, StopCertificate
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.report.metrics import MetricsOf
from kafka_migration.core.stored.stored_documents import StopDocument, Stored
from kafka_migration.core.target.topic_identity import recreated_finding
from kafka_migration.core.watching.drain import gap_findings
from kafka_migration.core.watching.retention_forecast import (
    SETTINGS,
    CopyProgress,
    ForecastDocument,
    TopicRetention,
    next_start_before,
)
from kafka_migration.steps.mirror.start_stop import StoppedGeneration, end_when_settled, stop_generation
from kafka_migration.steps.mirror.state import held_back_warnings
from kafka_migration.steps.reading.exact_reads import every_value
from kafka_migration.steps.run.guards import hold_reservation
from kafka_migration.steps.run.migration_run import MigrationRun
from kafka_migration.steps.run.task_frame import Summary

log = logging.getLogger(__name__)


# Keeps the logs of some weeks of nightly runs.
KEPT_GENERATIONS = 20
# Why a process was already dead, by the exit reason of its host.
_REASONS = {"lease-expired": "stopped by the host because its lease was not renewed", "ended": "died"}


def stop_mirror(run: MigrationRun) -> Summary:
    """Stop, certify and record; raises `MirrorFailed` if records were lost."""
    ledger = _ledger_or_stop(run)
    generation = ledger.open_generation
    if generation is None:
        return _stopped_before(run, ledger)
    stopped = _stopped(run, generation)
    # Published first, because the certificate needs both clusters, which may not answer for long.
    run.news.tell_stopped(run.identity.holder, generation.number, run.now())
    run.deployment.send_metrics(MetricsOf(run.name).watched(None))
    certificate = end_when_settled(run, generation, stopped, _reason(stopped))
    return _recorded(run, certificate, ledger.last_stop, stopped.reply.log or "")


def _stopped_before(run: MigrationRun, ledger: Ledger) -> Summary:
    """Return the stored certificate; record it if an earlier try of this task added it, and failed after that."""
    last = ledger.last_generation
    certificate = last.stop if last else None
    log.info("No generation of this migration is open.")
    if certificate and certificate.run == run.identity.holder and not run.evidence.of_attempt(Stored.STOP):
        return _recorded(run, certificate, None, "")
    return {"generation": certificate.generation if certificate else None, "stopped": False}


def _recorded(run: MigrationRun, certificate: StopCertificate, before: StopCertificate | None, text: str) -> Summary:
    """Record how a generation ended; raises `MirrorFailed` if records were lost."""
    forecast = _forecast(run, certificate, before)
    opened = held_back_warnings(run, certificate.held_back)
    run.evidence.write(Stored.STOP, StopDocument(run.now(), certificate, text, opened, forecast))
    log.info("Generation %d: %s", certificate.generation, certificate.reason)
    _clean(run)
    if losses := _losses(certificate):
        raise MirrorFailed(losses)
    return {"generation": certificate.generation, "stopped": True, "graceful": certificate.graceful}


def _forecast(
    run: MigrationRun, certificate: StopCertificate, before: StopCertificate | None
) -> ForecastDocument | None:
    """Log how long the source retains the uncopied records; an unknown forecast does not fail the stop."""
    try:
        forecast = forecast_after(run, certificate, before)
    except (TransientError, Refused) as error:
        log.warning("It is unknown when the next run must start: %s", error)
        return None
    must = f"the next run must start before {forecast.words(run.local)}" if forecast else "the source deletes no record"
    log.info("Forecast: %s.", must)
    limit = None if forecast is None else datetime.fromisoformat(forecast.at)
    run.deployment.send_metrics(*MetricsOf(run.name).next_start(limit, run.clock.now()))
    return forecast


def _clean(run: MigrationRun) -> None:
    """Remove the folders of old generations; a folder that remains does not fail the stop."""
    try:
        run.process.clean(run.identity.holder, KEPT_GENERATIONS)
    except (TransientError, Refused, OutcomeUnknown) as error:
        log.warning("What is kept of old generations was not removed: %s", error)


def _ledger_or_stop(run: MigrationRun) -> Ledger:
    """Return the ledger. If it cannot be read, stop this run's MirrorMaker before the error is raised.

    There is no certificate then; the next run that can read the ledger writes it.
    """
    try:
        return run.ledger.known()
    except Exception:
        # No error may keep MirrorMaker alive.
        status = run.process.status()
        if status.is_running and run.identity.has_attempt(status.holder):
            run.process.stop(status.holder, None, run.filed_migration.mirror.stop_grace_s)
        raise


def _stopped(run: MigrationRun, generation: Generation) -> StoppedGeneration:
    """Stop the generation. If only this task was cleared, an earlier attempt may still hold the reservation.

    A reservation that is held but cannot be recorded, as with a full disk, does not keep MirrorMaker alive.
    """
    try:
        hold_reservation(run)
    except StoreFailed:
        stop_generation(run, generation)
        raise
    return stop_generation(run, generation)


def _reason(stopped: StoppedGeneration) -> str:
    """Return why the process ended."""
    if stopped.at_once:
        return "ended with KILL at once, because records may be lost"
    if stopped.reply.killed:
        return "killed after the grace time"
    return stopped.reply.change or _REASONS.get(stopped.reply.exit_reason, "stopped by the run")


def _losses(certificate: StopCertificate) -> tuple[Finding, ...]:
    """Return the losses in the certificate: offsets that were never copied, topics that are gone or others."""
    return (
        *gap_findings(certificate.gaps, Code.GAP_DURING_RUN),
        *(_gone(Code.SOURCE_TOPIC_MISSING, "source", topic) for topic in certificate.gone.get("source", ())),
        *(_gone(Code.TARGET_TOPIC_MISSING, "target", topic) for topic in certificate.gone.get("target", ())),
        *(recreated_finding("source", topic) for topic in certificate.recreated.get("source", ())),
        *(recreated_finding("target", topic) for topic in certificate.recreated.get("target", ())),
    )


_GONE = {
    "source": "Its records that were not copied before are lost.",
    "target": "Its copied records are lost. MirrorMaker would not copy them again, because it continues after them.",
}


def _gone(code: Code, side: str, topic: str) -> Finding:
    return Finding(
        code,
        f"topic {topic}",
        f"no such topic on the {side} when MirrorMaker was stopped",
        "the topic that was copied",
        "Remove the topic from the migration file. If you still need its copy, make it with a second migration file "
        "into an empty topic, because this migration refuses a recreated topic.",
        happened=f"Topic {topic} did not exist on the {side} when MirrorMaker was stopped: it was deleted during the "
        "run.",
        matters=_GONE[side],
    )


def forecast_after(run: MigrationRun, stop: StopCertificate, before: StopCertificate | None) -> ForecastDocument | None:
    """Return when the next run must start at the latest; `before` is the previous stop certificate.

    Raises `TransientError` when the uncopied records cannot be read: unknown does not mean that none are left.
    """
    partitions = tuple(stop.mirror_positions)
    progress = CopyProgress(
        now=run.clock.now(),
        positions=stop.mirror_positions,
        source_log_start=run.source.log_start_offsets(partitions),
        uncopied_since=_uncopied_since(run, stop.mirror_positions),
        before=None if before is None else datetime.fromisoformat(before.at),
        positions_before={} if before is None else before.mirror_positions,
    )
    return next_start_before(progress, retention_of(run.source, {p.topic for p in partitions}))


def _uncopied_since(run: MigrationRun, positions: Offsets) -> dict[TopicPartition, datetime]:
    found = run.source.records_at(positions, run.migration.mirror.isolation_level) if positions else {}
    first = every_value(found, positions, "first record to copy")
    # Producers set timestamps freely; one in the future counts as now.
    now_s = run.clock.now().timestamp()
    stamps = {p: record.timestamp_ms / 1000 for p, record in first.items() if record and record.timestamp_ms > 0}
    return {p: datetime.fromtimestamp(min(stamp_s, now_s), UTC) for p, stamp_s in stamps.items()}


def retention_of(source: KafkaCluster, topics: Collection[str]) -> dict[str, TopicRetention]:
    """Return the retention of each topic that exists and shows all settings; of the others it is unknown."""
    found = source.effective_configs(topics, *SETTINGS)
    whole = ((topic, [values[name] for name in SETTINGS if name in values]) for topic, values in sorted(found.items()))
    return {topic: TopicRetention.of(*values) for topic, values in whole if len(values) == len(SETTINGS)}
