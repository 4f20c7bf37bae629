"""What a migration's phase allows: after the cutover the target is nobody's copy any more."""

from __future__ import annotations

from kafka_migration.core.codes import Code
from kafka_migration.core.errors import Finding
from kafka_migration.core.ledger import Ledger
from kafka_migration.core.migration import Mode, Phase


def phase_findings(ledger: Ledger, migration: str, mode: Mode) -> tuple[Finding, ...]:
    """Refuse a mode that the phase does not allow.

    Asked before a run does anything, and again once it holds the reservation: it may have waited for a cutover.
    """
    cut_over = ledger.cut_over
    if ledger.phase is not Phase.CUT_OVER or cut_over is None or mode is Mode.VALIDATE:
        return ()
    return (
        Finding(
            Code.ALREADY_CUT_OVER,
            f"migration {migration}",
            f"cut over at {cut_over.at} by {cut_over.run}",
            f"mode {Mode.VALIDATE}, or a migration that was not cut over",
            "Its consumers read on the target, which has producers of its own now; mirroring into it again would mix "
            "the two. Mode validate still reads the copy. Pause schedules of this migration.",
        ),
    )
