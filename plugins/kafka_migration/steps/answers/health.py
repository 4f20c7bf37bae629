"""The health of a migration and its problems, for monitors: a problem keeps its text while it lasts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.run.run_names import readable
from kafka_migration.core.run.task_steps import TaskId
from kafka_migration.core.text.local_time import LocalTime
from kafka_migration.core.text.shortened import some
from kafka_migration.core.text.terminal_text import moment
from kafka_migration.steps.answers.kept_migration import MigrationStore
from kafka_migration.steps.answers.status_answer import ActiveRun, StatusAnswer, status_answer

CHECK_SCHEMA: Final = 1


class Health(StrEnum):
    """Whether a migration is well, or that of the worst of several; the worst state comes first."""

    WRONG = "wrong"
    NEEDS_A_PERSON = "needs a person"
    GOOD = "good"


@dataclass(frozen=True, slots=True)
class CheckedMigration(Document):
    """The health of one migration, and its problems as text, the worst ones first.

    `timezone` is that of the newest run, in which people read moments.
    """

    migration: str
    health: Health
    problems: tuple[str, ...]
    timezone: str = "UTC"

    @property
    def told(self) -> list[str]:
        """The problems as people read them."""
        return readable(self.problems, LocalTime(self.timezone))


@dataclass(frozen=True, slots=True)
class CheckedMigrations:
    """The health of each migration that can be read, and why others cannot."""

    migrations: tuple[CheckedMigration, ...]
    problems: tuple[Finding, ...]

    @property
    def health(self) -> Health:
        """The health of the migration that is worst."""
        states = {each.health for each in self.migrations}
        return next((state for state in Health if state in states), Health.GOOD)


def checked(
    stores: Iterable[MigrationStore], now: datetime, findings_of: Callable[[Exception], tuple[Finding, ...]]
) -> CheckedMigrations:
    """Check each migration; `findings_of` describes why one of them cannot be read."""
    found, problems = list[CheckedMigration](), list[Finding]()
    for store in stores:
        try:
            found.append(health_of(status_answer(store, now), now))
        except Exception as error:
            # Any error: the other migrations are still checked.
            problems += findings_of(error)
    return CheckedMigrations(tuple(found), tuple(problems))


def health_of(answer: StatusAnswer, now: datetime) -> CheckedMigration:
    """Return the health of a migration from its status."""
    wrong, needs = tuple(_wrong(answer)), tuple(_needs(answer, now))
    health = Health.WRONG if wrong else Health.NEEDS_A_PERSON if needs else Health.GOOD
    return CheckedMigration(answer.migration, health, (*wrong, *needs), answer.local.zone)


def _wrong(answer: StatusAnswer) -> Iterator[str]:
    if answer.ledger.not_confirmed:
        yield f"Airflow does not confirm {answer.ledger.not_confirmed} entries of the ledger"
    if failed := [topic for topic, verdict in answer.topics.items() if verdict is Verdict.FAIL]:
        yield f"the copy differs: {some(failed)}"
    if last := answer.last_run:
        yield from (f"a later run contradicts the copy: {each}" for each in last.contradictions)
        if last.outcome == "failed":
            yield f"the last run failed at {moment(last.at)} ({last.run})" + (
                f": {some(last.codes)}" if last.codes else ""
            )


def _needs(answer: StatusAnswer, now: datetime) -> Iterator[str]:
    if answer.now:
        yield from _needs_now(answer.now)
    elif answer.last_generation and answer.last_generation.open:
        yield f"generation {answer.last_generation.number} has no stop certificate, and no run is active"
    if unproved := [topic for topic, verdict in answer.topics.items() if verdict is Verdict.NOT_VERIFIABLE]:
        yield f"the copy cannot be verified: {some(unproved)}"
    start = answer.last_run and answer.last_run.next_start
    if start and answer.now is None and start.is_over(now):
        yield f"a run had to start before {start.at}: {start.partition}, {start.reason}"


def _needs_now(run: ActiveRun) -> Iterator[str]:
    if run.step == TaskId.APPROVE:
        yield f"run {run.run} waits for an approval since {moment(run.step_at or run.at)}"
    if run.is_overdue:
        yield f"run {run.run} last told its progress at {moment(run.at)}: check that the triggerer is running"
    if run.stage == "near":
        yield f"run {run.run} waits until the producers on the source stop"
    yield from (f"{each.party} has not answered since {each.since}: {each.reason}" for each in run.silent)
