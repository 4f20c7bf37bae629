"""Gathers what the pages show about migrations, through the answers that the command line gives too."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic

from kafka_migration.airflow_adapters import airflow_settings as settings
from kafka_migration.airflow_adapters.ledger_anchor import database_anchor
from kafka_migration.core.findings.errors import EvidenceUnreadable, FindingsError, Refused
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.report.progress_series import ProgressSeries
from kafka_migration.core.run.run_identity import RunIdentity, migration_of
from kafka_migration.core.text.local_time import IN_UTC, LocalTime
from kafka_migration.core.text.shortened import LONGEST_SENTENCE, some
from kafka_migration.migration_file.loading import load_migration_file
from kafka_migration.page import known_ledgers
from kafka_migration.page.kept_in_airflow import KnownDag
from kafka_migration.page.kept_run import KeptRun, kept_run
from kafka_migration.page.known_ledgers import LedgerBeingRead, known_ledger
from kafka_migration.steps.answers.health import CheckedMigration, Health, health_of
from kafka_migration.steps.answers.kept_migration import MigrationStore
from kafka_migration.steps.answers.readiness_answer import ReadyAnswer, readiness_of
from kafka_migration.steps.answers.status_answer import (
    StatusAnswer,
    VerdictAnswer,
    not_run_yet,
    with_contradictions,
    with_news,
)

log = logging.getLogger(__name__)
MaySee = Callable[[str], bool]
# As the command line assumes.
REHEARSED_WITHIN = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Screen:
    """One migration at a moment: what is known of it, the run that the page is about, and its progress over time.

    `filed` is the migration file, if this Airflow has it. `run` is `None` if there is none, or if the user may not see
    it. `rehearsed` is the newest rehearsal, if the run has no plan of the groups.
    """

    name: str
    at: datetime
    status: StatusAnswer
    health: CheckedMigration
    proved: VerdictAnswer
    ready: ReadyAnswer
    events: tuple[tuple[str, str], ...]
    series: ProgressSeries
    filed: Migration | None
    run: KeptRun | None
    rehearsed: KeptRun | None = None

    @property
    def local(self) -> LocalTime:
        """How people read its moments."""
        return self.status.local

    @property
    def is_newest(self) -> bool:
        """Whether the run of the page is the one that reported last."""
        newest = _newest_run(self.status)
        return bool(self.run and newest and (self.run.dag_id, self.run.run_id) == (newest.dag_id, newest.run_id))

    @property
    def is_active(self) -> bool:
        """Whether the run of the page is active: it says so, and Airflow too."""
        return self.status.now is not None and self.is_newest and self.run is not None and not self.run.has_ended

    @property
    def problems(self) -> tuple[str, ...]:
        """What needs a person, the worst first."""
        own: tuple[str, ...] = (self.run.problem,) if self.run and self.run.problem else ()
        if self.status.now and self.is_newest and self.run and self.run.has_ended:
            own += (f"the run ended in Airflow ({self.run.state}) without its result: see the log of its task finish",)
        return (*own, *self.health.told)


@dataclass(frozen=True, slots=True)
class Waiting:
    """A migration without a run: its status from the file; `None` if this Airflow does not have the file either."""

    name: str
    status: StatusAnswer | None


@dataclass(frozen=True, slots=True)
class FleetRow:
    """One migration in the list of all; `problem` says why it cannot be read, `reading` that it is being read.

    `local` is how people read its moments.
    """

    dag: KnownDag
    status: StatusAnswer | None = None
    health: CheckedMigration | None = None
    standing: str = ""
    problem: str = ""
    reading: str = ""
    local: LocalTime = IN_UTC

    @property
    def needs(self) -> str:
        """The first problems of the migration."""
        return some(self.health.told, 3, separator="; ", longest=LONGEST_SENTENCE) if self.health else ""


def screen_of(name: str, asked: RunIdentity | None, may_see: MaySee, now: datetime) -> Screen | Waiting:
    """Return one migration, with the run that was asked for, else with the active or the last one.

    Raises `FindingsError` for evidence that cannot be read, and `LedgerBeingRead` while its ledger is being read.
    """
    store, filed = opened(name), filed_migration(name)
    if store is None:
        return Waiting(name, not_run_yet(filed) if filed else None)
    known = known_ledger(store, now)
    status, proved = with_news(known.status, store, now), with_contradictions(known.proved, store)
    shown = _kept(name, asked or _newest_run(status), may_see)
    plans = bool(shown and shown.document and shown.document.groups)
    rehearsal = RunIdentity.from_holder(known.rehearsal.run) if known.rehearsal and not plans else None
    return Screen(
        name,
        now,
        status,
        health_of(status, now),
        proved,
        readiness_of(store, proved, known.rehearsal, status.phase, filed, REHEARSED_WITHIN, now),
        known.events,
        _series(store),
        filed,
        shown,
        _kept(name, rehearsal, may_see),
    )


def _kept(name: str, run: RunIdentity | None, may_see: MaySee) -> KeptRun | None:
    """Return a run of the migration; `None` for another one, and for one that the user may not see."""
    if run is None or migration_of(run.dag_id) != name or not may_see(run.dag_id):
        return None
    return kept_run(run.dag_id, run.run_id)


def _series(store: MigrationStore) -> ProgressSeries:
    try:
        return store.series()
    except EvidenceUnreadable:
        # It is only reported; the rest of the page does not need it.
        return ProgressSeries()


def opened(name: str) -> MigrationStore | None:
    """Return the evidence of a migration; `None` if it has none yet."""
    return MigrationStore.find(settings.evidence_root(), name, database_anchor, is_strict=True)


def fleet_of(dags: list[KnownDag], now: datetime) -> list[FleetRow]:
    """Return all migrations, those that need a person first; one that cannot be read does not hide the others."""
    # They share the time that a page waits for ledgers.
    until = monotonic() + known_ledgers.PATIENCE_S
    return sorted((_row(dag, now, until) for dag in dags), key=_urgency)


def _row(dag: KnownDag, now: datetime, until: float) -> FleetRow:
    try:
        store = opened(dag.migration)
        if store is None:
            filed, zone = filed_migration(dag.migration), settings.default_timezone()
            local = filed.local_time(zone) if filed else LocalTime(zone)
            return FleetRow(dag, not_run_yet(filed) if filed else None, local=local)
        known = known_ledger(store, now, max(0.0, until - monotonic()))
        status = with_news(known.status, store, now)
        return FleetRow(dag, status, health_of(status, now), known.proved.standing, local=status.local)
    except LedgerBeingRead as reading:
        return FleetRow(dag, reading=str(reading))
    except FindingsError as error:
        return FleetRow(dag, problem=" ".join(error.findings[0].sentences))
    except Exception as error:
        # Any error: the other migrations are still listed.
        log.exception("The evidence of %s cannot be shown", dag.migration)
        return FleetRow(dag, problem=f"{type(error).__name__}: {error}")


def _urgency(row: FleetRow) -> tuple[int, str]:
    order = list(Health)
    place = -1 if row.problem else order.index(row.health.health) if row.health else len(order)
    return place, row.dag.migration


def filed_migration(name: str) -> Migration | None:
    """Return the migration file; `None` if this server does not have it, or if it is wrong."""
    try:
        return load_migration_file(settings.migrations_folder() / f"{name}.yaml")[1]
    except (OSError, Refused):
        return None


def _newest_run(status: StatusAnswer) -> RunIdentity | None:
    holder = status.now.run if status.now else status.last_run.run if status.last_run else ""
    return RunIdentity.from_holder(holder)
