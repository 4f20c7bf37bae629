"""How a run ended: what its schedule left undone, which tasks did not succeed, and the word for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kafka_migration.core.evidence.evidence_documents import D, Kind, StoredKind
from kafka_migration.core.findings.errors import EvidenceUnfit, Finding, Refused
from kafka_migration.core.run.task_steps import SKIPPED, SUCCESS, TaskId, expected_skips
from kafka_migration.core.stored.stored_documents import STORED_KINDS, Stored
from kafka_migration.core.watching.unfinished_work import PendingValidation, late_findings
from kafka_migration.core.watching.watch import WatchEnded
from kafka_migration.steps.run.migration_run import MigrationRun

FAILED = "failed"
# The findings of refusals are read one by one; alerts tell others about the run.
_NO_RESULTS = {Kind.REFUSAL, Kind.ALERT}


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
    checked = newest(run, Stored.PREFLIGHT) if tasks.succeeded(TaskId.PREFLIGHT) else None
    idle_because = checked.run_window.idle_because if checked else ""
    watch = newest(run, Stored.WATCH) if tasks.succeeded(TaskId.WATCH_LAG) else None
    is_left_out = tasks.states.get(TaskId.VALIDATE_TOPICS) == SKIPPED and not idle_because
    pending = _left_pending(run) if is_left_out else None
    late = late_findings(run.name, watch if isinstance(watch, WatchEnded) else None, pending)
    return Timing(idle_because, pending is not None, late, late_fails=bool(late) and not _only_warns(run))


def _left_pending(run: MigrationRun) -> PendingValidation | None:
    """Return what this attempt left pending, or the earlier attempt if only `finish` was cleared."""
    written = run.evidence.of_attempt
    return newest(run, Stored.PENDING) if written(Kind.PENDING) or not written(Kind.RESERVE) else None


def _only_warns(run: MigrationRun) -> bool:
    try:
        nightly = run.filed_migration.nightly
    except Refused:
        return False
    return run.identity.is_nightly and nightly is not None and nightly.when_late == "warn"


def skips_of(run: MigrationRun, tasks: EndedTasks, timing: Timing) -> frozenset[str]:
    """Return the tasks that a successful run of this mode skips; none if the mode is unknown."""
    plan = newest(run, Stored.PLAN) if tasks.succeeded(TaskId.PLAN) else None
    is_done = plan is not None and plan.is_done
    try:
        mode, is_idle = run.request.mode, bool(timing.idle_because)
        hooks = run.filed_migration.cutover.hooks if mode.moves_groups else ()
        return expected_skips(mode, is_idle=is_idle, is_done=is_done, is_pending=timing.is_pending, hooks=hooks)
    except Refused:
        return frozenset()


def good_outcome(run: MigrationRun, timing: Timing) -> str:
    """Return the outcome of a run that did not fail: complete, nothing to do, late, or with groups not moved."""
    if timing.idle_because:
        return "not in window"
    if timing.late:
        return timing.late[0].code.late
    done = newest(run, Stored.CUTOVER) or newest(run, Stored.OFFSETS_RESULT)
    return "partly done" if done is not None and done.partly else "success"


def newest(run: MigrationRun, kind: StoredKind[D]) -> D | None:
    """Return the newest document of a kind; `None` if there is none, or if it is one of `unfit_documents`."""
    try:
        return run.evidence.newest(kind)
    except EvidenceUnfit:
        return None


def unfit_documents(run: MigrationRun) -> Iterator[str]:
    """Yield the kinds whose newest document has another form, each with the reason, as far as the result needs them."""
    for kind in STORED_KINDS:
        if kind.kind in _NO_RESULTS:
            continue
        try:
            run.evidence.newest(kind)
        except EvidenceUnfit as error:
            yield f"{kind}: {error.reason}"
