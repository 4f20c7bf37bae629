"""MirrorMaker 1 would put the newest records into the partitions that they have: its partitioner is the producers'."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.errors import Finding
from kafka_migration.preflight.clusters.moved_keys import moved_key_warnings
from kafka_migration.preflight.scene.asking_host import only_with_mirrormaker
from kafka_migration.preflight.scene.check import Check, NotApplicable, Subject


def _check(subject: Subject) -> Iterable[Finding]:
    if subject.migration.keeps_partitions:
        raise NotApplicable(f"{subject.migration.mirror.abilities.title} keeps the partitions of the source")
    return ()


def _warn(subject: Subject) -> Iterable[Finding]:
    partitions = {name: topic.partitions for name, topic in subject.source_topics.items() if topic.partitions > 1}
    return moved_key_warnings(partitions, subject.newest_records(tuple(partitions)))


CHECK = Check("keys", only_with_mirrormaker(_check), needs=("topics",), warn=_warn)
