"""The files of a run whose digests Airflow keeps: only they are shown as what the run found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kafka_migration.adapters.store.digest_keeper import digests_in
from kafka_migration.adapters.store.document_files import Folder, read_whole
from kafka_migration.adapters.store.evidence_store import RunEvidence
from kafka_migration.airflow_adapters import airflow_settings as settings
from kafka_migration.core.evidence.digests import LeftBehind, change_of, written
from kafka_migration.core.evidence.evidence_documents import attempt_folder_name, attempt_of
from kafka_migration.core.run.run_identity import RunIdentity, migration_of
from kafka_migration.page import kept_in_airflow


class NotAsWritten(Exception):
    """A file is not what the run wrote; the text says what happened to it."""


@dataclass(frozen=True, slots=True)
class KeptFiles:
    """A run, and the digests of its files, by `attempt-<n>/<file>`."""

    root: Folder
    migration: str
    dag_id: str
    run_id: str
    digests: Mapping[str, str]

    @classmethod
    def of(cls, dag_id: str, run_id: str) -> KeptFiles | None:
        """Return a run of a migration; `None` for another DAG, or if Airflow keeps no digest of it."""
        name = migration_of(dag_id)
        if name is None:
            return None
        digests = written(digests_in(kept_in_airflow.stored_by_tasks(dag_id, run_id), name))
        return cls(settings.evidence_root(), name, dag_id, run_id, digests) if digests else None

    def newest_attempt(self, file: str = "") -> int | None:
        """Return the newest attempt that wrote a file of this name, or any file."""
        wrote = (attempt_of(name) for name in self.digests if file in {"", name.partition("/")[2]})
        return max(filter(None, wrote), default=None)

    def evidence(self, attempt: int) -> RunEvidence:
        """Return the documents of the run, of which only unchanged ones are read."""
        identity = RunIdentity(self.dag_id, self.run_id, attempt)
        return RunEvidence(self.root, self.migration, identity, LeftBehind(self.digests))

    def content(self, file: str, attempt: int, most: int) -> bytes:
        """Return a file of at most so many bytes.

        Raises `NotAsWritten`, `EvidenceUnreadable` if it is no file or too large, `StoreFailed` if the store does not
        answer.
        """
        try:
            content = read_whole(self.evidence(attempt).folder / file, most)
        except FileNotFoundError:
            raise NotAsWritten("deleted") from None
        if change_of(self.digests[f"{attempt_folder_name(attempt)}/{file}"], content):
            raise NotAsWritten("changed after `finish` wrote it")
        return content
