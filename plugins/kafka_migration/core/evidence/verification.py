"""Compares the files of a run with the digests that are kept of them, and names those without a digest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.evidence.digests import ANNOUNCED, is_digest_in
from kafka_migration.core.evidence.evidence_documents import Kind, parse_document_name


class FileState(StrEnum):
    """How a file of a run compares with what the run wrote.

    `NOT_USED`: no task reads it, so it is no part of a report, such as what a killed task had begun to write.
    """

    VERIFIED = "verified"
    CHANGED = "changed"
    MISSING = "missing"
    ADDED = "added"
    NOT_CHECKED = "not checked"
    NOT_USED = "not used"

    @property
    def is_wrong(self) -> bool:
        """Whether the file is not as the run left it."""
        return self in {FileState.CHANGED, FileState.MISSING, FileState.ADDED}


@dataclass(frozen=True, slots=True)
class FoundFile:
    """What is in the evidence under a name: the size and the SHA-256, or a text on what is there instead of a file."""

    size: int = 0
    digest: str = ""
    problem: str = ""

    def __str__(self) -> str:
        return self.problem or f"{self.size:,} bytes with SHA-256 {self.digest[:12]}"


@dataclass(frozen=True, slots=True)
class DigestSource:
    """A place that keeps digests of a run's files, by `attempt-<n>/<file>`.

    `is_complete`: the run wrote no other files, but for documents of the kinds `later`, of which no report is made.
    """

    name: str
    digests: Mapping[str, str]
    is_complete: bool = True
    later: frozenset[Kind] = frozenset()


@dataclass(frozen=True, slots=True)
class VerifiedFile(Document):
    """A file of a run, by `attempt-<n>/<file>`: its state, the place that knows its digest, and what was found.

    `by` is empty if no place knows it.
    """

    file: str
    state: FileState
    by: str = ""
    found: str = ""


def verified_files(found: Mapping[str, FoundFile], sources: Sequence[DigestSource]) -> tuple[VerifiedFile, ...]:
    """Return each file that is there or should be, by name; the first source that knows a file decides.

    `found` has the files by name.
    """
    names = sorted({*found, *(name for source in sources for name in source.digests)})
    return tuple(each for name in names for each in _verified(name, found.get(name), sources))


def _verified(name: str, file: FoundFile | None, sources: Sequence[DigestSource]) -> Iterator[VerifiedFile]:
    knowing = next((each for each in sources if each.digests.get(name)), None)
    if knowing is not None:
        yield VerifiedFile(name, _state(file, knowing.digests[name]), knowing.name, str(file or "no file"))
    elif file is not None:
        yield _unknown(name, file, sources)


def _state(file: FoundFile | None, digest: str) -> FileState:
    if file is None:
        return FileState.MISSING
    return FileState.VERIFIED if is_digest_in(file.digest, digest) else FileState.CHANGED


def _unknown(name: str, file: FoundFile, sources: Sequence[DigestSource]) -> VerifiedFile:
    """Return a file that is there, and of which no source has a digest."""
    parsed = parse_document_name(name.rpartition("/")[2])
    announced = any(each.digests.get(name) == ANNOUNCED for each in sources)
    complete = next((each for each in sources if each.is_complete), None)
    if announced:
        return VerifiedFile(name, FileState.NOT_USED if parsed else FileState.NOT_CHECKED, found=str(file))
    if complete is None:
        return VerifiedFile(name, FileState.NOT_CHECKED, found=str(file))
    is_later = parsed is not None and parsed[0] in complete.later
    return VerifiedFile(name, FileState.NOT_USED if is_later else FileState.ADDED, complete.name, str(file))
