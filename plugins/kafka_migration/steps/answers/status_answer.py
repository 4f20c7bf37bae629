"""The phase of a migration, its current run, the result of the last run, and the verdict of all runs on each topic."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.ledger.chain import Confirmation
from kafka_migration.core.ledger.cutovers import CutOver, RolledBack
from kafka_migration.core.ledger.generations import StopCertificate
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import Migration, Phase
from kafka_migration.core.report.run_forecast import Doing, Forecast, forecast
from kafka_migration.core.report.run_status import Contradiction, LastRun, Progress, age_words
from kafka_migration.core.run.run_names import run_names
from kafka_migration.core.run.stop_request import StopRequest
from kafka_migration.core.run.task_steps import TaskId
from kafka_migration.core.text.local_time import LocalTime
from kafka_migration.core.text.terminal_text import counted, duration
from kafka_migration.core.validation.coverage import CoverageSummary, FlawKind, PartitionCoverage, TopicCoverage
from kafka_migration.core.validation.coverage_rules import coverage_of
from kafka_migration.steps.answers.kept_migration import MigrationStore

# From worst to best. The worst standing of any topic is that of the migration.
STANDINGS = ("FAIL", "NOT_VERIFIABLE", "nothing copied", "pending", "WARN", "PASS")
# Start and end offset, verdict, and the run that judged.
JudgedStretch = tuple[int, int, Verdict, str]


@dataclass(frozen=True, slots=True)
class UnprovedOffsets(Document):
    """Offsets `[start, end)` of a partition that are not proved; `text` says why."""

    kind: FlawKind
    side: Side
    partition: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class JudgedPartition(Document):
    """The judged stretches of a partition per side, ascending."""

    source: tuple[JudgedStretch, ...]
    target: tuple[JudgedStretch, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvedTopic(CoverageSummary):
    """What the ledger proves about a topic, with its flaws, and with its partitions by number."""

    flaws: tuple[UnprovedOffsets, ...]
    partitions: Mapping[int, JudgedPartition]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictAnswer(Document):
    """The verdict of a migration and of each topic. `as_of` is the time of the newest entry; `None`: no run yet.

    `timezone` is that of the last run, in which people read moments.
    """

    schema: Literal[3] = 3
    migration: str
    as_of: str | None
    ledger: Confirmation
    standing: str
    contradictions: tuple[Contradiction, ...]
    topics: Mapping[str, ProvedTopic]
    timezone: str = "UTC"

    @property
    def local(self) -> LocalTime:
        """How people read its moments."""
        return LocalTime(self.timezone)


def verdict_answer(store: MigrationStore) -> VerdictAnswer:
    """Return the verdicts in the ledger, and the later findings that contradict them."""
    ledger = store.ledger.read()
    return with_contradictions(ledger_verdict(store, ledger, coverage_of(ledger)), store)


def with_contradictions(proved: VerdictAnswer, store: MigrationStore) -> VerdictAnswer:
    """Return the verdicts with the findings of later runs that contradict them."""
    last = store.last_run()
    return proved if last is None else replace(proved, contradictions=last.contradictions, timezone=last.timezone)


def ledger_verdict(store: MigrationStore, ledger: Ledger, covered: Mapping[str, TopicCoverage]) -> VerdictAnswer:
    """Return what the ledger alone says of the verdicts: the same until it has another entry."""
    covered = {**{topic: TopicCoverage(topic) for topic in ledger.topics}, **covered}
    standings = {topic.standing for topic in covered.values()} or {"nothing copied"}
    return VerdictAnswer(
        migration=store.name,
        as_of=_newest_time(ledger),
        ledger=store.confirmation(),
        standing=next(standing for standing in STANDINGS if standing in standings),
        contradictions=(),
        topics={topic: _verdict_of(covered[topic]) for topic in sorted(covered)},
    )


def _verdict_of(covered: TopicCoverage) -> ProvedTopic:
    return ProvedTopic.extended(
        covered.summary(),
        flaws=tuple(UnprovedOffsets(f.kind, f.side, f.partition, f.start, f.end, str(f)) for f in covered.flaws),
        partitions={number: _judged(each) for number, each in covered.partitions.items()},
    )


def _judged(partition: PartitionCoverage) -> JudgedPartition:
    return JudgedPartition(*(_stretches(partition, side) for side in ("source", "target")))


def _stretches(partition: PartitionCoverage, side: Side) -> tuple[JudgedStretch, ...]:
    return tuple((each.start, each.end, each.verdict, each.judgement.run) for each in partition.stretches(side))


def _newest_time(ledger: Ledger) -> str | None:
    """Return the time of the newest entry about the copy."""
    generations = [moment.at for g in ledger.generations for moment in (g.start, g.stop) if moment is not None]
    return max([*generations, *(judgement.at for judgement in ledger.judgements)], default=None)


STATUS_SCHEMA: Final = 6
# A progress document older than this may belong to a run that is no longer active.
FRESH_S = 120.0


def is_fresh(progress: Progress, now: datetime) -> bool:
    """Return whether a run has reported its progress recently."""
    return (now - progress.at).total_seconds() <= FRESH_S


@dataclass(frozen=True, slots=True)
class ActiveRun(Progress):
    """The progress of the active run, with its words, its age in words, whether it is recent, and its forecast end."""

    words: str = ""
    copy_words: str = ""
    in_step: str = ""
    age: str = ""
    is_fresh: bool = True
    forecast: Forecast | None = None

    @property
    def is_overdue(self) -> bool:
        """Whether the run should have reported since: the watch reports all the time, the other steps do not."""
        return self.step == TaskId.WATCH_LAG and not self.is_fresh


@dataclass(frozen=True, slots=True)
class EndedRun(LastRun):
    """The result of the last run, with its age in words."""

    age: str = ""


@dataclass(frozen=True, slots=True)
class LastGeneration(Document):
    """The newest generation of MirrorMaker, and the request to stop it; without a certificate it is open."""

    number: int
    run: str
    started_at: str
    open: bool
    stop_request: StopRequest | None
    certificate: StopCertificate | None


@dataclass(frozen=True, slots=True)
class FiledMigration(Document):
    """A migration file without a run: its connections, its engine, and how many topics and patterns it names."""

    source: str
    target: str
    engine: str
    topics: int
    patterns: int

    @classmethod
    def of(cls, migration: Migration) -> FiledMigration:
        """Return what a file says."""
        connections = migration.source.connection, migration.target.connection
        return cls(*connections, migration.mirror.engine, len(migration.topics), len(migration.rules.patterns))

    def __str__(self) -> str:
        what = [counted(self.topics, "topic")] if self.topics else []
        what += [counted(self.patterns, "pattern")] if self.patterns else []
        return f"{' and '.join(what)} from {self.source} to {self.target}, with {self.engine}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusAnswer(Document):
    """The status of one migration; `None` means *nothing yet*. A topic without a verdict is not judged.

    `from_file` is a migration that has no evidence, because it has not run yet.
    """

    schema: Literal[6] = STATUS_SCHEMA
    migration: str
    phase: Phase
    ledger: Confirmation
    now: ActiveRun | None
    last_run: EndedRun | None
    cutovers: tuple[CutOver, ...]
    rollbacks: tuple[RolledBack, ...]
    last_generation: LastGeneration | None
    pending_generations: tuple[int, ...]
    topics: Mapping[str, Verdict | None]
    from_file: FiledMigration | None = None

    @property
    def local(self) -> LocalTime:
        """How people read its moments: in the time zone of the newest run, else in UTC."""
        newest = self.now or self.last_run
        return LocalTime(newest.timezone if newest else "UTC")

    @property
    def run_names(self) -> Mapping[str, str]:
        """The names of all runs that it shows, by their holders."""
        told = (self.now, self.last_run, self.last_generation, *self.cutovers, *self.rollbacks)
        return run_names(each.run for each in told if each)


@dataclass(frozen=True, slots=True)
class BriefRun(Document):
    """The last run in the list of all migrations; `code` is that of its first finding, `ago` its age in words."""

    run: str
    at: datetime
    mode: str
    outcome: str
    code: Code | None
    ago: str


@dataclass(frozen=True, slots=True)
class BriefStatus(Document):
    """One migration in the list of all migrations."""

    migration: str
    phase: Phase
    ledger: Confirmation
    standing: str
    contradicted: bool
    now: ActiveRun | None
    last_run: BriefRun | None


@dataclass(frozen=True, slots=True)
class UnreadStatus(Document):
    """A migration whose evidence cannot be read, with the code of the problem."""

    migration: str
    problem: Code


@dataclass(frozen=True, slots=True)
class AllStatuses:
    """The list of all migrations, and why some of them cannot be read."""

    migrations: tuple[BriefStatus | UnreadStatus, ...]
    problems: tuple[Finding, ...]


def status_answer(store: MigrationStore, now: datetime) -> StatusAnswer:
    """Return the status of a migration at a moment."""
    return StatusAgain(store).at(now)


class StatusAgain:
    """The status of a migration at several moments; the ledger is read only as far as it has grown."""

    def __init__(self, store: MigrationStore) -> None:
        self._store = store
        self._known: tuple[Ledger, StatusAnswer] | None = None

    def at(self, now: datetime) -> StatusAnswer:
        """Return the status at a moment, like `status_answer`."""
        ledger = self._store.ledger.read()
        if self._known is None or self._known[0] is not ledger:
            self._known = ledger, ledger_status(self._store, ledger, coverage_of(ledger))
        return with_news(self._known[1], self._store, now)


def with_news(status: StatusAnswer, store: MigrationStore, now: datetime) -> StatusAnswer:
    """Return the status with the active run, the last run, and the request to stop."""
    last = status.last_generation
    return replace(
        status,
        now=_active_run(store, now),
        last_run=_ended_run(store.last_run(), now),
        last_generation=last and replace(last, stop_request=store.stop_requests.find(last.number)),
    )


def ledger_status(store: MigrationStore, ledger: Ledger, covered: Mapping[str, TopicCoverage]) -> StatusAnswer:
    """Return what the ledger alone says of the status: the same until it has another entry."""
    return StatusAnswer(
        migration=store.name,
        phase=ledger.phase,
        ledger=store.confirmation(),
        now=None,
        last_run=None,
        cutovers=tuple(ledger.cutovers),
        rollbacks=tuple(ledger.rollbacks),
        last_generation=_last_generation(ledger),
        pending_generations=tuple(generation.number for generation in ledger.pending_generations),
        topics={
            topic: covered[topic].verdict if topic in covered else None for topic in sorted({*ledger.topics, *covered})
        },
    )


def not_run_yet(migration: Migration) -> StatusAnswer:
    """Return the status of a migration file before its first run: topics of patterns are not known yet."""
    return StatusAnswer(
        migration=migration.name,
        phase=Phase.NEW,
        ledger=Confirmation(0, None),
        now=None,
        last_run=None,
        cutovers=(),
        rollbacks=(),
        last_generation=None,
        pending_generations=(),
        topics=dict.fromkeys(migration.topics),
        from_file=FiledMigration.of(migration),
    )


def all_statuses(
    stores: Iterable[MigrationStore],
    now: datetime,
    findings_of: Callable[[Exception], tuple[Finding, ...]],
    filed: Collection[str] = (),
) -> AllStatuses:
    """Return the status of each migration in brief; `findings_of` describes why one of them cannot be read.

    `filed` are the names of migration files, of which some have not run yet.
    """
    found, problems = list[BriefStatus | UnreadStatus](), list[Finding]()
    for store in stores:
        try:
            found.append(_brief(store, now))
        except Exception as error:
            # Any error: the other migrations are still listed.
            findings = findings_of(error)
            problems += findings
            found.append(UnreadStatus(store.name, findings[0].code))
    found += map(_not_run_yet, sorted(set(filed) - {each.migration for each in found}))
    return AllStatuses(tuple(found), tuple(problems))


def _not_run_yet(name: str) -> BriefStatus:
    return BriefStatus(name, Phase.NEW, Confirmation(0, None), "no run yet", False, None, None)


def _brief(store: MigrationStore, now: datetime) -> BriefStatus:
    proved, last = verdict_answer(store), store.last_run()
    return BriefStatus(
        migration=store.name,
        phase=store.ledger.read().phase,
        ledger=proved.ledger,
        standing=proved.standing,
        contradicted=bool(proved.contradictions),
        now=_active_run(store, now),
        last_run=None if last is None else _brief_run(last, now),
    )


def _brief_run(last: LastRun, now: datetime) -> BriefRun:
    code = last.findings[0].code if last.findings else None
    return BriefRun(last.run, last.at, last.mode, last.outcome, code, age_words(last.at, now))


def _active_run(store: MigrationStore, now: datetime) -> ActiveRun | None:
    progress = store.progress()
    if progress is None:
        return None
    last, since = store.last_run(), progress.step_at or progress.at
    is_recent = is_fresh(progress, now)
    left_s = progress.reading.left_s if progress.reading else progress.copy_left_s
    doing = Doing(progress.step, progress.mode, since, progress.at, left_s if is_recent else None, progress.total)
    return ActiveRun.extended(
        progress,
        words=progress.words,
        copy_words=progress.copy_words,
        in_step=duration(max(0.0, (now - since).total_seconds())),
        age=age_words(progress.at, now),
        is_fresh=is_recent,
        forecast=forecast(doing, None if last is None else last.past, now),
    )


def _ended_run(last: LastRun | None, now: datetime) -> EndedRun | None:
    return None if last is None else EndedRun.from_document({**last.to_document(), "age": age_words(last.at, now)})


def _last_generation(ledger: Ledger) -> LastGeneration | None:
    last = ledger.last_generation
    if last is None:
        return None
    return LastGeneration(last.number, last.start.run, last.start.at, last.stop is None, None, last.stop)
