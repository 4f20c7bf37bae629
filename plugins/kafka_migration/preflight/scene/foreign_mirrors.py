"""Signs that another MirrorMaker is at work between the same clusters."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import GroupDescription, GroupListing
from kafka_migration.core.migration.settings import MIRROR_GROUP_PREFIX
from kafka_migration.core.text.artifact_names import group_subject
from kafka_migration.core.text.shortened import some

# MirrorMaker 2 names the group of its workers after the source, and MirrorMaker 1 its clients after its group.
_WORKERS = "-mm2"
# MirrorMaker 2 writes a heartbeat each second by default.
HEARTBEAT_S = 60.0
_REMEDY = (
    "Find out who runs it, and stop it before this migration copies the topics. Two MirrorMakers write each record "
    "twice, and validation would count the records of the other one as extra."
)


def own_workers(migration: str) -> str:
    """Return the group of this migration's MirrorMaker 2."""
    return f"{migration}-source{_WORKERS}"


def worker_aliases(listed: Iterable[GroupListing], migration: str) -> list[str]:
    """Return the source aliases of MirrorMaker 2 processes that run on a target, without this migration's."""
    names = (
        each.group
        for each in listed
        if not each.state.is_inactive and each.kind == "connect" and _is_worker(each.group)
    )
    return [name.removesuffix(_WORKERS) for name in names if name != own_workers(migration)]


def _is_worker(group: str) -> bool:
    return group.endswith(_WORKERS) and group != _WORKERS


def offsets_topic(alias: str) -> str:
    """Return the topic in which MirrorMaker 2 stores its positions on a source with this alias."""
    return f"mm2-offsets.{alias}.internal"


def worker_findings(copied: Mapping[str, Collection[str] | None]) -> Iterator[Finding]:
    """Warn of each running MirrorMaker 2 that copies topics of the migration, by its alias.

    `None`: it is not known which topics it copies.
    """
    for alias, topics in copied.items():
        if topics is None or topics:
            which = "topics that are not known" if topics is None else some(sorted(topics))
            yield _other(
                f"group {alias}{_WORKERS} on the target",
                f"a running MirrorMaker 2 with the source alias {alias}; its positions ({offsets_topic(alias)}) are "
                f"of {which}",
            )


def reader_findings(groups: Iterable[GroupDescription], topics: Collection[str], migration: str) -> Iterator[Finding]:
    """Warn of each group on the source that reads topics of the migration and has members like MirrorMaker 1's."""
    for group in groups:
        if group.group == f"{MIRROR_GROUP_PREFIX}{migration}":
            continue
        own = re.compile(rf"{re.escape(group.group)}-\d+")
        members = [member for member in group.members if own.fullmatch(member.client_id)]
        read = {partition.topic for member in members for partition in member.assigned}.intersection(topics)
        if read:
            yield _other(
                f"{group_subject(group.group)} on the source",
                f"{len(members)} members named as those of MirrorMaker 1, such as {members[0]}, which read "
                f"{some(sorted(read))}",
            )


def heartbeat_topics(names: Iterable[str], alias: str) -> list[str]:
    """Return the heartbeats topics on the target, without the copy that this migration's MirrorMaker makes."""
    return sorted(n for n in names if n == "heartbeats" or n.endswith(".heartbeats") if n != f"{alias}.heartbeats")


def heartbeat_findings(ages_s: Mapping[str, float]) -> Iterator[Finding]:
    """Warn of each heartbeats topic that is being written, by the seconds since its newest record."""
    for topic, age in ages_s.items():
        if age < HEARTBEAT_S:
            yield _other(
                f"topic {topic} on the target", f"a heartbeat of {max(age, 0):.0f} s ago, which MirrorMaker 2 writes"
            )


def _other(subject: str, found: str) -> Finding:
    return Finding(Code.OTHER_MIRRORMAKER, subject, found, "no other MirrorMaker between these clusters", _REMEDY)
