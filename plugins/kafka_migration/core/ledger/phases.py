"""What a migration's phase allows: after the cutover the target is nobody's copy any more."""

from __future__ import annotations

from collections.abc import Collection

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import Mode


def phase_findings(
    ledger: Ledger, migration: str, mode: Mode, topics: Collection[str], requested: Collection[str] = ()
) -> tuple[Finding, ...]:
    """Refuse a mode that mirrors topics which were cut over.

    Asked before a run does anything, and again before a start: it may have waited for a cutover, or be a cutover that
    was cleared. What that has cut over itself counts too.

    :param topics: what the run mirrors: the migration's topics but those that other runs cut over
    :param requested: the topics that the run was asked for; none means all that are left
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
            f"migration {migration}" + (f", topics {', '.join(moved)}" if moved else ""),
            f"cut over, last at {last.at} by {last.run}",
            f"mode {Mode.VALIDATE}, or topics that were not cut over",
            "Their consumers read on the target, which has producers of its own now; mirroring into it again would mix "
            "the two. Mode validate still reads the copy. Pause schedules where no topic is left.",
        ),
    )


def _nothing_to_roll_back(ledger: Ledger, migration: str) -> Finding:
    last = ledger.rollbacks[-1] if ledger.rollbacks else None
    taken_back = f": taken back at {last.at} by {last.run}" if last else ""
    return Finding(
        Code.NOTHING_TO_ROLL_BACK,
        f"migration {migration}",
        f"phase {ledger.phase}{taken_back}",
        "topics that were cut over",
        "There is nothing to take back: the source is still the source of truth. Nothing was changed.",
    )
