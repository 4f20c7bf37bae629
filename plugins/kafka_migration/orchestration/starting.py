"""Starting the next generation, and ending one that is open: what the tasks and the trigger have in common."""

from __future__ import annotations

from kafka_migration.clients.kafka_properties import java_properties
from kafka_migration.core.engine import LaunchFacts
from kafka_migration.core.errors import Refused
from kafka_migration.core.generations import Generation, GenerationStart, StopCertificate
from kafka_migration.core.host import HostReply, MirrorLaunch
from kafka_migration.core.topics import missing_target_findings
from kafka_migration.orchestration.certifying import certify
from kafka_migration.orchestration.mirroring import mirror_state, state_findings
from kafka_migration.orchestration.run import MigrationRun, connection_config

# What a broker takes unless it is told otherwise.
DEFAULT_MAX_MESSAGE_BYTES = 1_048_588


def start_generation(run: MigrationRun) -> HostReply:
    """Start the generation that follows the last, no process of this migration being alive.

    What is true right before it goes into the ledger first. Raises `Refused` when something changed since the last
    stop or records were lost, and `MirrorFailed` when the process ends at once; its generation is then used up.
    """
    ledger = run.ledger.read()
    _rewind(run, ledger.last_stop)
    source, target = run.describe("source"), run.describe("target")
    state = mirror_state(run, source, target)
    findings = (*missing_target_findings(run.migration, target), *state_findings(run, ledger, state))
    if findings:
        raise Refused(findings)
    last = ledger.last_generation
    generation = max(run.host.status().generation, last.number if last else 0) + 1
    run.target.delete_topics(run.engine.stale_topics(generation, run.target.topic_names()))
    start = GenerationStart(
        generation, run.identity.holder, run.now(), state.mirror_positions, state.target_end_offsets
    )
    run.ledger.append(start.to_document())
    return run.host.start(run.identity.holder, generation, launch_of(run, generation))


def end_generation(run: MigrationRun, generation: Generation, reply: HostReply, reason: str) -> StopCertificate:
    """Certify a generation whose process is dead, in the ledger; return the certificate."""
    certificate = certify(run, generation, reply, reason)
    run.ledger.append(certificate.to_document())
    return certificate


def launch_of(run: MigrationRun, generation: int) -> MirrorLaunch:
    """Return what the host needs to start a generation."""
    migration = run.migration
    limits = run.target.effective_configs(migration.topics, "max.message.bytes")
    sides = (migration.source.connection, migration.target.connection)
    source, target = (java_properties(side, connection_config(side)) for side in sides)
    smallest = min((int(limit) for limit in limits.values()), default=DEFAULT_MAX_MESSAGE_BYTES)
    return run.engine.launch(generation, LaunchFacts(source, target, smallest))


def _rewind(run: MigrationRun, last: StopCertificate | None) -> None:
    """Set back the positions that the last certificate does not trust; done already, nothing changes."""
    positions = last.remembered.rewind if last and last.remembered else {}
    stored = run.engine.stored_positions({p.topic for p in positions}) if positions else {}
    pending = {p: offset for p, offset in positions.items() if stored.get(p) != offset}
    if pending:
        run.engine.rewind(pending)
