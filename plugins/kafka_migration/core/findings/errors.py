"""Errors, with one class per reaction of the caller.

    MigrationError
    ├── Refused           bad input or a failed check: nothing was started; never retried
    ├── MirrorFailed      MirrorMaker died, stalled or lost records; the teardown stops it; never retried
    ├── ValidationFailed  the copy was read and is wrong, or not verifiable; never retried
    ├── OffsetsNotMoved   no group could be moved to its planned offsets; never retried
    ├── EvidenceUnreadable  a document exists but cannot be parsed; never retried
    ├── StoreFailed       the evidence store refused a read or a write; the same call may succeed later
    ├── TransientError    a transport failed; the same call may succeed later
    └── OutcomeUnknown    an action may or may not have happened; it is never retried automatically

A refusal carries findings. Each finding has a stable code (`core.findings.codes`), names the object, and says in three
sentences what happened, why it matters and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Self

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.codes import Code


@dataclass(frozen=True, slots=True)
class Finding(Document):
    """One reason why a run must not continue, or one warning for the operator.

    `happened`, `matters` and `remedy` are what a person reads: what happened, why it matters, what to do. `found` and
    `expected` are the same fact as data, for programs. A document of an older version has only those.
    """

    ADDED: ClassVar[frozenset[str]] = frozenset({"happened", "matters"})

    code: Code
    subject: str
    found: str
    expected: str
    remedy: str
    happened: str = ""
    matters: str = ""

    @property
    def sentences(self) -> tuple[str, ...]:
        """What a person reads, one line each: what happened, why it matters, what to do."""
        happened = self.happened or f"found {self.found}; expected {self.expected}."
        return tuple(filter(None, (happened, self.matters, self.remedy)))

    def __str__(self) -> str:
        return f"{self.code} · {self.subject}: {' '.join(self.sentences)}"


class MigrationError(Exception):
    """Base of every error that this package raises on purpose."""


class FindingsError(MigrationError):
    """An error that is a list of findings; its text is one line per finding."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(str(finding) for finding in self.findings))


class Refused(FindingsError):
    """Checks failed before anything was started or changed."""


class MirrorFailed(FindingsError):
    """MirrorMaker did not reach its goal: it died, stalled, failed or was overtaken by the source's retention."""


class ValidationFailed(FindingsError):
    """The copy was compared with its source and the verdict is FAIL or NOT_VERIFIABLE."""


class OffsetsNotMoved(FindingsError):
    """Groups were planned and approved, but none of them is at its planned offsets."""


class EvidenceUnreadable(FindingsError):
    """A document of the evidence store exists but cannot be parsed; the finding names the document."""


class EvidenceUnfit(EvidenceUnreadable):
    """A document of the evidence store is a JSON object, but not of the form of its kind; `reason` says why."""

    def __init__(self, findings: Iterable[Finding], reason: str) -> None:
        self.reason = reason
        super().__init__(findings)


class StoreFailed(FindingsError, OSError):
    """The evidence store refused a read or a write, as with a full disk; the same call may succeed later."""


class TransientError(MigrationError):
    """A transport failed (connection, time-out); trying the same call again is safe.

    `finding` says it in the words of a finding, if more is known than the text.
    """

    def __init__(self, text: str = "", finding: Finding | None = None) -> None:
        self.finding = finding
        super().__init__(text)

    @classmethod
    def of(cls, finding: Finding) -> Self:
        """Return the error of a finding; its text begins with the code."""
        return cls(f"{finding.code}: {finding.subject}: {finding.found}", finding)


class OutcomeUnknown(MigrationError):
    """An action may or may not have happened, and a check could not determine it. An operator has to look."""
