"""The steps for an operator after a rollback, as text."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kafka_migration.core.cutover.group_next_steps import IN_REPORT, first_steps
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.text.artifact_names import group_subject, plain_name
from kafka_migration.core.text.shortened import some


def steps_after_rollback(
    *,
    source: str,
    target: str,
    topics: Collection[str],
    put_back: Collection[str],
    left_behind: Mapping[str, tuple[Finding, ...]],
) -> tuple[str, ...]:
    """Return the operator's steps after a rollback, in order; `source` and `target` are the Airflow connections."""
    names = some(sorted(put_back), word=plain_name, where=IN_REPORT)
    of_topics = some(sorted(topics), where="the whole plan is in the evidence")
    steps = [f"Start the producers of {of_topics} with the bootstrap servers of `{source}`."]
    steps += [f"Start the consumers of {names} with the bootstrap servers of `{source}`."] if names else []
    steps += first_steps([_left(group, findings, target) for group, findings in sorted(left_behind.items())])
    steps.append(
        "The migration can continue: the next run mirrors these topics again if no client wrote to them on "
        f"`{target}`. Otherwise it is refused (TARGET_WRITTEN_BY_OTHERS): then copy the topics again with a new "
        'migration file (another name; the page "Runbook", section "A topic is copied again"). Pause the schedules '
        "until you know."
    )
    return tuple(steps)


def _left(group: str, findings: tuple[Finding, ...], target: str) -> str:
    codes = ", ".join(sorted({str(finding.code) for finding in findings}))
    return (
        f"{group_subject(group)} was not changed ({codes}). When the cause is resolved, move it by hand: its offsets "
        f"on `{target}` are in this run's evidence."
    )
