"""What a person does after the cutover, as text."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kafka_migration.core.errors import Finding
from kafka_migration.core.group_offsets import group_subject


def next_steps(
    *,
    source: str,
    target: str,
    moved: Collection[str],
    left_behind: Mapping[str, tuple[Finding, ...]],
    topics: Collection[str],
    folder: str,
) -> tuple[str, ...]:
    """Return the steps in their order; `source` and `target` are the Airflow connections, `folder` the evidence's."""
    steps = [f"Start the consumers of {', '.join(moved)} with the bootstrap servers of `{target}`."] if moved else []
    steps.append(f"Start the producers of {', '.join(topics)} with the bootstrap servers of `{target}`.")
    steps += [_left_behind(group, findings, target) for group, findings in sorted(left_behind.items())]
    steps.append(
        f"Until a consumer commits or a producer writes on `{target}`, the way back is to start everything on "
        f"`{source}` again: nothing was changed there. That is the last reversible step. What the groups had on "
        f"`{target}` before lies in offsets-before-target.csv below {folder}."
    )
    steps.append(
        f"Leave `{source}` as it is until the consumers have caught up and mode validate has passed once more; pause "
        "schedules of this migration."
    )
    return tuple(steps)


def _left_behind(group: str, findings: tuple[Finding, ...], target: str) -> str:
    reasons = ", ".join(sorted({str(finding.code) for finding in findings}))
    return (
        f"{group_subject(group)} was left behind ({reasons}): it has no offsets of this run on `{target}`. When its "
        "cause is gone, set them by hand with `kafka-consumer-groups --reset-offsets`, or let it read from the start."
    )
