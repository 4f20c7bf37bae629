"""The modes that a migration's phase allows: after the cutover, the target is no longer a copy."""

from __future__ import annotations

from collections.abc import Collection

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.text.shortened import some


def phase_findings(
    ledger: Ledger, migration: str, mode: Mode, topics: Collection[str], requested: Collection[str] = ()
) -> tuple[Finding, ...]:
    """Refuse a mode that mirrors topics which were cut over.

    Checked before a run does anything, and again before a start: the run may have waited for a cutover, or be a cleared
    cutover. Topics that this run itself cut over count too.

    :param topics: the topics that the run mirrors: those of the migration without those that other runs cut over
    :param requested: the topics given for the run; none means all remaining topics
    """
    if mode.rolls_back:
        return () if ledger.cutovers else (_nothing_to_roll_back(ledger, migration),)
    moved = sorted(ledger.moved_topics().intersection((*topics, *requested)))
    if not mode.mirrors or not ledger.cutovers or (topics and not moved):
        return ()
    last = ledger.cutovers[-1]
    return (
        Finding(
            Code.ALREADY_CUT_OVER,
            f"migration {migration}" + (f", topics {some(moved)}" if moved else ""),
            f"cut over, last at {last.at} by {last.run}",
            f"mode {Mode.VALIDATE}, or topics that were not cut over",
            "Pause the schedules if no topics are left, or run mode validate.",
            happened=f"Topics of migration {migration} were cut over, last at {last.at} by {last.run}, and mode {mode} "
            "would mirror them again.",
            matters="Producers now write to the target, so mirroring would mix their records with the copy.",
        ),
    )


def _nothing_to_roll_back(ledger: Ledger, migration: str) -> Finding:
    last = ledger.rollbacks[-1] if ledger.rollbacks else None
    taken_back = f": rolled back at {last.at} by {last.run}" if last else ""
    return Finding(
        Code.NOTHING_TO_ROLL_BACK,
        f"migration {migration}",
        f"phase {ledger.phase}{taken_back}",
        "topics that were cut over",
        "If `sync_offsets` failed after it moved groups, follow the runbook (OFFSETS_NOT_WRITTEN). Else nothing is to "
        "be done.",
        happened=f"Migration {migration} has no cut-over topics; its phase is {ledger.phase}{taken_back}.",
        matters="Producers and consumers still use the source cluster, so nothing was changed.",
    )
