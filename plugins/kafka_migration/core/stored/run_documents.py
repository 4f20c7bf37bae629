"""Documents of a run that are not about the copy or the groups: checks, reservation, refusals, hooks, alerts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.migration.settings import Mode, Phase
from kafka_migration.core.migration.topic_rules import TopicList
from kafka_migration.core.run.run_window import RunWindow


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

    @classmethod
    def of(cls, found: TopicList, at: str) -> TopicListDocument:
        """Return the document of a list."""
        return cls(**{each.name: getattr(found, each.name) for each in fields(found)}, at=at)


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
