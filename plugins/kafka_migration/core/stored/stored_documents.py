"""The table of stored documents: which class each kind of evidence document has."""

from __future__ import annotations

from kafka_migration.core.cutover.approval import Ask
from kafka_migration.core.documents.codec import Document
from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.evidence.stored_kind import StoredKind
from kafka_migration.core.groups.group_writes import OffsetsResultDocument
from kafka_migration.core.mirror.restart_policy import Death
from kafka_migration.core.stored.copy_documents import (
    MirrorNotStarted,
    MirrorStarted,
    PlanDocument,
    StartDocument,
    StopDocument,
    TopicsDocument,
)
from kafka_migration.core.stored.group_documents import (
    CutoverDocument,
    OffsetsBeforeDocument,
    OffsetsPlanDocument,
    RollbackPlanDocument,
    RolledBackDocument,
    SettingsDocument,
)
from kafka_migration.core.stored.run_documents import (
    AlertDocument,
    HookDocument,
    PreflightDocument,
    RefusalDocument,
    ReserveDocument,
    TopicListDocument,
    WaitDocument,
)
from kafka_migration.core.translation.translation_contract import TranslationRequest, TranslationResult
from kafka_migration.core.validation.judge_document import JudgeDocument
from kafka_migration.core.validation.validation_contract import ValidationRequest, ValidationResult
from kafka_migration.core.watching.producers_question import ProducersAsk
from kafka_migration.core.watching.unfinished_work import PendingValidation
from kafka_migration.core.watching.watch import Announced, Fenced, WatchEnded, WatchRecord


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


STORED_KINDS: tuple[StoredKind[Document], ...] = tuple(
    each for each in vars(Stored).values() if isinstance(each, StoredKind)
)
"""The rows of the table."""
