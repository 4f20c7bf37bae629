"""What Airflow keeps of a run's evidence, and how a document that is not the run's own is told."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from kafka_migration.adapters.store import evidence_store as evidence_module
from kafka_migration.adapters.store.document_files import write_whole
from kafka_migration.adapters.store.evidence_store import RunEvidence
from kafka_migration.core.evidence.digests import ANNOUNCED, Kept, LeftBehind, change_of, digest_of, joined
from kafka_migration.core.evidence.evidence_documents import Kind, document_name
from kafka_migration.core.findings.errors import Refused, StoreFailed
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.core.validation.validation_contract import ValidationResult

RESULT = Stored.VALIDATION_RESULT
NAME = "attempt-1/03-plan-1.json"


class Memory:
    """A keeper that forgets nothing."""

    def __init__(self) -> None:
        self.digests: dict[str, str] = {}
        self.text: str | None = None
        self.looks = 0

    def kept(self) -> Kept:
        return Kept(dict(self.digests), self.text)

    def look_again(self) -> Kept:
        self.looks += 1
        return self.kept()

    def keep(self, digests: Mapping[str, str]) -> None:
        self.digests |= digests

    def keep_migration(self, text: str, digests: Mapping[str, str]) -> None:
        self.text = text
        self.keep(digests)

    def keep_answer(self, answer: Mapping[str, Any]) -> None:
        raise NotImplementedError

    def keep_refusal(self, refusal: Mapping[str, Any]) -> None:
        raise NotImplementedError

    def put_back(self) -> None:
        raise NotImplementedError


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Memory:
    monkeypatch.setattr(evidence_module, "_LOOK_AGAIN_AFTER_S", (0, 0))
    return Memory()


def evidence(root: Path, memory: Memory, attempt: int = 1) -> RunEvidence:
    return RunEvidence(root, "shop", RunIdentity("dag", "run", attempt), memory)


def test_digest_counts_for_more_than_an_announcement() -> None:
    """A document is known from its announcement on, and by its digest once it is written."""
    assert {"a": "1", "b": ANNOUNCED} == joined({"a": "1"}, {"a": ANNOUNCED, "b": ANNOUNCED})


def test_two_writers_of_one_name_leave_either_content() -> None:
    """Tasks that run at the same time may choose one name; the contents of both belong to the run."""
    one, two = digest_of(b"1"), digest_of(b"2")
    digests = joined({"a": one}, {"a": two})

    assert ["", ""] == [change_of(digests["a"], content) for content in (b"1", b"2")]
    assert change_of(digests["a"], b"3")


@pytest.mark.parametrize(
    ("digest", "content", "found"),
    [
        (digest_of(b"1"), b"1", ""),
        (digest_of(b"1"), b"2", f"1 bytes with SHA-256 {digest_of(b'2')[:12]}"),
        (digest_of(b"1"), None, "no document"),
        (ANNOUNCED, None, ""),
        (ANNOUNCED, b"1", ""),
        (None, b"1", "a document that was not written by a task of this run"),
    ],
)
def test_what_is_found_is_told(digest: str | None, content: bytes | None, found: str) -> None:
    """A document is the run's own, or the text says what is in its place."""
    assert found == change_of(digest, content)


def test_files_that_belong_together_are_kept_together(tmp_path: Path, memory: Memory, monkeypatch: Any) -> None:
    """All names are announced before the first file is written, and Airflow is asked twice, however many they are."""
    kept: list[Mapping[str, str]] = []
    monkeypatch.setattr(memory, "keep", lambda digests: kept.append(dict(digests)))
    evidence(tmp_path, memory).publish({"run.json": "1", "report.md": "2"})

    names = ("attempt-1/run.json", "attempt-1/report.md")
    assert [dict.fromkeys(names, ANNOUNCED), dict(zip(names, map(digest_of, (b"1", b"2")), strict=True))] == kept


def test_file_before_one_that_cannot_be_written_is_kept(tmp_path: Path, memory: Memory, monkeypatch: Any) -> None:
    """What was written is shown, although the next file was not."""

    def write(path: Path, text: str) -> None:
        if path.name == "report.md":
            raise StoreFailed([])
        write_whole(path, text)

    monkeypatch.setattr(evidence_module, "write_whole", write)
    with pytest.raises(StoreFailed):
        evidence(tmp_path, memory).publish({"run.json": "1", "report.md": "2"})

    assert {"attempt-1/run.json": digest_of(b"1"), "attempt-1/report.md": ANNOUNCED} == memory.digests


def _folder_instead(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGES: dict[str, Callable[[Path], object]] = {
    "changed": lambda path: path.write_text(path.read_text().replace("1", "2")),
    "cut in half": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "deleted": lambda path: path.unlink(),
    "a folder": _folder_instead,
    "doubled": lambda path: path.with_name("03-plan-2.json").write_bytes(path.read_bytes()),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_named(tmp_path: Path, memory: Memory, damage: str) -> None:
    """A document that the run did not write in this form is named before it is used."""
    made = evidence(tmp_path, memory)
    DAMAGES[damage](Path(made.write(Kind.PLAN, {"number": 1})))
    (finding,) = made.changes()

    assert ("EVIDENCE_CHANGED", True) == (finding.code, finding.subject.startswith("document attempt-1/03-plan-"))
    if damage == "doubled":
        assert {"number": 1} == made.require(Kind.PLAN)
    else:
        with pytest.raises(Refused, match=r"EVIDENCE_CHANGED · document attempt-1/03-plan-1\.json"):
            made.newest(Kind.PLAN)


def test_changed_document_is_left_out_where_that_is_wanted(tmp_path: Path, memory: Memory) -> None:
    """A task that must always work reads the documents that are left."""
    made = evidence(tmp_path, memory)
    made.write(Kind.PLAN, {"number": 1})
    Path(made.write(Kind.PLAN, {"number": 2})).write_text("{}")
    made.leaves_out_changed = True

    assert [{"number": 1}] == made.of_attempt(Kind.PLAN)
    assert {"number": 1} == made.newest(Kind.PLAN)
    assert made.has_written(Kind.PLAN)


def test_evidence_that_is_whole_is_not_asked_about_again(tmp_path: Path, memory: Memory) -> None:
    """Nothing is found in a run's own documents, also of earlier attempts."""
    evidence(tmp_path, memory).write(Kind.PLAN, {})
    made = evidence(tmp_path, memory, attempt=2)
    made.write(Kind.PLAN, {})

    assert ((), 0) == (made.changes(), memory.looks)


def test_stranger_in_an_earlier_attempt_is_not_read(tmp_path: Path, memory: Memory) -> None:
    """What Airflow does not know of an earlier attempt counts for nothing, wherever it came from."""
    first = evidence(tmp_path, memory)
    first.folder.mkdir(parents=True)
    (first.folder / "03-plan-1.json").write_text('{"forged": true}')
    made = evidence(tmp_path, memory, attempt=2)

    assert ((), None) == (made.changes(), made.newest(Kind.PLAN))


def test_what_another_run_of_this_name_left_is_disowned(tmp_path: Path, memory: Memory) -> None:
    """A run that was deleted in Airflow and made again finds its old folder: nothing of it counts."""
    evidence(tmp_path, Memory()).write(Kind.PLAN, {"old": True})
    made = evidence(tmp_path, memory)
    made.disown_strangers()
    made.write(Kind.PLAN, {"old": False})

    assert ((), [{"old": False}]) == (made.changes(), made.of_attempt(Kind.PLAN))


def test_disowned_documents_are_not_opened(tmp_path: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that are in the folder before the first task take no memory of any task, whatever they become."""
    evidence(tmp_path, Memory()).write(Kind.PLAN, {"old": True})
    made = evidence(tmp_path, memory)
    made.disown_strangers()
    monkeypatch.setattr(evidence_module, "read_whole", lambda path: pytest.fail(f"{path} was opened"))

    assert () == made.changes()


def test_flood_of_documents_is_one_refusal(tmp_path: Path, memory: Memory) -> None:
    """More documents than a run leaves are refused by their number, and their names are kept nowhere."""
    made = evidence(tmp_path, memory)
    made.folder.mkdir(parents=True)
    for number in range(1, 1_002):
        (made.folder / document_name(Kind.PLAN, number)).touch()
    for odd in ("03-plan-01.json", "03-plan-0.json", "04-plan-1.json", f"03-plan-{'9' * 10}.json", "03-plan-1.json\n"):
        (made.folder / odd).touch()

    with pytest.raises(Refused, match=r"EVIDENCE_CHANGED .*1,001 documents of no task"):
        made.disown_strangers()
    assert 21 == len(made.changes())
    assert "981 more documents of no task" in str(made.changes()[-1])


@pytest.mark.parametrize("is_written", [False, True])
def test_write_that_was_cut_short_is_neither_there_nor_missing(
    tmp_path: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch, is_written: bool
) -> None:
    """A task that dies during a write leaves a document that is neither read nor refused."""

    class Killed(BaseException):
        pass

    def die(path: Any, text: str) -> None:
        if is_written:
            write_whole(path, text)
        raise Killed

    made = evidence(tmp_path, memory)
    with monkeypatch.context() as patch:
        patch.setattr(evidence_module, "write_whole", die)
        with pytest.raises(Killed):
            made.write(Kind.PLAN, {"number": 1})

    assert ((), None) == (made.changes(), made.newest(Kind.PLAN))
    made.write(Kind.PLAN, {"number": 2})
    assert ((), {"number": 2}) == (made.changes(), made.newest(Kind.PLAN))


def test_result_of_another_program_counts_once_it_was_taken(tmp_path: Path, memory: Memory) -> None:
    """Spark's result is awaited, taken as it is, and must not change from then on."""
    made = evidence(tmp_path, memory)
    path = made.announced_path(RESULT)
    path.parent.mkdir(parents=True)
    result = ValidationResult("3.5.0", "then", "now", ())
    path.write_text(json.dumps(result.to_document()))
    assert ((), None) == (made.changes(), made.newest(RESULT))

    assert result == made.taken(RESULT, path) == made.require(RESULT)
    path.write_text("{}")
    assert 1 == len(made.changes())


def test_frozen_file_is_read_as_airflow_keeps_it(tmp_path: Path, memory: Memory) -> None:
    """A task that must always work has the file, whatever happened to the folder."""
    made = evidence(tmp_path, memory)
    made.freeze_migration("name: shop")
    (made.folder / "migration.yaml").write_text("name: mallory")

    assert ("name: shop", 1) == (made.frozen_migration(), len(made.changes()))
    memory.text = None
    with pytest.raises(Refused, match=r"EVIDENCE_CHANGED · document attempt-1/migration\.yaml"):
        made.frozen_migration()


def test_evidence_of_a_run_that_is_over_is_checked_by_what_it_left(tmp_path: Path, memory: Memory) -> None:
    """A rollback reads a cutover's documents as the ledger knows them."""
    made = evidence(tmp_path, memory)
    made.freeze_migration("name: shop")
    made.write(Kind.OFFSETS_BEFORE, {"at": 1})
    made.write(Kind.ALERT, {})
    known = made.digests_of(Kind.OFFSETS_BEFORE)
    over = RunEvidence(tmp_path, "shop", RunIdentity("dag", "run", 1), LeftBehind(known))

    assert ["attempt-1/13-offsets-before-1.json", "attempt-1/migration.yaml"] == sorted(known)
    assert ({"at": 1}, "name: shop") == (over.require(Kind.OFFSETS_BEFORE), over.frozen_migration())
    (made.folder / "13-offsets-before-1.json").write_text('{"at": 2}')
    with pytest.raises(Refused, match="EVIDENCE_CHANGED"):
        over.require(Kind.OFFSETS_BEFORE)
    with pytest.raises(TypeError):
        over.write(Kind.ALERT, {})
