"""Verdicts on a copy, and how several become one."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Verdict(StrEnum):
    """What a comparison of source and target came to; members are listed from best to worst.

    `PASS`: proved equal. `WARN`: equal, with something a person should know. `NOT_VERIFIABLE`: nothing wrong
    was seen, but not everything could be seen. `FAIL`: a difference was seen.
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
        """Whether a run may go on with this verdict."""
        return self in {Verdict.PASS, Verdict.WARN}


_SEVERITY = {verdict: severity for severity, verdict in enumerate(Verdict)}


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the worst of the verdicts.

    Raises `ValueError` for none at all: where nothing was judged there is no verdict, least of all `PASS`.
    """
    return max(verdicts, key=lambda verdict: verdict.severity)
