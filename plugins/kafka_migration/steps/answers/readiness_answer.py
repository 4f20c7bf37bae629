"""Whether a cutover may follow: what is proved, what the newest rehearsal found, and how old that is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.ledger.chain import Confirmation
from kafka_migration.core.ledger.cutovers import Rehearsed
from kafka_migration.core.migration.settings import Migration, Phase
from kafka_migration.core.report.run_status import LastRun, Progress, age_words
from kafka_migration.core.rollback.decommission import Condition, NotKnown, condition, may_go
from kafka_migration.core.text.local_time import LocalTime
from kafka_migration.core.text.shortened import brief, some
from kafka_migration.core.text.terminal_text import duration
from kafka_migration.core.watching.retention_forecast import ForecastDocument
from kafka_migration.steps.answers.kept_migration import MigrationStore
from kafka_migration.steps.answers.status_answer import VerdictAnswer, verdict_answer


@dataclass(frozen=True, slots=True)
class FiledCutover(Document):
    """What the migration file says about a cutover; without approvers, every user who may answer approves."""

    approvers: tuple[str, ...]
    four_eyes: bool
    hooks: tuple[str, ...]

    @classmethod
    def of(cls, migration: Migration) -> FiledCutover:
        """Return the settings of a file."""
        settings = migration.cutover
        return cls(settings.approvers, settings.four_eyes, tuple(map(str, settings.hooks)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyAnswer(Document):
    """Yes or no at a moment, and every condition with its state; `cutover` is `None` without the migration file.

    `rehearsal_age` is the age of the newest rehearsal in words; `rehearsal` has what it found and measured.
    `next_start` is that of `LastRun`. `timezone` is that of the last run, in which people read moments.
    """

    schema: Literal[1] = 1
    migration: str
    at: datetime
    ledger: Confirmation
    answer: Literal["yes", "no"]
    conditions: tuple[Condition, ...]
    rehearsal: Rehearsed | None
    rehearsal_age: str
    cutover: FiledCutover | None
    next_start: ForecastDocument | None
    timezone: str = "UTC"

    @property
    def local(self) -> LocalTime:
        """How people read its moments."""
        return LocalTime(self.timezone)


def ready_answer(store: MigrationStore, filed: Migration | None, longest: timedelta, now: datetime) -> ReadyAnswer:
    """Return the answer from the evidence; no cluster is asked.

    :param filed: the migration file as it is now; `None` if it is not known
    :param longest: how old the rehearsal may be
    """
    ledger = store.ledger.read()
    return readiness_of(store, verdict_answer(store), ledger.rehearsal, ledger.phase, filed, longest, now)


def readiness_of(
    store: MigrationStore,
    proved: VerdictAnswer,
    rehearsal: Rehearsed | None,
    phase: Phase,
    filed: Migration | None,
    longest: timedelta,
    now: datetime,
) -> ReadyAnswer:
    """Return the answer from what the ledger says: the verdicts, the newest rehearsal, the phase."""
    last, progress = store.last_run(), store.progress()
    conditions = (
        condition("Everything that was copied is proved", _unproved(proved)),
        condition("Later runs agree with the proof of the copy", _contradicted(proved, last, progress)),
        condition("Airflow confirms the ledger", _unconfirmed(proved.ledger)),
        condition("A rehearsal found nothing against a cutover", _against(rehearsal)),
        condition(f"The rehearsal is at most {duration(longest.total_seconds())} old", _age(rehearsal, longest, now)),
        condition("The migration file is the one that was rehearsed", _changed(rehearsal, filed)),
        condition("The last run did not fail", _failed(proved, last, progress)),
        condition("No run is active", _active(progress)),
        condition("The topics are not cut over yet", _moved(phase)),
    )
    return ReadyAnswer(
        migration=store.name,
        at=now,
        ledger=proved.ledger,
        answer="yes" if may_go(conditions) else "no",
        conditions=conditions,
        rehearsal=rehearsal,
        rehearsal_age=_age_words(rehearsal, now),
        cutover=None if filed is None else FiledCutover.of(filed),
        next_start=last.next_start if last else None,
        timezone=proved.timezone,
    )


def _unproved(proved: VerdictAnswer) -> Iterator[str]:
    by_standing: dict[str, list[str]] = {}
    for topic, found in proved.topics.items():
        if not found.proved:
            by_standing.setdefault(found.standing, []).append(topic)
    yield from (f"{standing}: {some(topics)}" for standing, topics in by_standing.items())
    if not proved.topics:
        yield "nothing was copied"


def _unconfirmed(ledger: Confirmation) -> Iterator[str]:
    if ledger.not_confirmed is None:
        yield NotKnown("Airflow's database was not asked")
    elif ledger.not_confirmed:
        yield str(ledger)


def _age_words(rehearsal: Rehearsed | None, now: datetime) -> str:
    ended = rehearsal and _moment(rehearsal.at)
    return age_words(ended, now) if ended else ""


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (OverflowError, ValueError):
        return None


def _against(rehearsal: Rehearsed | None) -> Iterator[str]:
    yield from ["no rehearsal has ended yet"] if rehearsal is None else rehearsal.against


def _age(rehearsal: Rehearsed | None, longest: timedelta, now: datetime) -> Iterator[str]:
    if rehearsal is None:
        yield "no rehearsal has ended yet"
    elif (ended := _moment(rehearsal.at)) is None:
        yield NotKnown(f"its time cannot be read: {brief(rehearsal.at)}")
    elif not timedelta() <= now - ended <= longest:
        yield f"it ended {age_words(ended, now)}; groups and topics may have changed, so rehearse again"


def _changed(rehearsal: Rehearsed | None, filed: Migration | None) -> Iterator[str]:
    if filed is None:
        yield NotKnown("the migration file was not read")
    elif rehearsal is None:
        yield "no rehearsal has ended yet"
    elif filed.digest != rehearsal.migration_digest:
        yield "the file has changed since, so rehearse again"


def _contradicted(proved: VerdictAnswer, last: LastRun | None, progress: Progress | None) -> Iterator[str]:
    yield from map(str, proved.contradictions)
    yield from _doubts(proved, last, progress)


def _doubts(proved: VerdictAnswer, last: LastRun | None, progress: Progress | None) -> Iterator[str]:
    """Yield why the result of the last run does not count: anyone may delete it, or put back an older one.

    An active run adds entries to the ledger before its result. Then the answer is no in any case.
    """
    if proved.as_of is None or progress is not None:
        return
    if last is None:
        yield NotKnown("the result of the last run (last-run.json) is missing")
    elif (newest := _moment(proved.as_of)) is None or last.at < newest:
        yield NotKnown("the result of the last run (last-run.json) is older than the newest entry of the ledger")


def _failed(proved: VerdictAnswer, last: LastRun | None, progress: Progress | None) -> Iterator[str]:
    yield from _doubts(proved, last, progress)
    if last is not None and last.outcome == "failed":
        yield f"{last.run}: {some(last.codes) if last.codes else 'see its tasks'}"


def _active(progress: Progress | None) -> Iterator[str]:
    if progress is not None:
        yield f"{progress.run} is at {progress.step}"


def _moved(phase: Phase) -> Iterator[str]:
    if phase is Phase.CUT_OVER:
        yield "all topics are cut over"
