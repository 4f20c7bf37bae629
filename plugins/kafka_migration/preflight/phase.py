"""The migration's phase allows the mode: after the cutover the target is nobody's copy any more."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.codes import Code
from kafka_migration.core.errors import Finding
from kafka_migration.core.migration import Mode, Phase
from kafka_migration.preflight.check import Check, Subject


def _check(subject: Subject) -> Iterable[Finding]:
    cut_over = subject.ledger.cut_over
    if subject.ledger.phase is Phase.CUT_OVER and cut_over is not None and subject.mode is not Mode.VALIDATE:
        yield Finding(
            Code.ALREADY_CUT_OVER,
            f"migration {subject.migration.name}",
            f"cut over at {cut_over.at} by {cut_over.run}",
            f"mode {Mode.VALIDATE}, or a migration that was not cut over",
            "Its consumers read on the target, which has producers of its own now; mirroring into it again would mix "
            "the two. Mode validate still reads the copy. Pause schedules of this migration.",
        )


CHECK = Check("phase", _check)
