"""The check for other MirrorMakers between the clusters, by their groups and topics."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.kafka.cluster import GroupDescription, GroupListing
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.migration.settings import MIRROR_GROUP_PREFIX
from kafka_migration.core.text.quoting import group_subject
from kafka_migration.core.text.shortened import some
from kafka_migration.engines.mirrormaker2_topics import copied_topics
from kafka_migration.preflight.scene.check import (
    BOTH,
    Fact,
    Findings,
    UnknownFact,
    check,
    unknown_finding,
    without_mirrormaker,
)
from kafka_migration.preflight.scene.scene import Scene

# MirrorMaker 2 names the group of its workers after the source, and MirrorMaker 1 its clients after its group.
_WORKERS = "-mm2"
# MirrorMaker 2 writes a heartbeat each second by default.
HEARTBEAT_S = 60.0
_UNKNOWN = Fact(
    "whether another MirrorMaker copies the topics",
    "Two MirrorMakers would write each record twice to the target.",
)


# A copy that another MirrorMaker makes fails the check of the topics, and this one still has to name it.
@check("other mirror", asks=BOTH, needs=("earlier runs", "clusters"), unless=without_mirrormaker, warns=True)
def other_mirror(scene: Scene) -> Findings:
    """No other MirrorMaker copies the topics: no group of MirrorMaker 1 reads them, none of 2 runs on the target."""
    yield from _known("the groups on the source", _readers, scene)
    yield from _known("the groups on the target", _workers, scene)
    yield from _known("heartbeats on the target", _heartbeats, scene)


def _known(what: str, look: Callable[[Scene], Findings], scene: Scene) -> Findings:
    """Return what was found, or that the login may not look."""
    try:
        return tuple(look(scene))
    except Refused as refused:
        remedy = "Grant the right that the cluster names, or find out yourself whether another MirrorMaker runs."
        return (unknown_finding(what, UnknownFact(_UNKNOWN, refused.findings[0].found, remedy)),)


def _readers(scene: Scene) -> Findings:
    listed = scene.source.list_groups()
    active = [each.group for each in listed if each.kind == "classic" and not each.state.is_inactive]
    described = scene.source.describe_groups(active) if active else {}
    return reader_findings(described.values(), scene.migration.topics, scene.migration.name)


def _workers(scene: Scene) -> Findings:
    aliases = worker_aliases(scene.target.list_groups(), scene.migration.name)
    return worker_findings({alias: _copied(scene, alias) for alias in aliases})


def _copied(scene: Scene, alias: str) -> frozenset[str] | None:
    """Return the topics of the migration of which a MirrorMaker 2 has positions; `None` if they are not known.

    They may not be read, or there are none yet: it stores the first ones a minute after its start.
    """
    try:
        rows = tuple(scene.target.read_table(offsets_topic(alias)))
    except Refused:
        return None
    return copied_topics(rows, scene.migration.topics) if rows else None


def _heartbeats(scene: Scene) -> Findings:
    found = heartbeat_topics(scene.target.topic_names(), scene.migration.source.alias)
    return heartbeat_findings({topic: age for topic in found if (age := _age_s(scene, topic)) is not None})


def _age_s(scene: Scene, topic: str) -> float | None:
    """Return the age of the newest heartbeat; `None` if there is none or its time is not known."""
    ends = scene.target.log_end_offsets([TopicPartition(topic, 0)], "read_uncommitted")
    newest = scene.target.records_at({p: max(end - 1, 0) for p, end in ends.items()}, "read_uncommitted")
    times = [record.timestamp_ms for record in newest.values() if record is not None and record.timestamp_ms >= 0]
    return scene.now.timestamp() - max(times) / 1000 if times else None


def worker_aliases(listed: Iterable[GroupListing], migration: str) -> list[str]:
    """Return the source aliases of MirrorMaker 2 processes that run on a target, without this migration's."""
    running = (each.group for each in listed if not each.state.is_inactive and each.kind == "connect")
    not_others = {_WORKERS, f"{migration}-source{_WORKERS}"}
    return [group.removesuffix(_WORKERS) for group in running if group.endswith(_WORKERS) and group not in not_others]


def offsets_topic(alias: str) -> str:
    """Return the topic in which MirrorMaker 2 stores its positions on a source with this alias."""
    return f"mm2-offsets.{alias}.internal"


def worker_findings(copied: Mapping[str, Collection[str] | None]) -> Findings:
    """Warn of each running MirrorMaker 2 that copies topics of the migration, by its alias.

    `None`: it is not known which topics it copies.
    """
    for alias, topics in copied.items():
        if topics is None or topics:
            which = "topics that are not known" if topics is None else some(sorted(topics))
            running, positions = f"MirrorMaker 2 with the source alias {alias}", offsets_topic(alias)
            copies = f"it is unknown which topics it copies ({positions})" if topics is None else f"copies {which}"
            yield _other(
                f"group {alias}{_WORKERS} on the target",
                f"a running {running}; its positions ({positions}) are of {which}",
                f"A {running} runs on the target, and {copies}.",
            )


def reader_findings(groups: Iterable[GroupDescription], topics: Collection[str], migration: str) -> Findings:
    """Warn of each group on the source that reads topics of the migration and has members like MirrorMaker 1's."""
    for group in groups:
        if group.group == f"{MIRROR_GROUP_PREFIX}{migration}":
            continue
        own = re.compile(rf"{re.escape(group.group)}-\d+")
        members = [member for member in group.members if own.fullmatch(member.client_id)]
        read = {partition.topic for member in members for partition in member.assigned}.intersection(topics)
        if read:
            named = f"{len(members)} member(s) named as those of MirrorMaker 1, such as {members[0]}"
            yield _other(
                f"{group_subject(group.group)} on the source",
                f"{named}, which read {some(sorted(read))}",
                f"The {group_subject(group.group)} on the source reads {some(sorted(read))} with {named}.",
            )


def heartbeat_topics(names: Iterable[str], alias: str) -> list[str]:
    """Return the heartbeats topics on the target, without the copy that this migration's MirrorMaker makes."""
    return sorted(n for n in names if n == "heartbeats" or n.endswith(".heartbeats") if n != f"{alias}.heartbeats")


def heartbeat_findings(ages_s: Mapping[str, float]) -> Findings:
    """Warn of each heartbeats topic that is being written, by the seconds since its newest record."""
    for topic, age in ages_s.items():
        if age < HEARTBEAT_S:
            seconds = f"{max(age, 0):.0f} s"
            yield _other(
                f"topic {topic} on the target",
                f"a heartbeat of {seconds} ago, which MirrorMaker 2 writes",
                f"A MirrorMaker 2 wrote a heartbeat into {topic} on the target {seconds} ago.",
            )


def _other(subject: str, found: str, happened: str) -> Finding:
    return Finding(
        Code.OTHER_MIRRORMAKER,
        subject,
        found,
        "no other MirrorMaker between these clusters",
        "Find out whether it is another MirrorMaker and who runs it. Stop it before this migration copies the topics.",
        happened=happened,
        matters="Two MirrorMakers would write each record twice to the target, and validation counts the records of "
        "the other one as extra.",
    )
