"""Rules of the evidence store and the report."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_migration.adapters.store.document_files import is_there, write_whole
from kafka_migration.adapters.store.evidence_store import RunEvidence
from kafka_migration.adapters.store.ledger_store import LedgerStore
from kafka_migration.adapters.store.run_status_store import StopRequestStore
from kafka_migration.core.evidence.evidence_documents import (
    Kind,
    document_name,
    parse_document_name,
    run_folder_name,
)
from kafka_migration.core.findings.errors import EvidenceUnreadable, Refused
from kafka_migration.core.ledger.cutovers import CreatedTopic, TopicsCreated
from kafka_migration.core.ledger.generations import GenerationStart
from kafka_migration.core.migration.settings import Phase
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.core.run.stop_request import StopRequest
from kafka_migration.core.text.markdown import table

RUN = "manual__2026-11-21T10:00:00+00:00"


def evidence(root: Path, attempt: int = 1) -> RunEvidence:
    return RunEvidence(root, "shop", RunIdentity("dag", RUN, attempt))


def test_documents_are_appended(tmp_path: Path) -> None:
    """A second document of a kind is a second file; the newest is read."""
    store = evidence(tmp_path)

    first, second = store.write(Kind.PLAN, {"n": 1}), store.write(Kind.PLAN, {"n": 2})

    assert first != second
    assert {"n": 2} == store.newest(Kind.PLAN)
    assert {"n": 1} == json.loads(Path(first).read_text())


def test_later_attempt_reads_what_the_earlier_one_wrote(tmp_path: Path) -> None:
    """After a clear, a later attempt reads the documents of earlier ones, and an earlier one never reads forward."""
    first = evidence(tmp_path)
    first.freeze_migration("text")
    first.write(Kind.PLAN, {"n": 1})

    second = evidence(tmp_path, attempt=2)
    second.write(Kind.WATCH, {"n": 2})

    assert {"n": 1} == second.newest(Kind.PLAN)
    assert second.frozen_migration() == "text"
    assert [] == second.of_attempt(Kind.PLAN)
    assert first.newest(Kind.WATCH) is None


def test_documents_of_all_attempts_are_read_in_order(tmp_path: Path) -> None:
    """The documents of all attempts up to this one are read, oldest first."""
    for attempt, values in ((1, "ab"), (2, "c"), (3, "d")):
        for value in values:
            evidence(tmp_path, attempt).write(Kind.APPROVE, {"value": value})

    documents = evidence(tmp_path, attempt=2).of_run(Kind.APPROVE)

    assert ["a", "b", "c"] == [document["value"] for document in documents]


def test_missing_document_is_refused_with_the_step_that_writes_it(tmp_path: Path) -> None:
    """A task that needs what was never written says which step to clear."""
    with pytest.raises(Refused, match=r"EVIDENCE_MISSING.*the task plan of this run"):
        evidence(tmp_path).require(Kind.PLAN)
    with pytest.raises(Refused, match=r"EVIDENCE_MISSING.*preflight"):
        evidence(tmp_path).frozen_migration()


def test_half_written_document_is_never_seen(tmp_path: Path) -> None:
    """A temporary file of a document that is being written has no document's name."""
    write_whole(tmp_path / "a" / "run.json", "{}")

    assert ["run.json"] == [path.name for path in (tmp_path / "a").iterdir()]
    assert parse_document_name(".03-plan-1.json.0f") is None


@pytest.mark.parametrize("kind", list(Kind))
def test_document_names_round_trip(kind: Kind) -> None:
    """Kind and number are read back from a document's name."""
    assert (kind, 12) == parse_document_name(document_name(kind, 12))


KNOWN_KINDS = (
    "preflight reserve plan topics start watch stop validation-request validation-result judge "
    "offsets-plan approve offsets-before offsets-result cutover finish refusal wait pending"
)


def test_kinds_keep_their_numbers() -> None:
    """Documents of earlier versions are found by name, so the number of a known kind never changes."""
    known = [f"{number:02}-{name}-1.json" for number, name in enumerate(KNOWN_KINDS.split(), start=1)]

    assert known == [document_name(kind, 1) for kind in Kind][: len(known)]


@pytest.mark.parametrize(
    "run_id", ["manual__2026/../x:1", "..", ".", "../../etc", "a" * 250, ".hidden", "-", "ünïcode", "", "ledger"]
)
def test_run_folder_is_safe_in_any_store(run_id: str) -> None:
    """A run id becomes one folder's name, without separators and colons, which leads nowhere else and is not hidden."""
    name = run_folder_name(RunIdentity("kafka_migration__shop", run_id, 1))

    assert re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]*", name)
    assert len(name) < 250
    assert name not in {"ledger", "stop-requests"}


def test_no_two_runs_share_a_folder() -> None:
    """Ids that differ in characters that no folder can have, and runs of different DAGs, get folders of their own."""
    ids = ["a:b", "a_b", "a+b", "a~b", "a/b", "rollback-a_b", ".", "..", "_", "x" * 240, "x" * 241]
    dags = ["kafka_migration__shop", "kafka_rollback__shop", "kafka_nightly_sync__shop"]
    runs = [RunIdentity(dag, run_id, 1) for dag in dags for run_id in ids]

    assert len(runs) == len({run_folder_name(run) for run in runs})
    assert {run_folder_name(replace(runs[0], attempt=2))} == {run_folder_name(runs[0])}


def test_ledger_entries_are_read_in_order(tmp_path: Path) -> None:
    """Entries keep the order in which they were appended, beyond ten of them."""
    ledger = LedgerStore(tmp_path, "shop")
    for number in range(12):
        ledger.append(TopicsCreated("r", "t", {f"t{number}": CreatedTopic(str(number), {})}).to_document())

    assert [f"t{number}" for number in range(12)] == list(ledger.read().topics)


def test_table_escapes_its_cells() -> None:
    """A pipe in a name does not break the table."""
    assert table(("a",), [("x|y",)]).splitlines()[-1] == "| x\\|y |"


def a_request(generation: int = 3, by: str = "ada") -> StopRequest:
    return StopRequest(generation, "dag/run#1", "2030-01-01T00:00:00+00:00", by, "maintenance")


def test_stop_request_is_found_by_its_generation(tmp_path: Path) -> None:
    """A request is one document of one generation; a second request for it returns the first one."""
    store = StopRequestStore(tmp_path, "shop")

    assert store.find(3) is None
    assert a_request() == store.request(a_request()) == store.find(3)
    assert store.find(4) is None
    assert ["3.json"] == [path.name for path in (tmp_path / "shop" / "stop-requests").iterdir()]
    assert a_request() == store.request(a_request(by="grace"))


def test_broken_stop_request_is_no_missing_one(tmp_path: Path) -> None:
    """A request that cannot be read is an error, not a missing request."""
    folder = tmp_path / "shop" / "stop-requests"
    folder.mkdir(parents=True)
    (folder / "3.json").write_text("{")

    with pytest.raises(EvidenceUnreadable, match=r"EVIDENCE_UNREADABLE · .*3\.json: .*wrote it: JSONDecodeError"):
        StopRequestStore(tmp_path, "shop").find(3)


def test_stop_request_says_who_when_and_why() -> None:
    """The text of a request is what reports and findings show."""
    assert str(a_request()) == "asked to stop by ada at 2030-01-01T00:00:00+00:00: maintenance"
    assert str(replace(a_request(), reason="")) == "asked to stop by ada at 2030-01-01T00:00:00+00:00"


class RememberingFolder:
    """A double of an object store's folder: it lists what it listed first, until its file system forgets."""

    protocol = "s3"

    def __init__(self, folder: Path) -> None:
        self.folder, self.path, self.fs = folder, str(folder), self
        self.listed: list[dict[str, str]] | None = None

    def __truediv__(self, name: str) -> Path | RememberingFolder:
        return self.folder / name if name.endswith(".json") else RememberingFolder(self.folder / name)

    def ls(self, path: str, *, detail: bool) -> list[dict[str, str]]:
        assert (path, detail) == (self.path, True)
        if self.listed is None:
            self.listed = [{"name": str(each), "type": "file"} for each in self.folder.glob("*")]
        return self.listed

    def invalidate_cache(self) -> None:
        self.listed = None


def test_listings_are_never_those_that_a_storage_client_remembers(tmp_path: Path) -> None:
    """A reader that lives long, such as `stop --wait`, sees what other processes have written since."""
    reader = LedgerStore(RememberingFolder(tmp_path), "shop")
    assert Phase.NEW is reader.read().phase

    LedgerStore(tmp_path, "shop").append(GenerationStart(1, "dag/run#1", "then", {}, {}).to_document())

    assert Phase.SYNCING is reader.read().phase


class RememberingDocument:
    """A double of a document in a store whose client, until it forgets, knows only what a listing once showed."""

    protocol = "s3"

    def __init__(self, path: Path) -> None:
        self.path, self.fs, self.known = path, self, path.exists()

    def exists(self, path: Path) -> bool:
        return path == self.path and self.known

    def invalidate_cache(self) -> None:
        self.known = self.path.exists()


def test_result_that_spark_wrote_is_seen(tmp_path: Path) -> None:
    """What another program has written since the folder was listed is there."""
    document = RememberingDocument(tmp_path / "09-validation-result-1.json")
    document.path.write_text("{}")

    assert is_there(document)
