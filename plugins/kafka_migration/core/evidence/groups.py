"""The consumer groups in a run's report: one row per group, from the plan and its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

Document = Mapping[str, Any]


def group_rows(plan: Document | None, result: Document | None, *, has_begun: bool) -> list[dict[str, Any]]:
    """Return the rows in the plan's order; without a plan there are none.

    `outcome` is what was read back on the target, or `not written`. If writing was interrupted and left no result, the
    outcome of a planned group is `unknown`.
    """
    return _rows(plan, result, has_begun, _moved)


def rollback_rows(plan: Document | None, result: Document | None, *, has_begun: bool) -> list[dict[str, Any]]:
    """Return the rows of a rollback; `verdict` is the plan's decision on the group."""
    return _rows(plan, result, has_begun, _put_back)


class _Planned(NamedTuple):
    """The plan of a group, and whether anything will be written for it."""

    verdict: str
    partitions: int
    unset_partitions: int
    is_changed: bool


def _moved(planned: Document) -> _Planned:
    offsets = len(planned["offsets"]) + sum(_offsets(topic) for topic in planned.get("topics", ()))
    return _Planned(planned["verdict"], offsets, len(planned["unset"]), offsets > 0)


def _put_back(planned: Document) -> _Planned:
    offsets = sum(map(len, planned["proposed"].values()))
    is_changed = offsets > 0 or planned["is_removed"]
    verdict = "left out" if planned["refusals"] else "to put back" if is_changed else "nothing to do"
    return _Planned(verdict, offsets, 0, is_changed)


def _rows(
    plan: Document | None, result: Document | None, has_begun: bool, says: Callable[[Document], _Planned]
) -> list[dict[str, Any]]:
    writes = {write["group"]: write for write in (result["groups"] if result else ())}
    groups = plan["groups"] if plan else ()
    return [_row(group, writes.get(group["group"]), has_begun, says(group)) for group in groups]


def _row(planned: Document, write: Document | None, has_begun: bool, says: _Planned) -> dict[str, Any]:
    unread = "unknown" if has_begun and says.is_changed else "not written"
    findings = [*planned["refusals"], *(write["findings"] if write else ())]
    return {
        "group": planned["group"],
        "verdict": says.verdict,
        "outcome": write["outcome"] if write else unread,
        "partitions": says.partitions,
        "unset_partitions": says.unset_partitions,
        "delivered_again": planned["delivered_again"],
        "reasons": [f"{finding['code']}: {finding['found']}" for finding in findings],
    }


def _offsets(topic: Document) -> int:
    """Return the number of target partitions of a topic that get an offset."""
    return sum(map(len, topic["target_offsets"].values()))
