"""Finds in the documents of a run how long producers and consumers stood still, or would have in a rehearsal."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol, TypeVar

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.evidence.evidence_documents import StoredKind
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.run.stand_still import PhaseTime, StandStill, Still, StillPhase
from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.core.watching.watch import WatchEnded

D = TypeVar("D", bound=Document)
Spans = Mapping[StillPhase, tuple[str | None, str | None]]
"""When each phase began and ended (ISO 8601); `None`: not known, or not yet."""


class Newest(Protocol):
    """Gives the newest document of a kind."""

    def __call__(self, kind: StoredKind[D], /) -> D | None:
        """Return the document; `None` if the run has none."""


def stand_still(mode: str, newest: Newest) -> StandStill | None:
    """Return the times of a cutover or a rehearsal, as far as it came; `None` in every other mode, or if none is known.

    Each phase begins when the one before it has ended. Producers stand still from the last record on the source until
    the cutover is confirmed. Consumers stand still from the end of `drain_groups` until the groups' offsets are read
    back. A rehearsal has no fence, copies nothing after one, and writes nothing, so it does not measure these phases.
    """
    if mode not in {Mode.CUTOVER, Mode.REHEARSE}:
        return None
    ask, result, done = newest(Stored.APPROVE), newest(Stored.OFFSETS_RESULT), newest(Stored.CUTOVER)
    answered_at = ask.answered_at if ask else None
    person_s = seconds_between(ask.asked_at, answered_at) if ask else None
    planning = _planning(newest)
    producers = {**_copying(newest), **planning, StillPhase.WRITING: (answered_at, done.at if done else None)}
    consumers = {**planning, StillPhase.WRITING: (answered_at, result.at if result else None)}
    found = StandStill(_still(producers, person_s), _still(consumers, person_s))
    return found if found.producers.is_measured else None


def _still(spans: Spans, person_s: float | None) -> Still:
    phases = tuple(PhaseTime(phase, seconds_between(*span)) for phase, span in spans.items())
    began_at = next((began for began, _ in spans.values() if began), None)
    return Still(began_at, spans[StillPhase.WRITING][1], phases, person_s)


def _copying(newest: Newest) -> Spans:
    """Return the phases in which only producers stand still."""
    watch, stop, judged, drained = (
        newest(Stored.WATCH),
        newest(Stored.STOP),
        newest(Stored.JUDGE),
        newest(Stored.DRAINED),
    )
    ended = watch if isinstance(watch, WatchEnded) else None
    fence, copied_at = (ended.fence, ended.at) if ended else (None, None)
    stopped_at, judged_at = stop.at if stop else None, judged.at if judged else None
    fenced_at = fence.proved_at if fence else None
    last_record = fence.last_record_at(stop.certificate.last_record_at if stop else None) if fence else None
    # A run with nothing to copy starts no MirrorMaker, and stops none.
    validating_at = copied_at if ended and ended.generation is None else stopped_at
    return {
        StillPhase.FENCE: (last_record, fenced_at),
        StillPhase.COPY: (fenced_at, copied_at if fence else None),
        StillPhase.STOP: (copied_at, stopped_at),
        StillPhase.VALIDATION: (validating_at, judged_at),
        StillPhase.CONSUMERS: (judged_at, drained.at if drained and not drained.would_wait else None),
    }


def _planning(newest: Newest) -> Spans:
    """Return the phases in which the plan is made, from the moment at which the groups must be empty."""
    drained, ask, planned = newest(Stored.DRAINED), newest(Stored.APPROVE), newest(Stored.OFFSETS_PLAN)
    seen_at = planned.plan.at if planned else None
    planned_at = ask.asked_at if ask else planned.planned_at if planned else None
    return {
        StillPhase.TRANSLATION: (drained.at if drained else None, seen_at),
        StillPhase.PLAN: (seen_at, planned_at),
    }


def seconds_between(began_at: str | None, ended_at: str | None) -> float | None:
    """Return the duration; `None` if a moment is missing or unreadable, or belongs to an earlier attempt."""
    if not began_at or not ended_at:
        return None
    try:
        seconds = (datetime.fromisoformat(ended_at) - datetime.fromisoformat(began_at)).total_seconds()
    except (TypeError, ValueError):
        return None
    return seconds if seconds >= 0 else None
