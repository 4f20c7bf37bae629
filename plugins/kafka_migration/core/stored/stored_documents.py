"""The table of stored documents: which class each kind of evidence document has, and which tasks write it."""

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
from kafka_migration.core.watching.watch_records import Announced, Fenced, WatchEnded, WatchRecord

_ANY_TASK = ("any",)


class Stored:
    """One row per kind, in the order of `Kind`; `Kind.FINISH` has none, because `finish` writes only `run.json`."""

    PREFLIGHT = StoredKind(Kind.PREFLIGHT, (PreflightDocument,), ("preflight",))
    RESERVE = StoredKind(Kind.RESERVE, (ReserveDocument,), _ANY_TASK)
    PLAN = StoredKind(Kind.PLAN, (PlanDocument,), ("plan",))
    TOPICS = StoredKind(Kind.TOPICS, (TopicsDocument,), ("create_topics",))
    START: StoredKind[StartDocument] = StoredKind(Kind.START, (MirrorStarted, MirrorNotStarted), ("start_mirror",))
    WATCH: StoredKind[WatchRecord] = StoredKind(Kind.WATCH, (Announced, Fenced, WatchEnded), ("watch_lag",))
    STOP = StoredKind(Kind.STOP, (StopDocument,), ("stop_mirror",))
    VALIDATION_REQUEST = StoredKind(Kind.VALIDATION_REQUEST, (ValidationRequest,), ("validate_topics",), schema=2)
    VALIDATION_RESULT = StoredKind(Kind.VALIDATION_RESULT, (ValidationResult,), ("validate_topics",), schema=2)
    JUDGE = StoredKind(Kind.JUDGE, (JudgeDocument,), ("judge",))
    OFFSETS_PLAN = StoredKind(Kind.OFFSETS_PLAN, (OffsetsPlanDocument,), ("plan_offsets",))
    APPROVE = StoredKind(Kind.APPROVE, (Ask,), ("approve", "approve_rollback"))
    OFFSETS_BEFORE = StoredKind(Kind.OFFSETS_BEFORE, (OffsetsBeforeDocument,), ("sync_offsets", "roll_back"))
    OFFSETS_RESULT = StoredKind(Kind.OFFSETS_RESULT, (OffsetsResultDocument,), ("sync_offsets", "roll_back"))
    CUTOVER = StoredKind(Kind.CUTOVER, (CutoverDocument,), ("confirm_cutover",))
    REFUSAL = StoredKind(Kind.REFUSAL, (RefusalDocument,), _ANY_TASK)
    WAIT = StoredKind(Kind.WAIT, (WaitDocument,), ("reserve",))
    PENDING = StoredKind(Kind.PENDING, (PendingValidation,), ("validate_topics",))
    RESTART = StoredKind(Kind.RESTART, (Death,), ("watch_lag",))
    TRANSLATION_REQUEST = StoredKind(
        Kind.TRANSLATION_REQUEST, (TranslationRequest,), ("translate_offsets", "translate_back"), schema=2
    )
    TRANSLATION_RESULT = StoredKind(
        Kind.TRANSLATION_RESULT, (TranslationResult,), ("translate_offsets", "translate_back"), schema=2
    )
    ROLLBACK_PLAN = StoredKind(Kind.ROLLBACK_PLAN, (RollbackPlanDocument,), ("plan_rollback",))
    ROLLED_BACK = StoredKind(Kind.ROLLED_BACK, (RolledBackDocument,), ("roll_back",))
    SETTINGS = StoredKind(Kind.SETTINGS, (SettingsDocument,), ("restore_settings",))
    HOOK = StoredKind(Kind.HOOK, (HookDocument,), ("stop_producers", "after_cutover"))
    ALERT = StoredKind(Kind.ALERT, (AlertDocument,), _ANY_TASK)
    PRODUCERS = StoredKind(Kind.PRODUCERS, (ProducersAsk,), ("stop_producers",))
    TOPIC_LIST = StoredKind(Kind.TOPIC_LIST, (TopicListDocument,), ("preflight", "plan"))


STORED_KINDS: tuple[StoredKind[Document], ...] = tuple(
    each for each in vars(Stored).values() if isinstance(each, StoredKind)
)
"""The rows of the table."""
