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
    limits = {
        DifferenceKind.DUPLICATE: tolerance.duplicates if replayed else 0,
        DifferenceKind.ABORTED: tolerance.aborted,
    }
    if any(found.counts[kind] > limits.get(kind, 0) for kind in rest):
        return None
    is_replay = DifferenceKind.DUPLICATE in rest
    return Verdict.WARN, Code.RECORDS_REPLAYED if is_replay else Code.ABORTED_RECORDS_COPIED
