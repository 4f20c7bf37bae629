"""How many more records than the source the target may hold."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How many more records than the source the target may hold, per comparison.

    :param duplicates: records that MirrorMaker sent again after it was killed
    :param aborted: records of aborted transactions
    """

    duplicates: int = 0
    aborted: int = 0


NO_TOLERANCE = Tolerance()
