"""Alerts: the events of a run that operators must be notified of, and their texts."""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from urllib.parse import quote

from kafka_migration.core.findings.by_cause import by_cause, finding_lines
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, MirrorFailed, OffsetsNotMoved, ValidationFailed
from kafka_migration.core.migration.alert_settings import AlertKind
from kafka_migration.core.migration.engine_table import EngineName, abilities_of
from kafka_migration.core.report.run_document import Refusal
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.core.run.run_names import run_name
from kafka_migration.core.text.shortened import MOST_NAMES

# A longer list would hide the first finding, which is the one to act on.
MAX_FINDINGS = 10


@dataclass(frozen=True, slots=True)
class Alert:
    """One message: its kind, its run, when it is sent, the codes that it names, and its lines of text.

    `at` is written as people read it (`LocalTime`). `link` leads to the run in Airflow, or to its question; `act` is
    the first thing to do if that is more exact than the first step of the kind. An event that may happen several times
    in one run has a different `once` each time. An `instruction` is what the message begins with. `report` leads to
    the report of a run that has ended.
    """

    kind: AlertKind
    migration: str
    run: RunIdentity
    at: str
    link: str
    act: str = ""
    codes: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    once: str = ""
    instruction: str = ""
    report: str = ""

    @property
    def subject(self) -> str:
        """One line for a subject: the instruction, or else migration, what happened, the first code."""
        if self.instruction:
            return f"{self.instruction} [kafka-migration] {self.migration}"
        code = f" ({self.codes[0]})" if self.codes else ""
        return f"[kafka-migration] {self.migration}: {self.kind.headline}{code}"

    @property
    def next_act(self) -> str:
        """The first thing to do."""
        return self.act or self.kind.first_step.replace("<name>", self.migration)

    @property
    def text(self) -> str:
        """The whole message as plain text."""
        run = f"Run: {run_name(self.run.holder)} of {self.run.dag_id}"
        lines = (self.subject, "", *self.lines, f"What to do: {self.next_act}", f"Sent: {self.at}", run, self.link)
        return "\n".join((*lines, *((f"Report: {self.report}",) if self.report else ())))

    @property
    def html(self) -> str:
        """The whole message as HTML; names of topics and groups are escaped."""
        return f"<pre>{html.escape(self.text)}</pre>"

    def to_document(self) -> dict[str, str | list[str]]:
        """Return the values for templates, as plain JSON values."""
        return {
            "kind": str(self.kind),
            "urgency": str(self.kind.urgency),
            "migration": self.migration,
            "run": str(self.run),
            "link": self.link,
            "report": self.report,
            "codes": list(self.codes),
            "next_act": self.next_act,
            "subject": self.subject,
            "text": self.text,
            "html": self.html,
        }


def run_link(base_url: str, dag_id: str, run_id: str, task_id: str = "") -> str:
    """Return the URL of a run in Airflow's UI, or of the question that one of its tasks asks."""
    path = f"/dags/{quote(dag_id, safe='')}/runs/{quote(run_id, safe='')}"
    question = f"/tasks/{quote(task_id, safe='')}/required_actions" if task_id else ""
    return f"{base_url.rstrip('/')}{path}{question}"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended: its outcome, the refusals, the late findings, and the bad tasks.

    `release_problem` says why the reservation was not freed. `may_run` means that MirrorMaker was started and neither a
    stop certificate nor its host or its workers confirm that it has stopped. `engine` is that of the migration; `None`
    is unknown, because its file cannot be read.
    """

    outcome: str
    refusals: Sequence[Refusal] = ()
    late: Sequence[Finding] = ()
    bad_tasks: Mapping[str, str] = field(default_factory=dict)
    release_problem: str = ""
    may_run: bool = False
    engine: EngineName | None = None
    verdict: str = ""
    evidence: str = ""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, the refusals' first."""
        return (*(finding for refusal in self.refusals for finding in refusal.findings), *self.late)

    @property
    def kind(self) -> AlertKind | None:
        """The kind of alert for this end; `None`: no alert is needed."""
        if self.may_run:
            return AlertKind.NOT_STOPPED
        if self.refusals:
            return _kind_of({refusal.error for refusal in self.refusals}, {f.code for f in self.findings})
        if self.bad_tasks or self.release_problem:
            return AlertKind.ERROR
        return AlertKind.BEHIND if self.late else None


def _kind_of(errors: set[str], codes: set[Code]) -> AlertKind:
    if ValidationFailed.__name__ in errors:
        return AlertKind.FAILED
    if all(code.late for code in codes):
        return AlertKind.BEHIND
    if MirrorFailed.__name__ in errors and not all(code.of_a_cutover for code in codes):
        return AlertKind.STALLED
    return AlertKind.REFUSED if errors - {OffsetsNotMoved.__name__} else AlertKind.ERROR


def ended_alert(
    migration: str, run: RunIdentity, at: str, link: str, ended: Ended, topics: Collection[str] = ()
) -> Alert | None:
    """Return the alert of a run that has ended, if one is needed; it names at most ten of the topics."""
    kind = ended.kind
    if kind is None:
        return None
    findings = by_cause(ended.findings)
    told = _told(ended.findings, frozenset(topics))
    more = len(findings) - len(told)
    tasks = () if findings else tuple(f"Task {task}: {state}" for task, state in ended.bad_tasks.items())
    lines = (
        *(line for finding in told for line in finding_lines(finding)),
        *((f"… and {more} more in the report",) if more > 0 else ()),
        *tasks,
        *((f"The reservation was not freed: {ended.release_problem}",) if ended.release_problem else ()),
        f"MirrorMaker: {_may_run(migration, ended) if ended.may_run else 'no process of this run is running'}",
        f"Verdict of this run: {ended.verdict or 'none'}",
        f"Evidence: {ended.evidence}",
    )
    codes = tuple(dict.fromkeys(str(finding.code) for finding in findings))
    act = told[0].remedy if told and kind is not AlertKind.NOT_STOPPED else ""
    return Alert(kind, migration, run, at, link, act, codes, lines)


def _may_run(migration: str, ended: Ended) -> str:
    ends = abilities_of(ended.engine).end_of_unstopped.replace("<name>", migration) if ended.engine else ""
    return f"may still run; {ends}" if ends else "may still run"


def _told(findings: Sequence[Finding], topics: frozenset[str]) -> tuple[Finding, ...]:
    """Return the first causes, as many as name ten topics together; the first one is always among them."""
    causes = by_cause(findings)
    if causes and len(_named(causes[0], topics)) > MOST_NAMES:
        causes = by_cause(findings, most=1)
    named = accumulate((_named(cause, topics) for cause in causes[:MAX_FINDINGS]), lambda one, other: one | other)
    return causes[: max(1, sum(len(each) <= MOST_NAMES for each in named))]


def _named(finding: Finding, topics: frozenset[str]) -> frozenset[str]:
    """Return which of the topics the text of a finding names, also by one of their partitions."""
    words = {word.strip(".") for word in _WORD.findall("\n".join(finding_lines(finding)))}
    return topics & (words | {word.rpartition("-")[0] for word in words})


_WORD = re.compile(r"[A-Za-z0-9._-]+")
