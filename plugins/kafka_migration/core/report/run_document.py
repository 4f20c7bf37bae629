"""A run as one typed value: what its report, the command line, its note, an alert or a page says about it.

`run.json` is its JSON form. `core.report.run_assembly` builds it from the evidence. No other module reads a run's
documents to tell people about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.report.run_steps import Steps
from kafka_migration.core.rollback.decommission import Condition
from kafka_migration.core.run.run_window import Interval
from kafka_migration.core.stored.stored_documents import HookDocument
from kafka_migration.core.validation.judge_document import JudgedTopic, RecordCounts


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


@dataclass(frozen=True, slots=True)
class RunDocument(Document):
    """Everything that is said about a run that has ended.

    `note` is that of the form. `reason` is why a run had nothing to do. `generations` are those to read again.
    `tasks` has the state of each task in the order of the DAG. `triggered_by` is the user who triggered the run, and
    `started_at` its start, if Airflow knows them. `interval` is the one that a run in mode `interval` answers for.
    `verdict` is that of this run, `topics` has what each run and all runs together prove. `decommission` has the
    conditions for switching the source off. Moments are ISO 8601 in UTC.
    """

    ADDED: ClassVar[frozenset[str]] = frozenset({"phases", "deadlines", "readiness", "next_steps"})

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
    schema: Literal[1] = 1

    @property
    def has_failed(self) -> bool:
        """Whether the run failed."""
        return self.outcome == "failed"

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of its findings, each once."""
        return tuple(dict.fromkeys(str(finding.code) for finding in self.findings))

    def to_document(self) -> dict[str, object]:
        """Return `run.json`. The tasks keep the order of the DAG."""
        return {**Document.to_document(self), "tasks": dict(self.tasks)}
