"""Which differences between source and target a run may tolerate."""

from __future__ import annotations

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.migration.tolerated import Tolerance
from kafka_migration.core.validation.differences import DifferenceKind, Differences


def tolerated(tolerance: Tolerance, found: Differences | None, *, replayed: bool) -> tuple[Verdict, Code] | None:
    """Return a good verdict and its code if everything that was found is explained; else `None`.

    :param replayed: whether a generation that was killed was followed by another, which sent records again
    """
    if found is None or not found.counts:
        return None
    rest = found.unexplained
    if not rest:
        return Verdict.PASS, Code.RECORDS_COMPACTED if found.damage else Code.KEYS_IN_SEVERAL_PARTITIONS
    if any(found.counts[kind] > kind.tolerated(tolerance, replayed) for kind in rest):
        return None
    return Verdict.WARN, next(kind.tolerated_as for kind in DifferenceKind if kind in rest and kind.tolerated_as)
