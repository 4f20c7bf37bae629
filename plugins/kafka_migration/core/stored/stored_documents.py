"""The documents that the tasks of a run store, and the table: which class each kind of evidence document has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeVar

from kafka_migration.core.cutover.approval import Ask
from kafka_migration.core.cutover.not_moved import NotMoved
from kafka_migration.core.documents.codec import Document
from kafka_migration.core.evidence.evidence_documents import Kind, StoredKind
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.group_writes import OffsetsResultDocument
from kafka_migration.core.groups.offsets_plan import OffsetsPlan
from kafka_migration.core.kafka.cluster import NewTopic, Side
from kafka_migration.core.kafka.offsets import GroupsCommits, Ranges
from kafka_migration.core.ledger.cutovers import CutOver, RolledBack
from kafka_migration.core.ledger.generations import KeptOffsets, StopCertificate
from kafka_migration.core.ledger.interval_bounds import IntervalBounds
from kafka_migration.core.migration.settings import Mode, Phase
from kafka_migration.core.migration.topic_rules import TopicList
from kafka_migration.core.mirror.restart_policy import Death
from kafka_migration.core.run.run_window import RunWindow
from kafka_migration.core.translation.translation_contract import TranslationRequest, TranslationResult
from kafka_migration.core.validation.judge_document import JudgeDocument
from kafka_migration.core.validation.validation_contract import ValidationRequest, ValidationResult
from kafka_migration.core.watching.producers_question import ProducersAsk
from kafka_migration.core.watching.retention_forecast import ForecastDocument
from kafka_migration.core.watching.unfinished_work import PendingValidation
from kafka_migration.core.watching.watch import Announced, Fenced, WatchEnded, WatchRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDocument(Document):
    """What a run will create and copy; a run that does not mirror creates and copies nothing.

    :param frozen_configs: the settings whose real values a created topic gets later, by topic
    :param grow: the new number of partitions, by topic
    :param interval: the bounds of the run's interval, if it has one
    :param positions: the next source offsets to copy
    :param goals: the source offsets up to which the run copies
    :param offsets_to_copy: the offsets between positions and goals
    :param held_back: source offsets after an open transaction; `None` if the run did not look
    :param open_transactions: the findings about them; `None` if the run did not look
    :param is_done: nothing is to be created or copied, so the run skips the tasks that would
    """

    ADDED: ClassVar[frozenset[str]] = frozenset({"is_done"})
    OMITTED: ClassVar[frozenset[str]] = frozenset({"held_back", "open_transactions"})

    at: str
    create: tuple[NewTopic, ...] = ()
    frozen_configs: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)
    grow: Mapping[str, int] = field(default_factory=dict)
    interval: IntervalBounds | None = None
    positions: KeptOffsets = field(default_factory=dict)
    goals: KeptOffsets = field(default_factory=dict)
    offsets_to_copy: int = 0
    held_back: Ranges | None = None
    open_transactions: tuple[Finding, ...] | None = None
    warnings: tuple[Finding, ...] = ()
    is_done: bool = False


@dataclass(frozen=True, slots=True)
class TopicsDocument(Document):
    """The topics that a run created, and the new number of partitions of those that it extended."""

    at: str
    created: tuple[NewTopic, ...]
    grown: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class MirrorStarted(Document):
    """MirrorMaker runs; `pid` is its process on the host, if it has one."""

    at: str
    generation: int
    pid: int | None
    started: Literal[True] = True


@dataclass(frozen=True, slots=True)
class MirrorNotStarted(Document):
    """MirrorMaker was not started, and why."""

    at: str
    reason: str
    started: Literal[False] = False


StartDocument = MirrorStarted | MirrorNotStarted
# The reason of a run whose plan has no offsets to copy.
NOTHING_TO_COPY = "nothing to copy"


@dataclass(frozen=True, slots=True)
class StopDocument(Document):
    """A generation of MirrorMaker is stopped and certified.

    `log` are the last lines of its log; `None` if it has no log. `forecast` is `None` if the source deletes nothing by
    itself, or if it is unknown what it deletes.
    """

    at: str
    certificate: StopCertificate
    log: str | None
    open_transactions: tuple[Finding, ...]
    forecast: ForecastDocument | None


@dataclass(frozen=True, slots=True)
class RollbackPlanDocument(Document):
    """A plan of group offsets, its digest, and its page as Markdown."""

    digest: str
    plan: OffsetsPlan
    markdown: str


PlanOfGroups = TypeVar("PlanOfGroups", bound=RollbackPlanDocument)
"""The document of a plan of either direction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetsPlanDocument(RollbackPlanDocument):
    """The plan of a cutover or a rehearsal; `not_moved` are the rows that it does not move.

    `planned_at` is when it was complete; `plan.at` is when the clusters were read.
    """

    ADDED: ClassVar[frozenset[str]] = frozenset({"planned_at"})

    not_moved: tuple[NotMoved, ...]
    final: bool
    planned_at: str | None = None


@dataclass(frozen=True, slots=True)
class DrainedDocument(Document):
    """The wait for the consumer groups is over: from now on they must be empty.

    `would_wait`: this run did not wait, but a cutover would (`cutover.drain_groups`).
    """

    at: str
    would_wait: bool


@dataclass(frozen=True, slots=True)
class OffsetsBeforeDocument(Document):
    """The committed offsets on both sides before a run wrote any; `digest` is that of the plan."""

    at: str
    digest: str
    source: GroupsCommits
    target: GroupsCommits

    def of_side(self, side: Side) -> GroupsCommits:
        """Return the saved offsets of one side."""
        return self.source if side == "source" else self.target


@dataclass(frozen=True, slots=True, kw_only=True)
class CutoverDocument(CutOver):
    """A cutover as the ledger has it, and what is left to do for a person."""

    next_steps: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RolledBackDocument(RolledBack):
    """A rollback as the ledger has it, and what is left to do for a person."""

    next_steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SettingsDocument(Document):
    """The restored settings by topic; `warnings` say which ones the cluster denied."""

    at: str
    restored: Mapping[str, Mapping[str, str | None]]
    warnings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class CheckDocument(Document):
    """The result of one check of preflight; `reason` says why it was not applicable, or what was accepted."""

    check: str
    state: str
    reason: str | None
    findings: tuple[Finding, ...]
    warnings: tuple[Finding, ...]
    accepted: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreflightDocument(Document):
    """What preflight decided: the run's window, the phase before it, and the result of each check."""

    at: str
    dag_id: str
    run_id: str
    mode: Mode
    digest: str
    phase: Phase
    run_window: RunWindow
    checks: tuple[CheckDocument, ...]
    warnings: tuple[Finding, ...]
    accepted: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class ReserveDocument(Document):
    """This attempt holds the reservation; `taken_over_from` is the holder it was taken from, if it was not free."""

    at: str
    holder: str
    taken_over_from: str | None


@dataclass(frozen=True, slots=True)
class WaitDocument(Document):
    """The run waits for a reservation that `holder` has, until a deadline."""

    at: str
    holder: str
    until: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicListDocument(TopicList):
    """The exact topics of a run whose migration file has patterns."""

    at: str


@dataclass(frozen=True, slots=True)
class RefusalDocument(Document):
    """Why a task refused or failed on purpose; `error` is the name of its exception class."""

    task: str
    at: str
    error: str
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class HookDocument(Document):
    """A hook of the user was called; `result` is its return value, any JSON value."""

    at: str
    hook: str
    called: str
    result: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertDocument(Document):
    """An alert that was sent; `told` has the problem of each notifier, empty if it took the alert."""

    ADDED: ClassVar[frozenset[str]] = frozenset({"once"})

    at: str
    kind: str
    migration: str
    run: str
    link: str
    codes: tuple[str, ...]
    next_act: str
    subject: str
    text: str
    html: str
    told: Mapping[str, str]
    once: str = ""


class Stored:
    """One row per kind, in the order of `Kind`; `Kind.FINISH` has none, because `finish` writes only `run.json`."""

    PREFLIGHT = StoredKind(Kind.PREFLIGHT, (PreflightDocument,))
    RESERVE = StoredKind(Kind.RESERVE, (ReserveDocument,))
    PLAN = StoredKind(Kind.PLAN, (PlanDocument,))
    TOPICS = StoredKind(Kind.TOPICS, (TopicsDocument,))
    START: StoredKind[StartDocument] = StoredKind(Kind.START, (MirrorStarted, MirrorNotStarted))
    WATCH: StoredKind[WatchRecord] = StoredKind(Kind.WATCH, (Announced, Fenced, WatchEnded))
    STOP = StoredKind(Kind.STOP, (StopDocument,))
    VALIDATION_REQUEST = StoredKind(Kind.VALIDATION_REQUEST, (ValidationRequest,), schema=2)
    VALIDATION_RESULT = StoredKind(Kind.VALIDATION_RESULT, (ValidationResult,), schema=2)
    JUDGE = StoredKind(Kind.JUDGE, (JudgeDocument,))
    OFFSETS_PLAN = StoredKind(Kind.OFFSETS_PLAN, (OffsetsPlanDocument,))
    APPROVE = StoredKind(Kind.APPROVE, (Ask,))
    OFFSETS_BEFORE = StoredKind(Kind.OFFSETS_BEFORE, (OffsetsBeforeDocument,))
    OFFSETS_RESULT = StoredKind(Kind.OFFSETS_RESULT, (OffsetsResultDocument,))
    CUTOVER = StoredKind(Kind.CUTOVER, (CutoverDocument,))
    REFUSAL = StoredKind(Kind.REFUSAL, (RefusalDocument,))
    WAIT = StoredKind(Kind.WAIT, (WaitDocument,))
    PENDING = StoredKind(Kind.PENDING, (PendingValidation,))
    RESTART = StoredKind(Kind.RESTART, (Death,))
    TRANSLATION_REQUEST = StoredKind(Kind.TRANSLATION_REQUEST, (TranslationRequest,), schema=2)
    TRANSLATION_RESULT = StoredKind(Kind.TRANSLATION_RESULT, (TranslationResult,), schema=2)
    ROLLBACK_PLAN = StoredKind(Kind.ROLLBACK_PLAN, (RollbackPlanDocument,))
    ROLLED_BACK = StoredKind(Kind.ROLLED_BACK, (RolledBackDocument,))
    SETTINGS = StoredKind(Kind.SETTINGS, (SettingsDocument,))
    HOOK = StoredKind(Kind.HOOK, (HookDocument,))
    ALERT = StoredKind(Kind.ALERT, (AlertDocument,))
    PRODUCERS = StoredKind(Kind.PRODUCERS, (ProducersAsk,))
    TOPIC_LIST = StoredKind(Kind.TOPIC_LIST, (TopicListDocument,))
    DRAINED = StoredKind(Kind.DRAINED, (DrainedDocument,))


STORED_KINDS: tuple[StoredKind[Document], ...] = tuple(
    each for each in vars(Stored).values() if isinstance(each, StoredKind)
)
"""The rows of the table."""
