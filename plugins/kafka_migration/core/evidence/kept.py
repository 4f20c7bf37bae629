"""What Airflow keeps of a run, by which its evidence is checked: a digest of every document, and the migration file.

Whoever can write to the evidence root can change a document there. They cannot change what Airflow keeps. A document
is announced before it is written and has its digest after that, so one that a dead task left half done counts for
nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding

# The digest of a document that was announced and is not known to be written.
ANNOUNCED = ""
# Two tasks that write under one name at the same time leave the content of either.
_OR = " "


@dataclass(frozen=True, slots=True)
class Kept:
    """What Airflow keeps of one run: digests by document, the migration file's text, the newest question and answer."""

    digests: Mapping[str, str] = field(default_factory=dict)
    migration: str | None = None
    answer: Mapping[str, Any] | None = None


class Keeper(Protocol):
    """Keeps what is known of a run's evidence outside the evidence root."""

    def kept(self) -> Kept:
        """Return what all tasks of the run had kept when they were asked last."""

    def look_again(self) -> Kept:
        """Ask all tasks of the run again."""

    def keep(self, digests: Mapping[str, str]) -> None:
        """Keep the digests of documents that this task writes."""

    def keep_migration(self, text: str) -> None:
        """Keep the text of the migration file."""

    def keep_answer(self, answer: Mapping[str, Any]) -> None:
        """Keep what was asked last, and the answer that a person gave."""


class LeftBehind:
    """Keeper of a run that is over: its digests are known, and nothing is added (`Keeper`)."""

    def __init__(self, digests: Mapping[str, str]) -> None:
        self._kept = Kept(digests)

    def kept(self) -> Kept:
        """Return the digests."""
        return self._kept

    look_again = kept

    def keep(self, digests: Mapping[str, str]) -> None:
        """Raise: nothing is written into a run that is over."""
        raise TypeError("nothing is written into a run that is over")

    def keep_migration(self, text: str) -> None:
        """Raise like `keep`."""
        self.keep({})

    def keep_answer(self, answer: Mapping[str, Any]) -> None:
        """Raise like `keep`."""
        self.keep({})


def left_behind(digests: Mapping[str, str]) -> LeftBehind | None:
    """Return the keeper of a run that is over; `None` where nothing is known, as of version 0.1.0."""
    return LeftBehind(digests) if digests else None


def digest_of(content: bytes) -> str:
    """Return the digest of a document's bytes."""
    return hashlib.sha256(content).hexdigest()


def joined(*kept: Mapping[str, str]) -> dict[str, str]:
    """Return the digests that several tasks kept as one mapping; a digest counts for more than an announcement."""
    names = {name for digests in kept for name in digests}
    return {name: _joined({d for digests in kept for d in digests.get(name, "").split()}) for name in sorted(names)}


def _joined(digests: set[str]) -> str:
    return _OR.join(sorted(digests)) or ANNOUNCED


def written(digests: Mapping[str, str]) -> dict[str, str]:
    """Return the digests of documents that are known to be written."""
    return {name: digest for name, digest in digests.items() if digest != ANNOUNCED}


def change_of(digest: str | None, content: bytes | None) -> str:
    """Return in words how a document is not the one that the run wrote; empty when it is.

    `digest` is `None` for a document that no task of the run has announced, `content` for one that is not there.
    """
    if digest is None:
        return "a document that no task of this run wrote"
    if digest == ANNOUNCED:
        return ""
    if content is None:
        return "no document"
    found = digest_of(content)
    return "" if found in digest.split(_OR) else f"{len(content):,} bytes with SHA-256 {found[:12]}"


def is_sole(digest: str) -> bool:
    """Tell whether only one version of a document is known.

    Tasks may know of several versions of a document that is written again; the frozen migration file never is.
    """
    return _OR not in digest


def changed_finding(name: str, found: str, digest: str | None) -> Finding:
    """Refuse to go on with evidence that is not what the run wrote."""
    expected = f"what the run wrote there, with SHA-256 {digest[:12]}" if digest else "only what the run wrote"
    return Finding(
        Code.EVIDENCE_CHANGED,
        f"document {name}",
        found,
        expected,
        "This task wrote nothing to the clusters. Find out who changed the evidence root, and trigger a new run.",
    )
