"""The consumer groups in a run's report: one row per group, from the plan and its result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_migration.core.migration.settings import Mode

Document = Mapping[str, Any]


def group_rows(
    plan: Document | None, result: Document | None, *, has_begun: bool, is_rollback: bool = False
) -> list[dict[str, Any]]:
    """Return the rows in the plan's order; without a plan there are none.

    `outcome` is what was read back on the written cluster, or `not written`. If writing was interrupted and left no
    result, the outcome of a planned group is `unknown`. `delivered_again` is `None` if the records were not counted.
    """
    writes = {write["group"]: write for write in (result["groups"] if result else ())}
    groups = plan["groups"] if plan else ()
    # Saved offsets are not compared with what the groups have read since.
    is_counted = plan is not None and plan.get("mode") != Mode.RESTORE
    rows = [_row(group, writes.get(group["group"]), has_begun, is_counted) for group in groups]
    return [{**row, "verdict": "to put back"} if is_rollback and row["verdict"] == "ready" else row for row in rows]


def _row(planned: Document, write: Document | None, has_begun: bool, is_counted: bool) -> dict[str, Any]:
    offsets = 0 if planned["refusals"] else sum(map(_offsets, planned["moves"]))
    unread = "unknown" if has_begun and (offsets or planned["is_removed"]) else "not written"
    findings = [*planned["refusals"], *(write["findings"] if write else ())]
    return {
        "group": planned["group"],
        "verdict": planned["verdict"],
        "outcome": write["outcome"] if write else unread,
        "partitions": offsets,
        "unset_partitions": len(planned["unset"]),
        "delivered_again": planned["delivered_again"] if is_counted else None,
        "reasons": [f"{finding['code']}: {finding['found']}" for finding in findings],
    }


def _offsets(move: Document) -> int:
    """Return the number of partitions that get an offset."""
    return sum(map(len, move["proposed"].values()))
