"""The copy in Airflow by which a run's evidence is checked: a digest of every document, and the migration file.

A user with write access to the evidence root can change a document there, but not the digests that Airflow keeps. A
document is announced before it is written, and its digest is kept afterwards. So a document that a killed task left
incomplete is ignored.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding

# The digest of a document that was announced but may not be written.
ANNOUNCED = ""
# If two tasks write one document at the same time, the content of either one is valid.
_OR = " "


@dataclass(frozen=True, slots=True)
class Kept:
    """What Airflow keeps of one run: digests by document, the migration file's text, the newest question and answer.

    `refusals` are those that the evidence store did not take.
    """

    digests: Mapping[str, str] = field(default_factory=dict)
    migration: str | None = None
    answer: Mapping[str, Any] | None = None
    refusals: tuple[Mapping[str, Any], ...] = ()


class Keeper(Protocol):
    """Keeps the digests of a run's evidence outside the evidence root."""

    def kept(self) -> Kept:
        """Return what all tasks of the run have kept, as of the last read."""

    def look_again(self) -> Kept:
        """Read again what all tasks of the run have kept."""

    def keep(self, digests: Mapping[str, str]) -> None:
        """Keep the digests of documents that this task writes."""

    def keep_migration(self, text: str, digests: Mapping[str, str]) -> None:
        """Keep the text of the migration file, and the announcement of its copy."""

    def keep_answer(self, answer: Mapping[str, Any]) -> None:
        """Keep the last question, and the answer of the operator."""

    def keep_refusal(self, refusal: Mapping[str, Any]) -> None:
        """Keep why this task refused, because the evidence store did not take it."""

    def put_back(self) -> None:
        """Keep again what Airflow deleted when this process began, while another one makes the same try."""


class LeftBehind:
    """Read-only keeper of a run that has ended (`Keeper`)."""

    def __init__(self, digests: Mapping[str, str]) -> None:
        self._kept = Kept(digests)

    def kept(self) -> Kept:
        """Return the digests."""
        return self._kept

    look_again = kept

    def keep(self, *_: object, **__: object) -> None:
        """Raise, because the evidence of an ended run must not change."""
        raise TypeError("the evidence of an ended run must not change")

    keep_migration = keep_answer = keep_refusal = put_back = keep


def digest_of(content: bytes) -> str:
    """Return the digest of a document's bytes."""
    return hashlib.sha256(content).hexdigest()


def joined(*kept: Mapping[str, str]) -> dict[str, str]:
    """Return the digests that several tasks kept as one mapping; a digest replaces an announcement."""
    found = defaultdict[str, set[str]](set)
    for name, digests in (each for one in kept for each in one.items()):
        found[name].update(digests.split())
    return {name: _joined(found[name]) for name in sorted(found)}


def _joined(digests: set[str]) -> str:
    return _OR.join(sorted(digests)) or ANNOUNCED


def written(digests: Mapping[str, str]) -> dict[str, str]:
    """Return the digests of documents that are known to be written."""
    return {name: digest for name, digest in digests.items() if digest != ANNOUNCED}


def change_of(digest: str | None, content: bytes | None) -> str:
    """Return a text on how a document differs from the one that the run wrote; empty if it does not.

    `digest` is `None` for a document that no task of the run announced. `content` is `None` for a missing document.
    """
    if digest is None:
        return "a document that was not written by a task of this run"
    if digest == ANNOUNCED:
        return ""
    if content is None:
        return "no document"
    found = digest_of(content)
    return "" if is_digest_in(found, digest) else f"{len(content):,} bytes with SHA-256 {found[:12]}"


def is_digest_in(found: str, digest: str) -> bool:
    """Return whether the digest of a content is the kept one, or one of several."""
    return found in digest.split(_OR)


def is_sole(digest: str) -> bool:
    """Return whether only one version of a document is known.

    A document that was rewritten may have several versions. The frozen migration file is never rewritten.
    """
    return _OR not in digest


def changed_finding(name: str, found: str, digest: str | None) -> Finding:
    """Return the finding for evidence that differs from what the run wrote."""
    expected = f"the document that the run wrote, SHA-256 {digest[:12]}" if digest else "only documents of this run"
    wrote = f"a document with SHA-256 {digest[:12]}" if digest else "nothing"
    return Finding(
        Code.EVIDENCE_CHANGED,
        f"document {name}",
        found,
        expected,
        "Find out who else writes below the evidence root. Then trigger a new run.",
        happened=f"The evidence has {found} under the name {name}; the run wrote {wrote} there.",
        matters="The document may state what no task did, so this task wrote nothing to the clusters.",
    )
