"""Restores the real retention of topics that are no longer mirrored."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping

from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.ledger.cutovers import SettingsRestored
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import Phase
from kafka_migration.core.stored.stored_documents import SettingsDocument, Stored
from kafka_migration.core.target.target_topics import settings_to_restore
from kafka_migration.steps.run.guards import hold_reservation
from kafka_migration.steps.run.migration_run import MigrationRun
from kafka_migration.steps.run.task_frame import NothingToDo, Summary, log_findings


def restore_settings(run: MigrationRun) -> Summary:
    """Restore the settings and record the result."""
    mode = run.request.mode
    if not (mode.moves_groups or mode.rolls_back):
        raise NothingToDo(f"Mode {mode} keeps the settings frozen.")
    hold_reservation(run)
    ledger = run.ledger.known()
    done_by = run.evidence.require
    done = done_by(Stored.ROLLED_BACK) if mode.rolls_back else done_by(Stored.CUTOVER)
    topics = _no_copies(ledger, done.topics)
    configs = settings_to_restore(ledger, topics, run.describe("target", topics))
    denials = {topic: _restore(run, topic, values) for topic, values in configs.items()}
    denied = [finding for findings in denials.values() for finding in findings]
    restored = {topic: dict(configs[topic]) for topic, findings in denials.items() if not findings}
    run.evidence.write(Stored.SETTINGS, SettingsDocument(run.now(), restored, tuple(denied)))
    log_findings(denied, logging.WARNING)
    return {"restored": sorted(restored)}


def _no_copies(ledger: Ledger, topics: Collection[str]) -> list[str]:
    """Return the topics that are no longer mirrored; this may have changed before the task was cleared."""
    moved = topics if ledger.phase is Phase.ROLLED_BACK else ledger.moved_topics()
    return [topic for topic in topics if topic in moved]


def _restore(run: MigrationRun, topic: str, values: Mapping[str, str | None]) -> Collection[Finding]:
    """Set the values of one topic and record it; return the cluster's findings if it denied the change."""
    try:
        run.target.alter_configs({topic: values})
    except Refused as refused:
        return refused.findings
    run.ledger.append(SettingsRestored(run.identity.holder, run.now(), (topic,)).to_document())
    return ()
