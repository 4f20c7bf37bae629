"""Rules of how long producers and consumers stand still, from the documents of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from kafka_migration.core.cutover.approval import Ask, Responder
from kafka_migration.core.documents.codec import Document
from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.groups.group_writes import OffsetsResultDocument
from kafka_migration.core.report.run_assembly import assembled
from kafka_migration.core.report.run_document import RunDocument
from kafka_migration.core.run.stand_still import StandStill, Still, forecast_lines
from kafka_migration.core.stored.stored_documents import CutoverDocument, DrainedDocument, StopDocument
from kafka_migration.core.text.local_time import IN_UTC
from kafka_migration.core.watching.fence import FenceProof
from kafka_migration.core.watching.watch import Outcome
from kafka_migration.report_formats.markdown_report import render_report
from tests.markdown_text import read
from tests.present import present
from tests.stored_examples import judged, planned, stopped, watch_ended
from tests.unit.report.test_report_of_a_run import plan_of
from tests.unit.report.test_run_assembly import BEGUN


def at(minute: int) -> str:
    """Return a moment of the evening."""
    return f"2030-01-01T22:{minute:02}:00+00:00"


UNTIMED = FenceProof(announced_at="then", quiet_s=60, ends={})
FENCE = replace(UNTIMED, proved_at=at(5), grew_before=at(4))


def stop_at(minute: int) -> StopDocument:
    """Return the stop of a MirrorMaker whose last copied record arrived at 22:03."""
    stop = stopped()
    return replace(stop, at=at(minute), certificate=replace(stop.certificate, last_record_at=at(3)))


def rehearsal(*, would_wait: bool = False) -> dict[Kind, Document]:
    """Return the documents of a rehearsal that copied until 22:06."""
    plan = replace(plan_of(), at=at(19))
    return {
        Kind.WATCH: watch_ended(Outcome.DRAINED, at=at(6)),
        Kind.STOP: stop_at(7),
        Kind.JUDGE: replace(judged(), at=at(12)),
        Kind.DRAINED: DrainedDocument(at(15), would_wait),
        Kind.OFFSETS_PLAN: replace(planned(plan), planned_at=at(20)),
    }


def cutover(fence: FenceProof | None = FENCE) -> dict[Kind, Document]:
    """Return the documents of a cutover that waited ten minutes for its approval."""
    return {
        **rehearsal(),
        Kind.WATCH: watch_ended(Outcome.DRAINED, at=at(6), fence=fence),
        Kind.APPROVE: Ask("d", at(21), 3600, (), at(31), "Approve", Responder("7", "grace")),
        Kind.OFFSETS_RESULT: OffsetsResultDocument(at(33), "d", (), (), {}, partly=False, warnings=()),
        Kind.CUTOVER: CutoverDocument("r", at(34), (), (), partly=False, next_steps=()),
    }


def run_of(mode: str, documents: Mapping[Kind, Document]) -> RunDocument:
    """Return the run with these documents."""
    return assembled(replace(BEGUN, mode=mode), {kind: each.to_document() for kind, each in documents.items()}, ())


def stood(mode: str, documents: Mapping[Kind, Document]) -> StandStill:
    """Return the times of the run with these documents."""
    return present(run_of(mode, documents).stood_still)


def minutes(side: Still) -> dict[str, float | None]:
    """Return the minutes of each phase."""
    return {str(each.phase): None if each.seconds is None else each.seconds / 60 for each in side.phases}


MOVING = {"translation": 4, "plan": 2, "writing": 2}
COPYING = {"fence": 2, "copy": 1, "stop of MirrorMaker": 1, "validation": 5, "waiting for consumers": 3}


def test_cutover_has_each_phase_without_gaps() -> None:
    """The phases and the wait for the approval together are the whole time of each side."""
    found = stood("cutover", cutover())

    assert {**COPYING, **MOVING, "writing": 3} == minutes(found.producers)
    assert MOVING == minutes(found.consumers)
    assert (at(3), at(34), 600) == (found.producers.began_at, found.producers.ended_at, found.producers.person_s)
    assert (at(15), at(33), 600) == (found.consumers.began_at, found.consumers.ended_at, found.consumers.person_s)
    assert (31 - 10, 18 - 10) == (found.producers.seconds / 60, found.consumers.seconds / 60)


def test_rehearsal_measures_what_it_does() -> None:
    """Fence, the copy after it, and writing are not measured; the time is what it would have been without them."""
    found = stood("rehearse", rehearsal())

    assert {**COPYING, **MOVING, "fence": None, "copy": None, "plan": 1, "writing": None} == minutes(found.producers)
    assert {**MOVING, "plan": 1, "writing": None} == minutes(found.consumers)
    assert (None, None) == (found.producers.ended_at, found.producers.person_s)
    assert "Producers would stand still for at least 14m00s (" in forecast_lines(found)[0]
    assert "; not measured: fence, copy, writing)." in forecast_lines(found)[0]


def test_wait_that_a_rehearsal_does_not_do_is_not_zero() -> None:
    """With `cutover.drain_groups`, a cutover waits for the consumers, and how long is unknown."""
    assert minutes(stood("rehearse", rehearsal(would_wait=True)).producers)["waiting for consumers"] is None


def test_rehearsal_with_nothing_to_copy_measures_its_validation() -> None:
    """No MirrorMaker is started and stopped; its validation begins when the copy is known to be complete."""
    documents = {**rehearsal(), Kind.WATCH: watch_ended(Outcome.DRAINED, None, at=at(6))}
    del documents[Kind.STOP]
    found = minutes(stood("rehearse", documents).producers)

    assert (None, 6) == (found["stop of MirrorMaker"], found["validation"])


@pytest.mark.parametrize("kind", [Kind.STOP, Kind.JUDGE, Kind.DRAINED, Kind.OFFSETS_PLAN, Kind.APPROVE, Kind.CUTOVER])
def test_moment_that_is_missing_is_unknown(kind: Kind) -> None:
    """The phases around a missing document are not measured, and the whole is a lower limit."""
    documents = cutover()
    del documents[kind]
    producers = stood("cutover", documents).producers

    assert None in minutes(producers).values()
    assert producers.together.startswith("at least ")


def test_run_of_an_earlier_version_has_no_fence_times() -> None:
    """Without the times of the fence, the stand-still of the producers has no known begin."""
    found = stood("cutover", cutover(UNTIMED))

    assert (None, None) == (minutes(found.producers)["fence"], minutes(found.producers)["copy"])
    assert found.since(IN_UTC)[0].endswith(" or earlier.")


@pytest.mark.parametrize("mode", ["sync", "validate", "restore", "fail_back"])
def test_other_modes_have_no_stand_still(mode: str) -> None:
    """Only a cutover and its rehearsal have these times; a rehearsal that measured nothing has none either."""
    assert run_of(mode, rehearsal()).stood_still is None
    assert run_of("rehearse", {}).stood_still is None


def test_forecast_that_is_missing_is_named() -> None:
    """Without a rehearsal that measured it, the text has no number."""
    (line,) = forecast_lines(None)
    assert "is not known" in line


def test_report_has_a_row_per_phase() -> None:
    """Consumers have no time in the phases before the plan; what a rehearsal does not do is not zero."""
    report = read(render_report(run_of("cutover", cutover())))
    assert "## How long producers and consumers stood still" in report
    assert "| fence | 2m00s | – |" in report
    assert "| Together | 21m00s | 8m00s |" in report
    assert "| Besides: waiting for an answer | 10m00s | 10m00s |" in report
    assert "Producers: measured from 2030-01-01 22:03:00 UTC to 2030-01-01 22:34:00 UTC." in report

    report = read(render_report(run_of("rehearse", rehearsal())))
    assert "## How long producers and consumers would stand still" in report
    assert "| writing | not measured | not measured |" in report
    assert "| Together | at least 14m00s | at least 5m00s |" in report


def test_times_are_read_again() -> None:
    """The JSON form keeps the phases in their order."""
    run = run_of("cutover", cutover())

    assert run.stood_still == RunDocument.from_document(run.to_document()).stood_still
