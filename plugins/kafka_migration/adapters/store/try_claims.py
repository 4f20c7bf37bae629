"""The processes that make the tries of a run's tasks, in `<run folder>/claims`.

A claim is created only if there is none, so of several processes one gets it. A task that waits, deferred, leaves its
try to the process that resumes it. Claims are never changed or deleted.
"""

from __future__ import annotations

import re

from kafka_migration.adapters.store.document_files import (
    Folder,
    create_whole,
    is_there,
    listed,
    naming,
    read_json,
    to_json,
)
from kafka_migration.core.evidence.evidence_documents import run_folder_name
from kafka_migration.core.findings.errors import EvidenceUnreadable
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.core.run.try_claim import TryClaim

CLAIMS_FOLDER = "claims"
MAX_BYTES = 64 * 1024
_NUMBERED = re.compile(r"([1-9][0-9]{0,5})\.json", re.ASCII)


class TryClaims:
    """The claims on one try, which Airflow gave this id."""

    def __init__(self, root: Folder, migration: str, run: RunIdentity, try_id: str) -> None:
        self.folder = root / migration / run_folder_name(run) / CLAIMS_FOLDER
        self._try_id = try_id
        self._number = 0

    def take(self, claim: TryClaim) -> bool:
        """Claim the try; return whether no other process has it.

        Raises `StoreFailed` if the store refuses, `EvidenceUnreadable` for a link in the place of a folder.
        """
        text = to_json(claim.to_document())
        self._number = self._newest()
        while not create_whole(self._path(), text):
            if not is_there(self._left()):
                return False
            self._number += 1
        return True

    def first(self) -> TryClaim | None:
        """Return the claim of the process that has the try; `None` if it cannot be read."""
        try:
            with naming(self._path()):
                return TryClaim.from_document(read_json(self._path(), MAX_BYTES))
        except (EvidenceUnreadable, FileNotFoundError):
            return None

    def leave(self) -> None:
        """Leave the try to the process that resumes the task. Raises `StoreFailed` if the store refuses."""
        create_whole(self._left(), "")

    def _newest(self) -> int:
        begin = f"{self._try_id}-"
        ends = (name.removeprefix(begin) for name in listed(self.folder) if name.startswith(begin))
        return max((int(found[1]) for end in ends if (found := _NUMBERED.fullmatch(end))), default=1)

    def _path(self) -> Folder:
        return self.folder / f"{self._try_id}-{self._number}.json"

    def _left(self) -> Folder:
        return self.folder / f"{self._try_id}-{self._number}.left"
