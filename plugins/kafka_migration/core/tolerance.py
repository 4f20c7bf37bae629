"""Which differences between source and target a run may go on with."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_migration.core.codes import Code
from kafka_migration.core.differences import DifferenceKind, Differences
from kafka_migration.core.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How many records more than the source the target may hold, per comparison.

    :param duplicates: records sent again after MirrorMaker was killed
    :param aborted: records of aborted transactions
    """

    duplicates: int = 0
    aborted: int = 0

    def verdict(self, found: Differences | None, *, replayed: bool) -> tuple[Verdict, Code] | None:
        """Return a good verdict and its code if everything that was found is explained; else `None`.

        :param replayed: whether a generation that was killed was followed by another, which sent records again
        """
        if found is None or not found.counts:
            return None
        rest = found.unexplained
        if not rest:
            return Verdict.PASS, Code.RECORDS_COMPACTED if found.damage else Code.KEYS_IN_SEVERAL_PARTITIONS
        limits = {
            DifferenceKind.DUPLICATE: self.duplicates if replayed else 0,
            DifferenceKind.ABORTED: self.aborted,
        }
        if any(found.counts[kind] > limits.get(kind, 0) for kind in rest):
            return None
        is_replay = DifferenceKind.DUPLICATE in rest
        return Verdict.WARN, Code.RECORDS_REPLAYED if is_replay else Code.ABORTED_RECORDS_COPIED


NO_TOLERANCE = Tolerance()
