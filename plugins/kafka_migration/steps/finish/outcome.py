"""How a run ended: what its schedule left undone, which tasks did not succeed, and the word for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.report.run_steps import SomeView, View, ViewsOf
from kafka_migration.core.run.run_window import RunWindow
from kafka_migration.core.run.task_steps import SKIPPED, SUCCESS, expected_skips
from kafka_migration.core.watching.unfinished_work import late_findings
from kafka_migration.steps.run.migration_run import MigrationRun

FAILED = "failed"
_LATE = {Code.BEHIND: "behind", Code.VALIDATION_PENDING: "validation pending"}


@dataclass(frozen=True, slots=True)
class _Checked(View):
    """What preflight decided about the run's time."""

    run_window: RunWindow


@dataclass(frozen=True, slots=True)
class _Pending(View):
    """What was left to validate, as its finding names it."""

    reason: str
    windows: int
    source_offsets: int


@dataclass(frozen=True, slots=True)
class _Moved(View):
    """Whether groups or topics remained where they were."""

    partly: bool


@dataclass(frozen=True, slots=True)
class EndedTasks:
    """The other tasks of a run at its end: the state of each, in the order of the DAG; `None` is *not run*.

    `triggered_by` is the user who triggered the run, and `started_at` its start (ISO 8601), if they are known.
    """

    states: Mapping[str, str | None]
    triggered_by: str | None = None
    started_at: str | None = None

    def succeeded(self, task: str) -> bool:
        """Whether a task succeeded."""
        return self.states.get(task) == SUCCESS


@dataclass(frozen=True, slots=True)
class Timing:
    """The effect of the schedule on the run: it had nothing to do, or did not complete in time."""

    idle_because: str
    is_pending: bool
    late: tuple[Finding, ...]
    late_fails: bool


def timing_of(run: MigrationRun, tasks: EndedTasks) -> Timing:
    """Evaluate the successful tasks of this attempt, including results kept from an earlier attempt."""
    checked = newest_view(run, Kind.PREFLIGHT, _Checked) if tasks.succeeded("preflight") else None
    idle_because = checked.run_window.idle_because if checked else ""
    watch = run.evidence.newest(Kind.WATCH) if tasks.succeeded("watch_lag") else None
    is_left_out = tasks.states.get("validate_topics") == SKIPPED and not idle_because
    pending = _left_pending(run) if is_left_out else None
    is_pending = pending is not None and ViewsOf({Kind.PENDING: pending}).of(Kind.PENDING, _Pending) is not None
    late = late_findings(run.name, watch, pending if is_pending else None)
    return Timing(idle_because, is_pending, late, late_fails=bool(late) and not _only_warns(run))


def _left_pending(run: MigrationRun) -> Mapping[str, object] | None:
    """Return what this attempt left pending, or the earlier attempt if only `finish` was cleared."""
    if pending := run.evidence.of_attempt(Kind.PENDING):
        return pending[-1]
    return None if run.evidence.of_attempt(Kind.RESERVE) else run.evidence.newest(Kind.PENDING)


def _only_warns(run: MigrationRun) -> bool:
    try:
        nightly = run.filed_migration.nightly
    except Refused:
        return False
    return run.identity.is_nightly and nightly is not None and nightly.when_late == "warn"


def skips_of(run: MigrationRun, timing: Timing) -> frozenset[str]:
    """Return the tasks that a successful run of this mode skips; none if the mode is unknown."""
    try:
        mode, is_idle = run.request.mode, bool(timing.idle_because)
        hooks = run.filed_migration.cutover.hooks if mode.moves_groups else ()
        return expected_skips(mode, is_idle=is_idle, is_pending=timing.is_pending, hooks=hooks)
    except Refused:
        return frozenset()


def good_outcome(run: MigrationRun, timing: Timing) -> str:
    """Return the outcome of a run that did not fail: complete, nothing to do, late, or with groups not moved."""
    if timing.idle_because:
        return "not in window"
    if timing.late:
        return _LATE[timing.late[0].code]
    done = newest_view(run, Kind.CUTOVER, _Moved) or newest_view(run, Kind.OFFSETS_RESULT, _Moved)
    return "partly done" if done is not None and done.partly else "success"


def newest_view(run: MigrationRun, kind: Kind, view: type[SomeView]) -> SomeView | None:
    """Return the newest document of a kind as a view; `None` if there is none, or if it does not fit."""
    document = run.evidence.newest(kind)
    return None if document is None else ViewsOf({kind: document}).of(kind, view)
