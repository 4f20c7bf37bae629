"""The finding about a group that cannot be read."""

from __future__ import annotations

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.text.quoting import group_subject
from kafka_migration.core.text.shortened import sentence


def unreadable_finding(group: str, why: str) -> Finding:
    """Return why a group cannot be moved although its offsets may be on the cluster."""
    return Finding(
        Code.GROUP_UNREADABLE,
        group_subject(group),
        why,
        "the state and the offsets of the group",
        "Remove the cause (a missing right, a coordinator that fails) and plan again, or set the group's offsets by "
        "hand.",
        happened=sentence(f"The state or the offsets of {group_subject(group)} cannot be read: {why}"),
        matters="What the group has not read is unknown, so it is not moved. Other groups are not affected.",
    )
