"""The ledger of a migration, as files below the evidence root."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from kafka_migration.adapters.store.document_files import (
    Folder,
    collector_paused,
    create_whole,
    is_of_document,
    is_there,
    listed,
    naming,
    parse_typed,
    read_whole,
    to_json,
)
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import EvidenceUnreadable, Finding, Refused, TransientError
from kafka_migration.core.ledger.chain import (
    Confirmation,
    Head,
    anchor_findings,
    broken,
    confirmation_of,
    link_findings,
    linked,
    listing_findings,
    name_of,
    not_announced,
)
from kafka_migration.core.ledger.ledger import Ledger, require_readable, with_entry

LEDGER_FOLDER = "ledger"
# Writers that use the same number retry. Normally the reservation allows only one writer.
_TRIES = 5
# A reader looks again while other writers append between two looks.
_LOOKS = 50
# How many of the newest entries are looked up by name if a listing lacks them.
_UNLISTED = 20


class KnownHead(Protocol):
    """What is known of a ledger outside the evidence root."""

    def head(self) -> Head:
        """Return the head that was kept last; `Head()` if there is none."""

    def is_announced(self, head: Head) -> bool:
        """Return whether an entry is announced."""


class Anchor(KnownHead, Protocol):
    """Keeps the head of a ledger outside the evidence root, and the announcements of the entries beyond it.

    Several processes append, and there is no compare-and-set: a slow writer may set the head back. So each entry has an
    announcement of its own, which stays until a later entry exists.
    """

    def keep(self, head: Head) -> None:
        """Keep a head instead of the previous one."""

    def announce(self, head: Head) -> None:
        """Announce the entry that is about to be created, by its number and digest."""

    def withdraw(self, head: Head) -> None:
        """Withdraw an announcement that is no longer needed."""


class LedgerStore:
    """The ledger of one migration. Only the run that holds the reservation appends.

    `writer` is the holder name of the run that may append. `anchor` keeps the head of the ledger outside the evidence
    root. Entries never change, so this object reads each one only once. Every method raises `Refused`
    (`LEDGER_BROKEN`) if a ledger entry is missing, changed, duplicated, or beyond the head and not announced.
    """

    def __init__(self, root: Folder, migration: str, writer: str | None = None, anchor: Anchor | None = None) -> None:
        self.folder = root / migration / LEDGER_FOLDER
        self._migration = migration
        self._writer = writer
        self._anchor = anchor
        self._lock = threading.RLock()
        self._forget()

    def _forget(self) -> None:
        self._names: list[str] = []
        self._digests: dict[int, str] = {}
        self._ledger, self._head = Ledger(), Head()
        self._is_read = False
        # The newest entry that is known to be recorded or announced.
        self._anchored: Head | None = None

    def read(self) -> Ledger:
        """Return the ledger; the ledger of a new migration has no entries.

        Raises `TransientError` if other writers append all the time.
        """
        return self._read_with(0)

    def _read_with(self, number: int) -> Ledger:
        """Like `read`; the entry of this number may exist without being listed."""
        with self._lock, collector_paused():
            seen = None
            for _ in range(_LOOKS):
                stranger = self._look(seen.number + 1 if seen else number)
                if stranger is None:
                    self._is_read = True
                    return self._ledger
                # Another process may have appended, kept its head and withdrawn this entry's announcement since.
                if seen == stranger:
                    self._require((not_announced(str(self.folder), self._migration, self._anchor_head(), stranger),))
                seen, self._anchored = stranger, None
            raise _busy(self.folder)

    def _look(self, number: int) -> Head | None:
        """Read the entries that this object does not know yet, and this entry if it exists but is not listed.

        Returns the newest entry if Airflow neither recorded nor announced it. Then no entry after the kept head is
        read, because a stranger may have written any number of them.
        """
        # Read the head before the entries are listed, so that its entry exists by then.
        anchored = self._anchor_head()
        names = self._listing(max(anchored.number, self._head.number, number))
        if names[: len(self._names)] != self._names:
            self._forget()
        stranger = self._stranger(names, anchored)
        for name in names[len(self._names) : anchored.number if stranger else None]:
            self._take(name, anchored)
        # Also if a file was exchanged after it was compared with Airflow.
        for vouched in dict.fromkeys((anchored, self._anchored or anchored)):
            self._require(anchor_findings(vouched, self._digests, str(self.folder)))
        return stranger

    def _stranger(self, names: Sequence[str], anchored: Head) -> Head | None:
        """Return the newest entry, unless Airflow recorded or announced it, and thus all entries before it."""
        if self._anchor is None or len(names) <= anchored.number:
            return None
        newest = Head(len(names) - 1).after(self._bytes_of(self.folder / names[-1]))
        if not self._anchor.is_announced(newest):
            return newest
        self._anchored = newest
        return None

    def known(self) -> Ledger:
        """Return the ledger as this object knows it, with the entries that it appended; read it if it has not yet.

        That is the whole ledger while the run holds the reservation, because then no other run appends. `append` looks
        again, and refuses a run that has lost the reservation.
        """
        with self._lock:
            return self._ledger if self._is_read else self.read()

    def confirmation(self, kept: KnownHead | None) -> Confirmation:
        """Return which entries something outside the evidence root confirms; nothing is refused if it does not."""
        if kept is None:
            self.read()
            return Confirmation(self._head.number, None)
        for _ in range(_LOOKS):
            seen, anchored = self._head, kept.head()
            self.read()
            found = confirmation_of(self._digests, anchored, kept.is_announced)
            # As in `read`: another process may have appended since the head was read.
            if not found.not_confirmed or seen == self._head:
                return found
        raise _busy(self.folder)

    def append(self, entry: Mapping[str, Any]) -> None:
        """Append one entry to the current ledger.

        Raises `Refused` (`NOT_RESERVED`) if another run has reserved the migration since: its entries and this one
        would contradict each other. Raises `EvidenceUnreadable` for an entry that could not be read back.
        """
        with self._lock:
            for _ in range(_TRIES):
                self.read()
                self._require(self._writer_findings(entry))
                if self._create(self._text_of(entry)):
                    return
            raise _busy(self.folder)

    def _create(self, text: str) -> bool:
        """Create the next entry; return whether no other writer created it before."""
        replaced, created = self._head, self._head.after(text.encode())
        name = name_of(created.number)
        self._announce(created)
        if not create_whole(self.folder / name, text):
            self._read_with(created.number)
            # A second try of the same task may have written the same entry.
            if self._digests.get(created.number, created.digest) != created.digest:
                self._withdraw(created)
            return False
        self._take(name, replaced)
        if self._head != created:
            self._require((broken(str(self.folder / name), "another entry than the one that this task wrote"),))
        self._keep_head()
        self._withdraw(replaced)
        return True

    def _listing(self, newest: int) -> list[str]:
        """Return the names of the entries, in order; `newest` is the number of an entry that may not be listed."""
        with _as_broken(self.folder):
            names = {name for name in listed(self.folder) if name.endswith(".json") and not name.startswith(".")}
        # A network file system may return an outdated listing; files are still found by name.
        recent = map(name_of, range(max(newest - _UNLISTED, 0) + 1, newest + 1))
        names |= {name for name in recent if name not in names and is_there(self.folder / name)}
        self._require(listing_findings(sorted(names), str(self.folder)))
        return sorted(names)

    def _take(self, name: str, anchored: Head) -> None:
        """Read the entry of this name and add it to the ledger.

        An entry up to the anchored head is the one that was written, which was checked then. Any other is checked now.
        """
        path = self.folder / name
        data = self._bytes_of(path)
        with _as_broken(path):
            entry = parse_typed(data, path)
            self._require(link_findings(entry, self._head, str(path)))
            with naming(path):
                if self._head.number >= anchored.number:
                    require_readable(entry)
                ledger = with_entry(self._ledger, entry)
        self._ledger, self._head = ledger, self._head.after(data)
        self._digests[self._head.number] = self._head.digest
        self._names.append(name)

    @staticmethod
    def _bytes_of(path: Any) -> bytes:
        with _as_broken(path):
            return read_whole(path)

    def _text_of(self, entry: Mapping[str, Any]) -> str:
        """Return the text of the next entry. An entry that cannot be read back would break the ledger."""
        text = to_json(linked(entry, self._head))
        with naming(self.folder):
            written = json.loads(text)
            require_readable(written)
            with_entry(self._ledger, written)
        return text

    def _writer_findings(self, entry: Mapping[str, Any]) -> tuple[Finding, ...]:
        holder = self._ledger.reserved_by
        if self._writer is None or not holder or holder == self._writer or entry["kind"] == "reserved":
            return ()
        return (_taken_over(str(self.folder), holder, self._writer),)

    def _anchor_head(self) -> Head:
        if self._anchored is None:
            self._anchored = self._anchor.head() if self._anchor else Head()
        return self._anchored

    def _keep_head(self) -> None:
        """Keep the head, unless another writer has kept a later one; then the head of an entry that was added since."""
        kept = None
        while self._anchor and kept != self._head:
            kept = self._head
            if self._anchor.head().number < kept.number:
                self._anchor.keep(kept)
            self._anchored = kept
            # Another writer may have kept a later head between the two steps above, which was set back.
            if is_there(self.folder / name_of(kept.number + 1)):
                self._read_with(kept.number + 1)

    def _announce(self, head: Head) -> None:
        if self._anchor:
            self._anchor.announce(head)

    def _withdraw(self, head: Head) -> None:
        if self._anchor and head.number:
            self._anchor.withdraw(head)

    @staticmethod
    def _require(findings: tuple[Finding, ...]) -> None:
        if findings:
            raise Refused(findings)


@contextmanager
def _as_broken(path: Any) -> Iterator[None]:
    """Refuse the ledger (`LEDGER_BROKEN`) for what is in the place of an entry or of the folder.

    What the store does is passed on.
    """
    try:
        yield
    except EvidenceUnreadable as error:
        # Not the remedy of another document: no run starts with such a ledger.
        raise Refused(broken(each.subject, each.found, each.expected) for each in error.findings) from None
    except OSError as error:
        # An entry that a store has listed and then lacks was deleted; any other error there is the store's.
        if not (isinstance(error, FileNotFoundError) or is_of_document(error, path)):
            raise
        found = f"{type(error).__name__}: {error.strerror or error}"
        raise Refused([broken(str(path), found, "a readable file")]) from None


def _busy(folder: Folder) -> TransientError:
    return TransientError(f"other writers append to {folder} at the same time")


def _taken_over(folder: str, holder: str, writer: str) -> Finding:
    return Finding(
        Code.NOT_RESERVED,
        folder,
        f"the migration is reserved by {holder}",
        f"reserved by {writer}",
        f"Wait until {holder} no longer holds the reservation, then trigger a new run.",
        happened=f"{writer} had to write to the ledger {folder}, but {holder} holds the reservation of this migration.",
        matters="Two runs that write at the same time could copy records twice or move groups to wrong offsets, so "
        "nothing was written to the ledger.",
    )
