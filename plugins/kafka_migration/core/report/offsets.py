"""The offsets of a run's consumer groups, before and after, as a table of its report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kafka_migration.core.groups.plan_page import more_words
from kafka_migration.core.kafka.offsets import TopicPartition, from_document
from kafka_migration.core.text.markdown import shown, table

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
        for each in group["offsets"]:
            end = ends.get(TopicPartition(each["topic"], each["partition"]))
            yield (
                name,
                f"{shown(each['topic'])} {each['partition']}",
                f"{each['source_offset']:,}",
                "none" if each["target_before"] is None else f"{each['target_before']:,}",
                _now(each["target_offset"], written),
                "not known" if end is None else f"{max(0, end - each['target_offset']):,}",
            )
        for topic in group.get("topics", ()):
            before, after = from_document(topic["target_before"]), from_document(topic["target_offsets"])
            for partition, offset in sorted(after.items()):
                old = before.get(partition)
                place = f"{shown(partition.topic)} {partition.partition}"
                end = ends.get(partition)
                unread = "not known" if end is None else f"{max(0, end - offset):,}"
                yield name, place, "–", "none" if old is None else f"{old:,}", _now(offset, written), unread


def _now(offset: int, outcome: str) -> str:
    return f"{offset:,}" if outcome in {*_WRITTEN, "not written"} else f"{offset:,} ({outcome})"
