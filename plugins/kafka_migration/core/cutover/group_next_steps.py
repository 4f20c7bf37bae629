"""The steps for an operator after the cutover, as text."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.run.run_identity import ROLLBACK_DAG_PREFIX
from kafka_migration.core.text.artifact_names import group_subject, plain_name
from kafka_migration.core.text.shortened import MOST_NAMES, some


@dataclass(frozen=True, slots=True)
class ConfirmedCutover:
    """A cutover that is in the ledger, as its next steps need it.

    `source` and `target` are the Airflow connections. `topics` are the target's names of the topics that were cut over,
    `remaining` those that later cutovers move, `unproved` those of them whose copy is not proved. `not_chosen` are
    groups that read these topics and were not named. `folder` locates the evidence.
    """

    migration: str
    source: str
    target: str
    moved: Collection[str]
    left_behind: Mapping[str, tuple[Finding, ...]]
    not_chosen: Collection[str]
    topics: Collection[str]
    remaining: Collection[str]
    folder: str
    unproved: Collection[str] = ()


def next_steps(done: ConfirmedCutover) -> tuple[str, ...]:
    """Return the steps in their order."""
    source, target = done.source, done.target
    steps = (
        [f"Start the consumers of {_named(done.moved)} with the bootstrap servers of `{target}`."] if done.moved else []
    )
    steps.append(f"Start the producers of {_named(done.topics)} with the bootstrap servers of `{target}`.")
    if done.unproved:
        steps.append(
            f"Start the producers of {_named(done.unproved)} with the bootstrap servers of `{source}` again: the "
            "copy is not proved, so these topics remain there, with the groups that read them."
        )
    way = _NEXT_CUTOVER if done.remaining else _BY_HAND
    steps += first_steps([_left_behind(g, found, target, way) for g, found in sorted(done.left_behind.items())])
    steps += first_steps([_not_chosen(group, way) for group in sorted(done.not_chosen)])
    steps.append(
        f"To go back: until a consumer commits or a producer writes on `{target}`, start everything on `{source}` "
        f"again; nothing was changed there. After that, stop producers and consumers on `{target}` and trigger "
        f"`{ROLLBACK_DAG_PREFIX}{done.migration}`. Mode fail_back moves the groups on `{source}` to the records that "
        f"they have reached on `{target}`. Mode restore sets the groups on `{target}` back to their offsets before the "
        f"cutover, which are in offsets-before-target.csv under {done.folder}."
    )
    schedules = (
        f"the other topics ({some(done.remaining)}) continue to be mirrored until their own cutover."
        if done.remaining
        else "pause the schedules of this migration."
    )
    steps.append(
        f"Leave `{source}` as it is until the consumers have caught up and mode validate has passed once more; "
        f"{schedules}"
    )
    return tuple(steps)


_NEXT_CUTOVER = "the next cutover moves it."
_BY_HAND = "set them by hand with `kafka-consumer-groups --reset-offsets`, or let it read from the start."


# The report has a row of each topic and of each group.
IN_REPORT = "the report lists all"


def first_steps(steps: Sequence[str]) -> Sequence[str]:
    """Return the first of many steps that each concern one group, and how many more there are."""
    more = len(steps) - MOST_NAMES
    return (*steps[:MOST_NAMES], f"The same for {more:,} more groups ({IN_REPORT}).") if more > 0 else steps


def _named(names: Collection[str]) -> str:
    return some(names, word=plain_name, where=IN_REPORT)


def _left_behind(group: str, findings: tuple[Finding, ...], target: str, way: str) -> str:
    reasons = ", ".join(sorted({str(finding.code) for finding in findings}))
    return (
        f"{group_subject(group)} was not moved ({reasons}): this run wrote no offsets for it on `{target}`. When the "
        f"cause is resolved, {way}"
    )


def _not_chosen(group: str, way: str) -> str:
    return f"{group_subject(group)} reads these topics and was not named for this run. If it must be moved, {way}"
