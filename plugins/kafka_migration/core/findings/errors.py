"""What can go wrong, split by what the caller may do about it.

    MigrationError
    ├── Refused           bad input or a failed check: nothing was started; never retried
    ├── MirrorFailed      MirrorMaker died, stalled or lost records; the teardown stops it; never retried
    ├── ValidationFailed  the copy was read and is wrong, or cannot be vouched for; never retried
    ├── OffsetsNotMoved   no group could be moved to its planned offsets; never retried
    ├── EvidenceUnreadable  a document is there and cannot be understood; never retried
    ├── TransientError    a transport failed; the same call may succeed later
    └── OutcomeUnknown    an act may or may not have happened; a machine must not try again

A refusal carries findings. Each finding has a stable code (`core.codes`), names the object, says what
was found and what was expected, and what to do next.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from kafka_migration.core.findings.codes import Code


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason why a run must not go on (or, among warnings, what a person should know)."""

    code: Code
    subject: str
    found: str
    expected: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.code} · {self.subject}: found {self.found}; expected {self.expected}. {self.remedy}"

    def to_document(self) -> dict[str, str]:
        """Return the finding as plain JSON values."""
        return {**asdict(self), "code": str(self.code)}

    @classmethod
    def from_document(cls, document: Mapping[str, str]) -> Finding:
        """Read back what `to_document` wrote."""
        texts = {name: document[name] for name in ("subject", "found", "expected", "remedy")}
        return cls(code=Code(document["code"]), **texts)


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
    """Groups were planned and approved, and none of them stands at its planned offsets."""


class EvidenceUnreadable(FindingsError):
    """A document of the evidence store is there and cannot be understood; the finding names the document."""


class TransientError(MigrationError):
    """A transport failed (connection, time-out); trying the same call again is safe."""


class OutcomeUnknown(MigrationError):
    """An act may have happened or not, and asking did not tell; a person has to look."""
