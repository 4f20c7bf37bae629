"""Whether the files of a run's report are those that the run wrote, and what could not be checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from kafka_migration.adapters.store.digest_keeper import digests_in
from kafka_migration.adapters.store.evidence_store import RUN_FILE
from kafka_migration.core.documents.codec import Document
from kafka_migration.core.evidence.digests import ANNOUNCED
from kafka_migration.core.evidence.evidence_documents import Kind, attempt_folder_name, attempt_of
from kafka_migration.core.evidence.verification import (
    DigestSource,
    FileState,
    FoundFile,
    VerifiedFile,
    verified_files,
)
from kafka_migration.core.findings.errors import EvidenceUnreadable, FindingsError, Refused, TransientError
from kafka_migration.core.report.run_document import RunDocument
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.core.text.shortened import capitalized, sentence, some
from kafka_migration.steps.answers.kept_migration import MigrationStore
from kafka_migration.steps.answers.run_folders import RunFolder, RunResult, no_report

_NOT_KEPT = "Airflow keeps no digests of this run: it may have deleted the run or its XCom entries"
# No place that keeps digests.
_NOTHING = DigestSource("", {}, is_complete=False)


class ReportState(StrEnum):
    """What the check of a report found; the worst state comes first."""

    CHANGED = "changed"
    NOT_FULLY_CHECKED = "not fully checked"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class AskedAirflow:
    """The Airflow that keeps the digests of runs.

    `stored` returns what the tasks of a run stored about their evidence, and raises `Refused` or `TransientError`;
    `None`: Airflow is not asked, for a `reason`.
    """

    stored: Callable[[RunIdentity], Iterable[object]] | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedReport(Document):
    """The files of a run's report and their states; `not_checked` says what no digest confirms.

    `run` is `dag/run#attempt`, or the name of the folder if nothing says which run it is. `verified_by` has the number
    of verified files by what keeps their digests.
    """

    schema: Literal[1] = 1
    migration: str
    run: str
    finished_at: str | None
    outcome: str | None
    evidence: str
    answer: ReportState
    verified_by: Mapping[str, int]
    files: tuple[VerifiedFile, ...]
    not_checked: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Kept:
    """The digests that a place outside of the run's folder keeps.

    `is_sure`: a user who can write to the evidence root cannot change them. `reason` says why they are not Airflow's.
    """

    source: DigestSource
    is_sure: bool = False
    reason: str = ""

    @property
    def reported(self) -> list[int]:
        """The attempts whose `run.json` has a digest here."""
        names = (name for name, digest in self.source.digests.items() if digest and name.endswith(f"/{RUN_FILE}"))
        return list(map(attempt_of, names))


def checked_report(store: MigrationStore, run: RunFolder, airflow: AskedAirflow) -> CheckedReport:
    """Compare every file that the report of a run uses with the digests that Airflow, the ledger and `run.json` keep.

    Raises `Refused` (`REPORT_MISSING`) for a run without a report, `EvidenceUnreadable` if what is there instead of it
    cannot be compared with anything, `StoreFailed` if the evidence root does not answer.
    """
    there, result = _result(run)
    identity = _identity(run, result.document)
    kept = _kept(store, identity, airflow)
    attempt = run.asked or max((*kept.reported, there))
    if attempt not in kept.reported and result.document is None:
        raise result.problem or Refused([no_report(run)])
    attempts = {number for number in (*_attempts(run), *map(attempt_of, kept.source.digests)) if 0 < number <= attempt}
    found = {name: file for number in attempts for name, file in run.found(number).items()}
    document = None
    if attempt == there:
        document, found[_result_name(attempt)] = result.document, result.file
    files = verified_files(found, _sources(kept.source, document, found, attempt))
    gaps = tuple(_gaps(run, kept, files, attempt))
    return CheckedReport(
        migration=store.name,
        run=f"{identity.dag_id}/{identity.run_id}#{attempt}" if identity else f"{run.name}#{attempt}",
        finished_at=document.finished_at if document else None,
        outcome=document.outcome if document else None,
        evidence=str(run.folder),
        answer=_answer(files, gaps),
        verified_by=Counter(each.by for each in files if each.state is FileState.VERIFIED),
        files=files,
        not_checked=gaps,
    )


def _result(run: RunFolder) -> tuple[int, RunResult]:
    """Return the attempt with the report, 0 if there is none, and its `run.json`."""
    try:
        there = run.reported() or 0
        return there, run.result(there) if there else RunResult(FoundFile())
    except EvidenceUnreadable as error:
        return 0, RunResult(FoundFile(), problem=error)


def _result_name(attempt: int) -> str:
    """Return the name of an attempt's `run.json`, as digests have it."""
    return f"{attempt_folder_name(attempt)}/{RUN_FILE}"


def _attempts(run: RunFolder) -> list[int]:
    """Return the attempts with a folder; none if something else is in the place of the run's folder."""
    try:
        return run.attempts()
    except EvidenceUnreadable:
        return []


def _identity(run: RunFolder, document: RunDocument | None) -> RunIdentity | None:
    if run.run_id:
        return RunIdentity(run.dag_id, run.run_id, 1)
    return RunIdentity(document.dag_id, document.run_id, 1) if document else None


def _kept(store: MigrationStore, identity: RunIdentity | None, airflow: AskedAirflow) -> _Kept:
    """Return the digests of Airflow, or else those of the ledger."""
    if identity is None:
        return _Kept(_NOTHING, reason="the id of the run is not known")
    digests, reason = _of_airflow(store, identity, airflow)
    if digests:
        return _Kept(DigestSource("Airflow", digests), is_sure=True)
    try:
        is_sure, entries = store.confirmation().not_confirmed == 0, store.ledger.read().digests_of(identity)
    except FindingsError as error:
        return _Kept(_NOTHING, reason=f"{reason}. The ledger cannot be used: {error.findings[0].found}")
    except TransientError as error:
        return _Kept(_NOTHING, reason=f"{reason}. The ledger cannot be used: {error}")
    return _Kept(DigestSource("the ledger", entries, is_complete=False), is_sure, reason)


def _of_airflow(store: MigrationStore, identity: RunIdentity, airflow: AskedAirflow) -> tuple[dict[str, str], str]:
    if airflow.stored is None:
        return {}, airflow.reason
    try:
        digests = digests_in(airflow.stored(identity), store.name)
    except FindingsError as error:
        return {}, f"Airflow refused the question: {error.findings[0].found}"
    except TransientError as error:
        return {}, f"Airflow did not answer: {error}"
    return digests, "" if digests else _NOT_KEPT


def _sources(
    outside: DigestSource, document: RunDocument | None, found: Mapping[str, FoundFile], attempt: int
) -> list[DigestSource]:
    """Return what says which digests are right, the surest first.

    `run.json` has those of the other files; it does not count if what is outside knows another `run.json`.
    """
    name = _result_name(attempt)
    first = DigestSource(outside.name, _until(attempt, outside.digests), outside.is_complete)
    is_wrong = any(each.file == name and each.state.is_wrong for each in verified_files(found, [first]))
    if outside.is_complete or document is None or not document.digests or is_wrong:
        return [first]
    inside = {**_until(attempt, document.digests), name: ANNOUNCED}
    return [first, DigestSource(RUN_FILE, inside, later=frozenset({Kind.ALERT}))]


def _until(attempt: int, digests: Mapping[str, str]) -> dict[str, str]:
    """Return the digests of the files up to an attempt: later ones are no part of its report."""
    return {name: digest for name, digest in digests.items() if attempt_of(name) <= attempt}


def _gaps(run: RunFolder, kept: _Kept, files: Sequence[VerifiedFile], attempt: int) -> Iterator[str]:
    """Yield what no digest confirms, and why."""
    if kept.source.is_complete:
        unknown = [each.file for each in files if each.state is FileState.NOT_CHECKED]
    else:
        result = next((each for each in files if each.file == _result_name(attempt)), None)
        if not kept.is_sure or result is None or result.by != kept.source.name:
            yield (
                f"{RUN_FILE} itself. {sentence(capitalized(kept.reason))} A user who can write to the evidence root "
                f"could change {RUN_FILE} together with the ledger and with the files whose digests it has."
            )
        unknown = [each.file for each in files if each.state is FileState.NOT_CHECKED and each is not result]
        if later := [number for number in _attempts(run) if number > attempt] if run.asked is None else []:
            yield f"Attempt {later[-1]}, which has no {RUN_FILE}: it has not ended, or its {RUN_FILE} was deleted."
    if unknown:
        yield f"{some(unknown)}: no digest is kept of them."


def _answer(files: Sequence[VerifiedFile], gaps: Sequence[str]) -> ReportState:
    if any(each.state.is_wrong for each in files):
        return ReportState.CHANGED
    return ReportState.NOT_FULLY_CHECKED if gaps else ReportState.UNCHANGED
