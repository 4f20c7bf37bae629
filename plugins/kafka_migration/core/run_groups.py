"""What a run says of the consumer groups: one row per group, from the plan and from what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Document = Mapping[str, Any]


def group_rows(plan: Document | None, result: Document | None, *, has_begun: bool) -> list[dict[str, Any]]:
    """Return the rows in the plan's order; without a plan there are none.

    `outcome` is what was read back on the target (`core.offsets_writing.Write`), or `not written`. Where the
    writing has begun and left no result, because it was interrupted, a planned group's is `unknown`.
    """
    writes = {write["group"]: write for write in (result["groups"] if result else ())}
    return [_row(group, writes.get(group["group"]), has_begun) for group in (plan["groups"] if plan else ())]


def _row(planned: Document, write: Document | None, has_begun: bool) -> dict[str, Any]:
    offsets = len(planned["offsets"]) + sum(_offsets(topic) for topic in planned.get("topics", ()))
    unread = "unknown" if has_begun and offsets else "not written"
    findings = [*planned["refusals"], *(write["findings"] if write else ())]
    return {
        "group": planned["group"],
        "verdict": planned["verdict"],
        "outcome": write["outcome"] if write else unread,
        "partitions": offsets,
        "unset_partitions": len(planned["unset"]),
        "delivered_again": planned["delivered_again"],
        "reasons": [f"{finding['code']}: {finding['found']}" for finding in findings],
    }


def rollback_rows(plan: Document | None, result: Document | None, *, has_begun: bool) -> list[dict[str, Any]]:
    """Return the same of a rollback; `verdict` is what its plan says of the group."""
    writes = {write["group"]: write for write in (result["groups"] if result else ())}
    return [_rollback_row(group, writes.get(group["group"]), has_begun) for group in (plan["groups"] if plan else ())]


def _rollback_row(planned: Document, write: Document | None, has_begun: bool) -> dict[str, Any]:
    offsets = sum(map(len, planned["proposed"].values()))
    is_changed = offsets or planned["is_removed"]
    unread = "unknown" if has_begun and is_changed else "not written"
    findings = [*planned["refusals"], *(write["findings"] if write else ())]
    return {
        "group": planned["group"],
        "verdict": "left out" if planned["refusals"] else "put back" if is_changed else "nothing to do",
        "outcome": write["outcome"] if write else unread,
        "partitions": offsets,
        "unset_partitions": 0,
        "delivered_again": planned["delivered_again"],
        "reasons": [f"{finding['code']}: {finding['found']}" for finding in findings],
    }


def _offsets(topic: Document) -> int:
    """Return how many target partitions of a topic get an offset."""
    return sum(map(len, topic["target_offsets"].values()))
