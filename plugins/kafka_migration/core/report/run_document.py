"""A run as one typed value: what its report, the command line, its note, an alert or a page says about it.

`run.json` is its JSON form. `core.report.run_assembly` builds it from the evidence. No other module reads a run's
documents to tell people about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal, TypeVar, cast

from kafka_migration.core.cutover.approval import Ask
from kafka_migration.core.documents.codec import Document, DoesNotFit
from kafka_migration.core.evidence.evidence_documents import StoredKind
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.groups.offsets_plan import OffsetsPlan
from kafka_migration.core.rollback.decommission import Condition
from kafka_migration.core.run.run_window import Interval
from kafka_migration.core.run.stand_still import StandStill
from kafka_migration.core.stored.stored_documents import (
    CutoverDocument,
    HookDocument,
    OffsetsPlanDocument,
    PlanDocument,
    PreflightDocument,
    RollbackPlanDocument,
    RolledBackDocument,
    StartDocument,
    StopDocument,
    Stored,
    TopicListDocument,
)
from kafka_migration.core.text.local_time import LocalTime
from kafka_migration.core.validation.judge_document import JudgedTopic, RecordCounts
from kafka_migration.core.watching.producers_question import ProducersAsk
from kafka_migration.core.watching.watch import WatchEnded, WatchRecord

D = TypeVar("D", bound=Document)


@dataclass(frozen=True, slots=True)
class Refusal(Document):
    """Why a task refused or failed on purpose: its findings, and the class of its error."""

    task: str
    findings: tuple[Finding, ...]
    error: str = ""


@dataclass(frozen=True, slots=True)
class GroupResult(Document):
    """What the plan decided about a group, and its outcome on the written cluster.

    `outcome` is what was read back there, `not written`, or `unknown` if writing was interrupted. `partitions` get an
    offset, `unset_partitions` none. `delivered_again` is `None` if the records were not counted.
    """

    group: str
    verdict: str
    outcome: str
    partitions: int
    unset_partitions: int
    delivered_again: int | None
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TimedPhase(Document):
    """A phase of a run: when it started, how many seconds it took, and what it did."""

    name: str
    began_at: str
    seconds: float
    did: str


@dataclass(frozen=True, slots=True)
class Deadline(Document):
    """Something that must happen before a moment (ISO 8601), and why; the moment may be over."""

    what: str
    at: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Readiness(Document):
    """The reasons against a cutover; without any it is ready. `notes` do not prevent a cutover."""

    against: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def is_ready(self) -> bool:
        """Whether a cutover may follow."""
        return not self.against


@dataclass(slots=True)
class Recorded:
    """Reads the documents of a run; `unfit` names those of another form, each with the reason."""

    documents: Mapping[str, object]
    unfit: list[str] = field(default_factory=list)
    _read: dict[str, Document | None] = field(default_factory=dict)

    def of(self, row: StoredKind[D]) -> D | None:
        """Return the document of a kind, which is read once; `None` if the run has none, or if it does not fit."""
        if row.kind not in self._read:
            self._read[row.kind] = self._document(row) if row.kind in self.documents else None
        return cast("D | None", self._read[row.kind])

    def _document(self, row: StoredKind[D]) -> D | None:
        try:
            found = row.read(self.documents[row.kind])
            # A part that is read when it is used must fit too.
            found.to_document()
        except ValueError as error:
            self.unfit.append(f"{row.kind}: {error}")
            return None
        return found


@dataclass(frozen=True, slots=True)
class Steps(Document):
    """What the steps of a run recorded, as far as a report shows it; `None` for a step that recorded nothing.

    `documents` has each document as a whole, for programs. `unfit` names those that could not be read.
    """

    documents: Mapping[str, object] = field(default_factory=dict)
    preflight: PreflightDocument | None = None
    topic_list: TopicListDocument | None = None
    plan: PlanDocument | None = None
    start: StartDocument | None = None
    watch: WatchRecord | None = None
    stop: StopDocument | None = None
    offsets_plan: OffsetsPlanDocument | None = None
    approve: Ask | None = None
    cutover: CutoverDocument | None = None
    rollback_plan: RollbackPlanDocument | None = None
    rolled_back: RolledBackDocument | None = None
    producers: ProducersAsk | None = None
    unfit: tuple[str, ...] = ()

    @property
    def watched(self) -> WatchEnded | None:
        """The end of the watch."""
        return self.watch if isinstance(self.watch, WatchEnded) else None

    @property
    def groups_plan(self) -> OffsetsPlan | None:
        """The plan of the consumer groups, of a cutover or of a rollback."""
        planned = self.offsets_plan or self.rollback_plan
        return planned.plan if planned else None

    @property
    def done(self) -> CutoverDocument | RolledBackDocument | None:
        """The move of the consumer groups that the run completed."""
        return self.cutover or self.rolled_back

    @property
    def has_saved_offsets(self) -> bool:
        """Whether the run saved the groups' offsets, as it does right before it writes the first group."""
        return Stored.OFFSETS_BEFORE.kind in self.documents

    def to_document(self) -> dict[str, object]:
        """Return the documents as they were recorded."""
        return dict(self.documents)

    @classmethod
    def from_document(cls, document: object) -> Steps:
        """Read the documents by kind; one that does not fit is named in `unfit`."""
        if not isinstance(document, Mapping):
            raise DoesNotFit("expected the documents of the steps")
        return cls.of(document, Recorded(document))

    @classmethod
    def of(cls, documents: Mapping[str, object], recorded: Recorded) -> Steps:
        """Return the steps that recorded these documents."""
        kinds = [each.name for each in fields(cls) if each.name not in {"documents", "unfit"}]
        read: dict[str, Any] = {kind: recorded.of(getattr(Stored, kind.upper())) for kind in kinds}
        return cls(documents, **read, unfit=tuple(recorded.unfit))


@dataclass(frozen=True, slots=True)
class RunDocument(Document):
    """Everything that is said about a run that has ended.

    `note` is that of the form. `reason` is why a run had nothing to do. `generations` are those to read again.
    `tasks` has the state of each task in the order of the DAG. `triggered_by` is the user who triggered the run, and
    `started_at` its start, if Airflow knows them. `interval` is the one that a run in mode `interval` answers for.
    `verdict` is that of this run, `topics` has what each run and all runs together prove. `decommission` has the
    conditions for switching the source off. `stood_still` has the times of producers and consumers in a cutover, and in
    a rehearsal those that a cutover would have. `digests` are those of the run's files, by `attempt-<n>/<file>`, as
    Airflow keeps them; an empty one is of a file that a task had begun to write. Moments are ISO 8601 in UTC; people
    read them in `timezone`.
    """

    ADDED: ClassVar[frozenset[str]] = frozenset(
        {"phases", "deadlines", "readiness", "next_steps", "stood_still", "timezone", "digests"}
    )

    migration: str
    migration_digest: str
    dag_id: str
    run_id: str
    attempt: int
    mode: str
    package_version: str
    finished_at: str
    outcome: str
    tasks: Mapping[str, str | None]
    note: str = ""
    reason: str = ""
    generations: str = ""
    decommission: tuple[Condition, ...] = ()
    hooks: tuple[HookDocument, ...] = ()
    triggered_by: str | None = None
    started_at: str | None = None
    interval: Interval | None = None
    verdict: Verdict | None = None
    records: Mapping[str, RecordCounts] = field(default_factory=dict)
    topics: tuple[JudgedTopic, ...] = ()
    groups: tuple[GroupResult, ...] = ()
    findings: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = ()
    judged_at: str | None = None
    steps: Steps = field(default_factory=Steps)
    phases: tuple[TimedPhase, ...] = ()
    deadlines: tuple[Deadline, ...] = ()
    readiness: Readiness | None = None
    next_steps: tuple[str, ...] = ()
    stood_still: StandStill | None = None
    timezone: str = "UTC"
    digests: Mapping[str, str] = field(default_factory=dict)
    schema: Literal[1] = 1

    @property
    def has_failed(self) -> bool:
        """Whether the run failed."""
        return self.outcome == "failed"

    @property
    def local(self) -> LocalTime:
        """How people read its moments."""
        return LocalTime(self.timezone)

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of its findings, each once."""
        return tuple(dict.fromkeys(str(finding.code) for finding in self.findings))

    def to_document(self) -> dict[str, object]:
        """Return `run.json`. The tasks keep the order of the DAG."""
        return {**Document.to_document(self), "tasks": dict(self.tasks)}
