"""Verdicts on a copy, and how to combine them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kafka_migration.core.text.row_enum import RowEnum


class _VerdictRow(NamedTuple):
    """What `Verdict` says of a verdict, for its table."""

    meaning: str
    act: str


class Verdict(RowEnum):
    """The result of comparing source and target, with its meaning and what to do; from best to worst."""

    meaning: str
    act: str

    PASS = _VerdictRow(
        "All compared records are the same on both sides.",
        "No action is needed.",
    )
    WARN = _VerdictRow(
        "The copy is good, and its findings name what its operator has to know.",
        "Read the warning, and look up its code with `kafka-migration explain CODE`.",
    )
    NOT_VERIFIABLE = _VerdictRow(
        "No difference was found, but not everything could be compared.",
        "Do not move a group that reads the topic. `kafka-migration explain RECORDS_NOT_VERIFIABLE` has the steps.",
    )
    FAIL = _VerdictRow(
        "A difference was found that nothing explains.",
        "Do not move any group. `kafka-migration explain COPY_DIFFERS` has the steps.",
    )

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
