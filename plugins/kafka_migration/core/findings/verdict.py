"""Verdicts on a copy, and how to combine them."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Verdict(StrEnum):
    """The result of comparing source and target; members are listed from best to worst.

    `PASS`: proved equal. `WARN`: equal, with a warning for the operator. `NOT_VERIFIABLE`: no difference was
    found, but not everything could be compared. `FAIL`: a difference was found.
    """

    PASS = "PASS"  # noqa: S105
    WARN = "WARN"
    NOT_VERIFIABLE = "NOT_VERIFIABLE"
    FAIL = "FAIL"

    @property
    def severity(self) -> int:
        """The rank from 0 (`PASS`) to 3 (`FAIL`); members themselves compare as text, so compare this."""
        return _SEVERITY[self]

    @property
    def is_good(self) -> bool:
        """Whether a run may continue with this verdict."""
        return self in {Verdict.PASS, Verdict.WARN}


_SEVERITY = {verdict: severity for severity, verdict in enumerate(Verdict)}


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the worst of the verdicts.

    Raises `ValueError` if there are none: without a judgement there is no verdict, and never `PASS`.
    """
    return max(verdicts, key=lambda verdict: verdict.severity)
