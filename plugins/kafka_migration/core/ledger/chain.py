"""The chain of the ledger: each entry contains its number and the digest of the previous entry.

So a deleted, changed or duplicated entry is found when the ledger is read. The newest entry has no successor that
contains its digest, so Airflow keeps its `Head`. A writer announces an entry to Airflow before it creates it. So an
entry beyond the kept head is good if Airflow knows the announcement of the newest one, which contains all others.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.core.text.quoting import quoted
from kafka_migration.core.text.shortened import capitalized

SCHEMA = 2
_ENTRY_NAME = re.compile(r"(?P<number>[0-9]{6})\.json")
_MATTERS = (
    "The ledger decides where a run continues and what is proved, so records could be lost or copied twice; nothing "
    "was started."
)
_RESTORE = "find out who wrote to this folder, and restore the whole folder from a backup. Then trigger the run again."
# One file with a high number makes a million entries missing.
_NAMED = 20


@dataclass(frozen=True, slots=True)
class Head:
    """The newest entry of a ledger: its number (0 if the ledger is empty) and the SHA-256 of its bytes."""

    number: int = 0
    digest: str = ""

    def after(self, data: bytes) -> Head:
        """Return the head after an entry with these bytes was added."""
        return Head(self.number + 1, hashlib.sha256(data).hexdigest())

    def to_text(self) -> str:
        """Return the head as JSON text."""
        return json.dumps({"number": self.number, "digest": self.digest})

    @classmethod
    def from_text(cls, text: str) -> Head:
        """Read back what `to_text` wrote. Raises `ValueError` for any other text."""
        try:
            document = json.loads(text)
            return cls(int(document["number"]), str(document["digest"]))
        except (LookupError, TypeError, OverflowError, RecursionError) as error:
            raise ValueError(f"not the head of a ledger: {text[:200]!r}") from error


def writer_of(holder: str, folder: str) -> RunIdentity:
    """Return the run that an entry names. Raises `Refused` (`LEDGER_BROKEN`) for an entry that names no run."""
    run = RunIdentity.from_holder(holder)
    if run is None:
        raise Refused([broken(folder, f"an entry of {quoted(holder)}, which is no run", "entries of runs")])
    return run


def linked(entry: Mapping[str, Any], head: Head) -> dict[str, Any]:
    """Return the entry as it is stored after `head`."""
    return {"schema": SCHEMA, "number": head.number + 1, "previous": head.digest, **entry}


def name_of(number: int) -> str:
    """Return the file name of an entry."""
    return f"{number:06}.json"


def number_of(name: str) -> int | None:
    """Return the entry number of a file name, such as 12 for `000012.json`; `None` for any other file."""
    match = _ENTRY_NAME.fullmatch(name)
    return int(match["number"]) if match else None


def listing_findings(names: Iterable[str], folder: str) -> tuple[Finding, ...]:
    """Return findings for missing entries and for files that are no entries: some of them, and how many more."""
    numbers = {name: number_of(name) for name in names}
    known = {number for number in numbers.values() if number is not None}
    found = chain(
        (f"{name}, which is not an entry" for name, number in numbers.items() if number is None),
        (f"no entry {number}" for number in range(1, max(known, default=0)) if number not in known),
    )
    named = [*islice(found, _NAMED)]
    more = sum(1 for _ in found)
    return tuple(broken(folder, each) for each in (*named, *([f"{more:,} more like these"] if more else [])))


def link_findings(entry: Mapping[str, Any], head: Head, path: str) -> tuple[Finding, ...]:
    """Compare an entry with the head of the earlier entries."""
    number = head.number + 1
    if entry.get("schema") != SCHEMA:
        return (broken(path, f"schema {entry.get('schema')!r:.40}", f"schema {SCHEMA}"),)
    if entry.get("number") != number:
        return (broken(path, f"number {entry.get('number')!r:.40} in the entry", f"number {number}"),)
    if entry.get("previous") != head.digest:
        found = f"a digest that does not match entry {head.number}: one of the two entries was changed"
        return (broken(path, found, "the SHA-256 of the previous entry"),)
    return ()


def anchor_findings(anchored: Head, known: Mapping[int, str], folder: str) -> tuple[Finding, ...]:
    """Compare the head that Airflow keeps with the entries up to it."""
    if not anchored.number or known.get(anchored.number) == anchored.digest:
        return ()
    newest = max(known, default=0)
    if anchored.number > newest:
        return (broken(folder, f"entries up to {newest}", f"at least the {anchored.number} that Airflow recorded"),)
    return (broken(folder, f"an entry {anchored.number} that Airflow did not record", "the entry that was written"),)


def not_announced(folder: str, migration: str, anchored: Head, newest: Head) -> Finding:
    """Return the finding for entries beyond the kept head that no writer announced to Airflow."""
    numbers = f"entry {newest.number}"
    if newest.number > anchored.number + 1:
        numbers = f"entries {anchored.number + 1} to {newest.number}"
    accept = f"airflow variables set {head_key(migration)} '{newest.to_text()}'"
    return Finding(
        Code.LEDGER_BROKEN,
        folder,
        f"{numbers}, which Airflow did not announce",
        f"entries up to {anchored.number}, the newest that Airflow recorded"
        if anchored.number
        else "no entries, because this Airflow has recorded none of this migration",
        "If you moved the evidence root to this Airflow, or restored Airflow's database, run "
        f"{accept} to accept every entry. Otherwise {_RESTORE}",
        happened=f"The ledger {folder} has {numbers}, which Airflow did not announce.",
        matters=_MATTERS,
    )


def head_key(migration: str) -> str:
    """Return the name of the Airflow variable that keeps the head of a migration's ledger."""
    return f"kafka_migration__{migration}__ledger"


def announcement_key(migration: str, head: Head) -> str:
    """Return the name of the variable that announces an entry: no two entries and no two migrations share one."""
    return f"{head_key(migration)}__{head.number:06}_{head.digest}"


@dataclass(frozen=True, slots=True)
class Confirmation(Document):
    """How many entries a ledger has, and how many of the newest ones Airflow does not confirm; `None` if unknown."""

    entries: int
    not_confirmed: int | None

    def __str__(self) -> str:
        if self.not_confirmed is None:
            return f"{self.entries:,} entries, checked only by their own chain: Airflow's database was not asked"
        if self.not_confirmed:
            first = self.entries - self.not_confirmed + 1
            return f"{self.entries:,} entries; NOT CONFIRMED by Airflow: {first:,} to {self.entries:,}"
        return f"{self.entries:,} entries, confirmed by Airflow"


def confirmation_of(digests: Mapping[int, str], anchored: Head, is_announced: Callable[[Head], bool]) -> Confirmation:
    """Compare a ledger's entries with what Airflow keeps; if the kept head does not match, no entry is confirmed."""
    newest = max(digests, default=0)
    if anchored.number and digests.get(anchored.number) != anchored.digest:
        return Confirmation(newest, newest)
    confirmed = (n for n in range(newest, anchored.number, -1) if is_announced(Head(n, digests[n])))
    return Confirmation(newest, newest - next(confirmed, anchored.number))


def broken(subject: str, found: str, expected: str = "each entry 1, 2, 3 … once and unchanged") -> Finding:
    """Return the finding for a broken ledger or entry."""
    return Finding(
        Code.LEDGER_BROKEN,
        subject,
        found,
        expected,
        capitalized(_RESTORE),
        happened=f"Runs wrote {expected} to the ledger {subject}, but now it has {found}.",
        matters=_MATTERS,
    )
