"""The steps for an operator after any run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.report.readiness import readiness
from kafka_migration.core.run.run_identity import ROLLBACK_DAG_PREFIX
from kafka_migration.core.run.task_steps import SKIPPED, SUCCESS

# The findings section of the report has all codes.
MAX_CODES = 5


def next_acts(run: Mapping[str, Any]) -> list[str]:
    """Return the steps in their order, for the report."""
    return [*_after_trouble(run), *_written_steps(run)] or list(_after_success(run))


def _after_trouble(run: Mapping[str, Any]) -> Iterator[str]:
    """Yield the steps for the findings, or where to look without findings."""
    if run["findings"]:
        yield from _by_code(run)
    elif run["outcome"] == "failed":
        yield _failed_without_a_finding(run)
    if run["outcome"] == "failed" and run["mode"] == Mode.CUTOVER and "offsets-before" not in run["steps"]:
        yield "No group was moved: start the producers on the source again, if they were stopped."


def _written_steps(run: Mapping[str, Any]) -> list[str]:
    """Return the steps that the cutover or rollback recorded."""
    done = run["steps"].get("cutover") or run["steps"].get("rolled-back")
    steps: list[str] = done["next_steps"] if done else []
    return steps


def _by_code(run: Mapping[str, Any]) -> Iterator[str]:
    codes = list(dict.fromkeys(finding["code"] for finding in run["findings"]))
    for code in codes[:MAX_CODES]:
        yield f"{code}: {Code(code).act if code in set(Code) else 'see the finding.'}"
    if len(codes) > MAX_CODES:
        yield f"Then the other codes above: {', '.join(codes[MAX_CODES:])}."
    yield 'More on each code: the pages "Error codes" and "Runbook" of the documentation.'


def _failed_without_a_finding(run: Mapping[str, Any]) -> str:
    bad = [task for task, state in run["tasks"].items() if state not in {SUCCESS, SKIPPED}]
    where = f"the task {bad[0]}" if bad else "the task finish"
    return f"Read the log of {where}, remove the cause, and clear the task with downstream."


def _after_success(run: Mapping[str, Any]) -> Iterator[str]:
    name, mode = run["migration"], run["mode"]
    if run["outcome"] == "not in window":
        yield "Nothing. The next scheduled run copies and validates."
    elif run["outcome"] in {"behind", "validation pending"}:
        yield "Nothing now: the next run continues where this one stopped. If that repeats, set a longer window."
    elif mode == Mode.REHEARSE:
        yield from _after_rehearsal(run)
    elif mode == Mode.VALIDATE:
        yield (
            f"Nothing. Before the cutover, trigger `kafka_migration__{name}` in mode rehearse. After it, "
            f"`kafka-migration decommission {name}` says whether the source may be switched off."
        )
    elif mode in {Mode.RESTORE, Mode.FAIL_BACK}:
        yield f"Nothing was rolled back. See the plan of `{ROLLBACK_DAG_PREFIX}{name}`."
    else:
        yield f"Nothing. Later runs copy what is new. Before the cutover, rehearse: `kafka_migration__{name}`."


def _after_rehearsal(run: Mapping[str, Any]) -> Iterator[str]:
    found = readiness(run)
    if found is not None and not found.is_ready:
        yield "Resolve the reasons above, and rehearse again."
        return
    yield (
        f"When the producers can be stopped, trigger `kafka_migration__{run['migration']}` in mode cutover. It "
        "asks you when to stop them, and asks for approval before it moves a group."
    )
