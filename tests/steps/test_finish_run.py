"""Rules of the end of a run: the reservation, the outcome, and what is written and told about it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused, StoreFailed, TransientError, ValidationFailed
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.groups.group_writes import OffsetsResultDocument
from kafka_migration.core.groups.offsets_plan import OffsetsPlan
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.ledger.cutovers import CutOver
from kafka_migration.core.ledger.generations import GenerationStart
from kafka_migration.core.migration.alert_settings import AlertKind
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.report.run_status import LastRun
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.core.run.run_window import RunWindow
from kafka_migration.core.spark.letter_forms import OF_DRIVER, OF_TASK, place_of
from kafka_migration.core.stored.stored_documents import (
    CutoverDocument,
    OffsetsBeforeDocument,
    OffsetsPlanDocument,
    ReserveDocument,
    Stored,
)
from kafka_migration.core.watching.unfinished_work import PendingValidation
from kafka_migration.core.watching.watch import Outcome
from kafka_migration.steps.finish.finish_run import Finished, finish_run, look_at_evidence
from kafka_migration.steps.finish.outcome import EndedTasks
from tests.present import present
from tests.steps.run_stage import DAG_ID, MemoryKeeper, RunStage
from tests.stored_examples import checked, judged, read_run, watch_ended
from tests.unit.partitions import P0

DONE = {"preflight": "success", "reserve": "success"}
GAP = Finding(Code.GAP, "orders[0]", "f", "e", "Read on.", happened="Offsets are gone.", matters="They are lost.")


@pytest.fixture
def stage(tmp_path: Path, migration_text: str) -> RunStage:
    """A run that has frozen its file, holds the reservation and has recorded that."""
    made = RunStage(tmp_path)
    run = made.run
    run.evidence.freeze_migration(migration_text)
    run.evidence.write(Stored.PREFLIGHT, checked(Mode.SYNC))
    run.evidence.write(Stored.RESERVE, ReserveDocument(run.now(), run.identity.holder, None))
    made.host.holder = run.identity.holder
    return made


def finish(stage: RunStage, **states: str | None) -> Finished:
    """Finish the run after tasks that ended in these states."""
    return finish_run(stage.run, EndedTasks(states or DONE, "ada", "2029-12-31T23:00:00+00:00"))


def run_file(stage: RunStage) -> Mapping[str, Any]:
    """Return the `run.json` that was written."""
    document: dict[str, Any] = json.loads((stage.run.evidence.folder / "run.json").read_text())
    return document


def codes(finished: Finished) -> list[str]:
    return [str(finding.code) for finding in finished.document.findings]


def test_run_that_did_everything_succeeds(stage: RunStage) -> None:
    """The reservation is free, `run.json` is the document, the report begins with its result, and no alert is sent."""
    finished = finish(stage)

    assert ("success", None, "") == (finished.document.outcome, finished.alert, stage.host.holder)
    assert finished.document == read_run(run_file(stage))
    assert ("ada", "sync", DONE) == (run_file(stage)["triggered_by"], run_file(stage)["mode"], run_file(stage)["tasks"])
    assert (stage.run.evidence.folder / "report.md").read_text().startswith("# shop: no verdict (success)\n")


def test_letters_of_drivers_that_were_killed_are_removed(stage: RunStage) -> None:
    """Letters that a task and its driver left are gone after the run, and the documents stay."""
    folder = Path(str(stage.run.evidence.folder))
    left = [place_of("09-validation-result-1.json", writer) for writer in (OF_DRIVER, OF_TASK)]
    for name in (*left, f".{left[0]}.6f1c"):
        (folder / name).write_text("{}")
    finish(stage)

    assert [] == [path.name for path in folder.iterdir() if "letter" in path.name]
    assert {"migration.yaml", "run.json"} <= {path.name for path in folder.iterdir()}


def test_letters_that_a_store_keeps_fail_no_run(stage: RunStage, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that does not remove them is a warning."""

    def refuse() -> None:
        raise StoreFailed([GAP])

    monkeypatch.setattr(stage.run.evidence, "remove_letters", refuse)

    assert not finish(stage).document.has_failed


@pytest.mark.parametrize("state", ["failed", "upstream_failed", "skipped", None])
def test_task_that_did_no_work_fails_the_run(stage: RunStage, state: str | None) -> None:
    """A task that failed, was skipped against its mode or did not run fails the run; the alert says so."""
    finished = finish(stage, **DONE, judge=state)

    assert finished.document.has_failed
    assert (f"TASK_NOT_SUCCESSFUL · task judge: it ended as {state or 'not run'}. See its log.",) == finished.reasons
    assert AlertKind.ERROR is (finished.alert and finished.alert.kind)


def test_refusals_of_tasks_that_failed_are_told(stage: RunStage) -> None:
    """The findings of a task that failed are those of the run; those of an earlier try that then succeeded are not."""
    stage.run.refused("plan", Refused([GAP]))
    stage.run.refused("judge", ValidationFailed([replace(GAP, code=Code.COPY_DIFFERS)]))

    finished = finish(stage, **DONE, plan="success", judge="failed")

    assert ["COPY_DIFFERS"] == codes(finished)
    assert AlertKind.FAILED is (finished.alert and finished.alert.kind)
    assert () == finished.reasons
    assert finished.why.startswith("COPY_DIFFERS · orders[0]: Offsets are gone. They are lost. Read on.\n")


@pytest.mark.parametrize(
    "holder", ["dag/other#1", f"{DAG_ID}/manual__1#2", "alice", "{}", "a\x1b[2J", "", "x" * 10_000]
)
def test_reservation_of_others_is_not_freed(stage: RunStage, holder: str) -> None:
    """A reservation of another run, of a later attempt or of a holder that is no run stays, and fails nothing."""
    stage.host.holder = holder

    assert "success" == finish(stage).document.outcome
    assert holder == stage.host.holder


def test_reservation_of_an_earlier_attempt_is_freed(stage: RunStage) -> None:
    """A cleared run frees what its earlier attempt could not."""
    stage.identity = RunIdentity(DAG_ID, "manual__1", 2)

    assert ("success", "") == (finish(stage).document.outcome, stage.host.holder)


def test_lock_of_another_run_does_not_fail_a_run_without_the_reservation(stage: RunStage) -> None:
    """While another run's stop holds the lock of the host, a look shows that there is nothing to free."""
    stage.host.holder = "dag/other#1"
    stage.host.errors = [TransientError("HOST_LOCKED: process 7 has held the lock")]

    assert "success" == finish(stage).document.outcome
    assert "dag/other#1" == stage.host.holder


def test_host_that_does_not_answer_fails_the_run(stage: RunStage) -> None:
    """A reservation that may not be free fails the run; without an open generation nothing runs."""
    stage.host.errors = [TransientError("no route to host")]

    finished = finish(stage)

    assert ("The reservation was not freed: no route to host",) == finished.reasons
    assert (True, False) == (finished.document.has_failed, finished.ended.may_run)


def test_silent_host_with_an_open_generation_may_run(stage: RunStage) -> None:
    """If neither a certificate nor the host says that MirrorMaker ended, the alert says what ends it on a host."""
    started = GenerationStart(1, stage.identity.holder, "t", {P0: 0}, {P0: 0})
    stage.run.ledger.append(started.to_document())
    stage.host.errors = [TransientError("no route to host")]

    finished = finish(stage)

    alert = present(finished.alert)
    assert AlertKind.NOT_STOPPED is alert.kind
    assert "MirrorMaker: may still run; the host stops it when its lease ends" in alert.text


def at_night(stage: RunStage, migration_text: str, when_late: str) -> None:
    """Make the run one of the nightly DAG, with what a late run means."""
    stage.identity, stage.keeper = RunIdentity("kafka_nightly_sync__shop", "scheduled__1", 1), MemoryKeeper()
    night = f"nightly:\n  cron: '0 22 * * *'\n  until: '04:00'\n  when_late: {when_late}\n"
    stage.run.evidence.freeze_migration(migration_text + night)
    stage.run.evidence.write(Stored.PREFLIGHT, checked(Mode.SYNC))


BEHIND = watch_ended(Outcome.BEHIND, lag=5, reason="the time is over")


@pytest.mark.parametrize(("when_late", "outcome"), [("fail", "failed"), ("warn", "behind")])
def test_late_night_ends_as_the_file_says(stage: RunStage, migration_text: str, when_late: str, outcome: str) -> None:
    """A nightly run that is behind fails, or only warns; an alert is sent in either case."""
    at_night(stage, migration_text, when_late)
    stage.run.evidence.write(Stored.WATCH, BEHIND)

    finished = finish(stage, preflight="success", watch_lag="success")

    assert outcome == finished.document.outcome
    told = finished.document.findings if outcome == "failed" else finished.document.warnings
    assert ["BEHIND"] == [str(finding.code) for finding in told]
    assert AlertKind.BEHIND is (finished.alert and finished.alert.kind)


def test_validation_that_is_pending_is_no_skip(stage: RunStage, migration_text: str) -> None:
    """A night that left its validation to the next one is late; its skipped tasks do not fail it."""
    at_night(stage, migration_text, "warn")
    stage.run.evidence.write(Stored.PENDING, PendingValidation("t", "too late", 1, 3))

    skipped = dict.fromkeys(("validate_topics", "judge"), "skipped")

    assert "validation pending" == finish(stage, preflight="success", **skipped).document.outcome


def test_run_outside_its_window_did_nothing(stage: RunStage) -> None:
    """A run that had nothing to do succeeds, says why, and expects its skips."""
    window = replace(RunWindow(), idle_because="it is Sunday")
    stage.run.evidence.write(Stored.PREFLIGHT, replace(checked(Mode.SYNC), run_window=window))

    document = finish(stage, preflight="success", plan="skipped", judge="skipped").document

    assert ("not in window", "it is Sunday") == (document.outcome, document.reason)


def test_groups_that_stayed_make_it_partly_done(stage: RunStage) -> None:
    """A cutover that left groups or topics out is partly done."""
    cut = CutOver(stage.identity.holder, "t", (), (), partly=True)
    stage.run.evidence.write(Stored.CUTOVER, CutoverDocument.extended(cut, next_steps=("Go.",)))

    document = finish(stage).document

    assert ("partly done", ("Go.",)) == (document.outcome, document.next_steps)


def test_topics_that_the_plan_left_out_fail_a_run_that_moved_nothing(stage: RunStage) -> None:
    """Topics whose copy is not proved fail the run, unless its cutover of the others is confirmed."""
    plan = OffsetsPlan("t", Mode.CUTOVER, ("audit",), (), {}, unproved={"orders": GAP})
    document = OffsetsPlanDocument("d", plan, "", not_moved=(), final=True)
    stage.run.evidence.write(Stored.OFFSETS_PLAN, document)

    refused = finish(stage, **DONE, plan_offsets="success")
    moved = finish(stage, **DONE, plan_offsets="success", confirm_cutover="success")

    assert (True, ["GAP"]) == (refused.document.has_failed, codes(refused))
    assert (False, ["GAP"]) == (moved.document.has_failed, codes(moved))


@pytest.mark.parametrize("name", ["report.md", "run.json"])
def test_report_that_the_store_does_not_take_fails_the_run(stage: RunStage, name: str) -> None:
    """The run fails, and its document and its alert have what could not be written."""
    (stage.run.evidence.folder / name / "taken").mkdir(parents=True)

    finished = finish(stage)

    assert finished.document.has_failed
    assert finished.document.findings
    assert AlertKind.REFUSED is (finished.alert and finished.alert.kind)
    last = stage.run.news.last_run()
    assert last is not None
    assert "failed" == LastRun.from_document(last).outcome


UNFIT = {"verdict": 5, "plan": {}, "certificate": 1, "groups": 7, "run_window": [], "warnings": {}, "at": 1}
# `finish` tells nothing of these.
NOT_TOLD = {Kind.FINISH, Kind.ALERT, Kind.REFUSAL}


@pytest.mark.parametrize("kind", sorted(set(Kind) - NOT_TOLD))
def test_document_of_another_version_fails_the_run_and_hides_nothing(stage: RunStage, kind: Kind) -> None:
    """A document that cannot be read is a finding; the reservation is free, and the rest is written."""
    stage.run.evidence.write(kind, UNFIT)

    finished = finish(stage, **DONE, watch_lag="success", plan_offsets="success", validate_topics="skipped")

    assert (["EVIDENCE_UNREADABLE"], "") == (codes(finished), stage.host.holder)
    assert f"{kind}: " in finished.document.findings[0].found
    assert "failed" == run_file(stage)["outcome"]


def test_watch_of_another_form_is_no_success(stage: RunStage) -> None:
    """A report shows what it knows of a watch without an outcome; whether everything was copied is not known."""
    stage.run.evidence.write(Kind.WATCH, {"at": "t", "progress": "half"})

    finished = finish(stage, **DONE, watch_lag="success")

    assert (["EVIDENCE_UNREADABLE"], "failed") == (codes(finished), finished.document.outcome)


def test_refusal_of_another_version_is_a_finding(stage: RunStage) -> None:
    """A refusal with a code that this version does not know is not lost."""
    stage.run.evidence.write(Kind.REFUSAL, {"task": "plan", "error": "Refused", "findings": [{"code": "OLD"}]})

    assert ["EVIDENCE_UNREADABLE"] == codes(finish(stage, **DONE, plan="failed"))


def test_modified_evidence_is_told_once_and_left_out(stage: RunStage) -> None:
    """A changed document fails the run with its name, and is not read."""
    path = Path(stage.run.evidence.write(Stored.JUDGE, judged(Verdict.FAIL)))
    path.write_text('{"verdict": "PASS"}')
    run = stage.run

    look_at_evidence(run)
    look_at_evidence(run)
    finished = finish_run(run, EndedTasks(DONE))

    assert (["EVIDENCE_CHANGED"], None) == (codes(finished), finished.document.verdict)


def test_evidence_that_cannot_be_read_keeps_nothing_alive(stage: RunStage) -> None:
    """An error of the store while the evidence is compared is only logged: the reservation must be freed."""
    run = stage.run
    stage.keeper.keep({"attempt-1/03-plan-1.json": "0" * 64})
    (run.evidence.folder / "03-plan-1.json").mkdir()

    look_at_evidence(run)

    assert run.evidence.leaves_out_changed
    assert finish_run(run, EndedTasks(DONE)).document.has_failed
    assert "" == stage.host.holder


def cut_over(stage: RunStage) -> None:
    """Let the run have moved everything."""
    stage.params = {"mode": "validate", "topics": [], "note": ""}
    stage.run.evidence.write(Stored.OFFSETS_BEFORE, OffsetsBeforeDocument("t", "d", {}, {}))
    stage.run.evidence.write(Stored.OFFSETS_RESULT, OffsetsResultDocument.of("t", "d", (), ()))
    stage.run.ledger.append(
        CutOver(stage.identity.holder, "2029-01-01T00:00:00+00:00", (), ("orders", "audit"), False).to_document()
    )


def test_conditions_of_the_source_follow_a_cutover(stage: RunStage) -> None:
    """After everything was cut over, the document has each condition for switching the source off."""
    stage.source.create_topics([NewTopic("orders", 1, 1, {}), NewTopic("audit", 1, 1, {})])
    cut_over(stage)

    conditions = {each.condition: each.state for each in finish(stage).document.decommission}

    assert len(conditions) > 5
    assert "met" == conditions["MirrorMaker has stopped"]


def test_clusters_that_do_not_answer_make_the_conditions_unknown(stage: RunStage) -> None:
    """A silent source fails no run; what it would say is unknown, which is no yes."""
    cut_over(stage)
    stage.source.is_down = True

    (condition,) = finish(stage).document.decommission

    assert ("Both clusters can be read", "unknown") == (condition.condition, condition.state)


def test_run_without_a_frozen_file_is_told(tmp_path: Path) -> None:
    """A run that was refused before its file was frozen has a document."""
    stage = RunStage(tmp_path, params={"mode": "nonsense"})
    stage.run.refused("preflight", Refused([replace(GAP, code=Code.MIGRATION_FILE_INVALID)]))

    document = finish(stage, preflight="failed").document

    assert ("failed", "not frozen", "nonsense") == (document.outcome, document.migration_digest, document.mode)
