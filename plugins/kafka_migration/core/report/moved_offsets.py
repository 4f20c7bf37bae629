"""The offsets of a run's consumer groups, before and after, as a table of its report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kafka_migration.core.cutover.plan_page import more_words
from kafka_migration.core.kafka.offsets import TopicPartition, from_document
from kafka_migration.core.text.markdown import escaped, shown, table

# The evidence holds the whole plan.
MAX_ROWS = 300
_WRITTEN = {"moved", "already_moved"}


def offsets_of_groups(run: Mapping[str, Any]) -> str:
    """Return one row per group and partition of the plan; empty where nothing was planned."""
    plan = run["steps"].get("offsets-plan", {}).get("plan")
    rows = list(_rows(run, plan)) if plan else []
    if not rows:
        return ""
    is_done = any(group["outcome"] in _WRITTEN for group in run["groups"])
    after = "Target now" if is_done else "Planned"
    header = ("Group", "Partition", "Source", "Target before", after, "Unread (at most)")
    return f"### Offsets\n\n{table(header, rows[:MAX_ROWS])}{more_words(len(rows) - MAX_ROWS, 'partitions')}"


def _rows(run: Mapping[str, Any], plan: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    ends = from_document(plan.get("target_end_offsets", {}))
    outcomes = {group["group"]: group["outcome"] for group in run["groups"]}
    for group in plan["groups"]:
        written = outcomes.get(group["group"], "not written")
        name = shown(group["group"])
        for move in group["moves"]:
            source, before, after = (_by_partition(move[part]) for part in ("committed", "before", "proposed"))
            is_alone = len({*source, *before, *after}) == 1
            for partition, offset in sorted(after.items()):
                end = ends.get(partition)
                yield (
                    name,
                    f"{shown(partition.topic)} {partition.partition}",
                    _text(source.get(partition)) if is_alone else "–",
                    _text(before.get(partition)),
                    _now(offset, written),
                    "not known" if end is None else f"{max(0, end - offset):,}",
                )


def _by_partition(document: Mapping[str, Any]) -> dict[TopicPartition, int]:
    """Return offsets; those of commits have their metadata next to them."""
    return {
        TopicPartition(topic, int(partition)): value if isinstance(value, int) else value[0]
        for topic, partitions in document.items()
        for partition, value in partitions.items()
    }


def _text(offset: int | None) -> str:
    return "none" if offset is None else f"{offset:,}"


def _now(offset: int, outcome: str) -> str:
    return f"{offset:,}" if outcome in {*_WRITTEN, "not written"} else f"{offset:,} ({escaped(outcome)})"
