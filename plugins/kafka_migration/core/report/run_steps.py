"""What the steps of a run recorded, as far as a report shows it: views of the run's documents.

A view has the fields that are shown, and ignores the others. A document of another form is named in `Steps.unfit`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from kafka_migration.core.cutover.approval import Ask
from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.offsets_plan import OffsetsPlan
from kafka_migration.core.kafka.offsets import Offsets
from kafka_migration.core.migration.topic_rules import TopicList
from kafka_migration.core.stored.stored_documents import ForecastDocument
from kafka_migration.core.watching.producers_question import ProducersAsk

SomeView = TypeVar("SomeView", bound=Document)


class View(Document):
    """A part of a document, for people. Further fields are ignored, and a field with a default may be missing."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # A dataclass with slots is made twice, the second time without defaults.
        if "ADDED" not in vars(cls):
            cls.ADDED = cls.ADDED | (vars(cls).keys() & cls.__annotations__)


@dataclass(frozen=True, slots=True)
class AcceptedAtPreflight(View):
    """What preflight recorded: the findings that the migration file accepts."""

    accepted: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class PlannedCopy(View):
    """What `plan` recorded: the offsets at which the copy starts."""

    at: str | None = None
    positions: Offsets = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StartedCopy(View):
    """What `start_mirror` recorded: whether it started MirrorMaker."""

    started: bool
    at: str | None = None


@dataclass(frozen=True, slots=True)
class WatchedCopy(View):
    """What `watch_lag` recorded last: the offsets that the copy reaches, and the last progress line."""

    at: str | None = None
    goals: Offsets = field(default_factory=dict)
    progress: str = ""


@dataclass(frozen=True, slots=True)
class EndedGeneration(View):
    """How a generation of MirrorMaker ended, by its stop certificate."""

    generation: int
    graceful: bool
    exit_code: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class StoppedCopy(View):
    """What `stop_mirror` recorded."""

    at: str | None = None
    certificate: EndedGeneration | None = None
    forecast: ForecastDocument | None = None


@dataclass(frozen=True, slots=True)
class PlannedGroups(View):
    """What `plan_offsets` or `plan_rollback` recorded: the plan of the consumer groups."""

    plan: OffsetsPlan

    @property
    def at(self) -> str:
        """When the plan was made."""
        return self.plan.at


@dataclass(frozen=True, slots=True)
class DoneMove(View):
    """What `confirm_cutover` or `roll_back` recorded: when groups were moved, and the operator's next steps."""

    next_steps: tuple[str, ...]
    at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmedMove(DoneMove):
    """What `confirm_cutover` recorded, with whether it left groups or topics on the source."""

    partly: bool


@dataclass(slots=True)
class ViewsOf:
    """Reads views of a run's documents; `unfit` names the documents of another form, each with the reason."""

    documents: Mapping[str, object]
    unfit: list[str] = field(default_factory=list)

    def of(self, kind: str, view: type[SomeView]) -> SomeView | None:
        """Return a document as this view; `None` if the run has none, or if it does not fit."""
        if kind not in self.documents:
            return None
        try:
            return view.from_document(self.documents[kind])
        except ValueError as error:
            self.unfit.append(f"{kind}: {error}")
            return None


@dataclass(frozen=True, slots=True)
class Steps(Document):
    """What the steps of a run recorded, as far as a report shows it; `None` for a step that recorded nothing.

    `documents` has each document as a whole, for programs. `unfit` names those that could not be read.
    """

    documents: Mapping[str, object] = field(default_factory=dict)
    preflight: AcceptedAtPreflight | None = None
    topic_list: TopicList | None = None
    plan: PlannedCopy | None = None
    start: StartedCopy | None = None
    watch: WatchedCopy | None = None
    stop: StoppedCopy | None = None
    offsets_plan: PlannedGroups | None = None
    approve: Ask | None = None
    cutover: ConfirmedMove | None = None
    rollback_plan: PlannedGroups | None = None
    rolled_back: DoneMove | None = None
    producers: ProducersAsk | None = None
    unfit: tuple[str, ...] = ()

    @property
    def groups_plan(self) -> OffsetsPlan | None:
        """The plan of the consumer groups, of a cutover or of a rollback."""
        planned = self.offsets_plan or self.rollback_plan
        return planned.plan if planned else None

    @property
    def done(self) -> DoneMove | None:
        """The move of the consumer groups that the run completed."""
        return self.cutover or self.rolled_back

    @property
    def has_saved_offsets(self) -> bool:
        """Whether the run saved the groups' offsets, as it does right before it writes the first group."""
        return "offsets-before" in self.documents

    def to_document(self) -> dict[str, object]:
        """Return the documents as they were recorded."""
        return dict(self.documents)

    @classmethod
    def from_document(cls, document: object) -> Steps:
        """Read the documents by kind; one that does not fit is named in `unfit`."""
        if not isinstance(document, Mapping):
            raise ValueError("expected the documents of the steps")
        views = ViewsOf(document)
        read = cls(
            document,
            preflight=views.of("preflight", AcceptedAtPreflight),
            topic_list=views.of("topic-list", TopicList),
            plan=views.of("plan", PlannedCopy),
            start=views.of("start", StartedCopy),
            watch=views.of("watch", WatchedCopy),
            stop=views.of("stop", StoppedCopy),
            offsets_plan=views.of("offsets-plan", PlannedGroups),
            approve=views.of("approve", Ask),
            cutover=views.of("cutover", ConfirmedMove),
            rollback_plan=views.of("rollback-plan", PlannedGroups),
            rolled_back=views.of("rolled-back", DoneMove),
            producers=views.of("producers", ProducersAsk),
        )
        return replace(read, unfit=tuple(views.unfit))
