"""The MirrorMaker host allows as many open files as MirrorMaker needs."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.errors import Finding
from kafka_migration.preflight.scene.asking_host import machine, number, only_with_mirrormaker
from kafka_migration.preflight.scene.check import Check, Subject
from kafka_migration.preflight.scene.machine_rules import file_findings


def _check(subject: Subject) -> Iterable[Finding]:
    if machine(subject).facts.get("open_files") == "unlimited":
        return ()
    limit = number(subject, "open_files", "how many files may be open")
    brokers = subject.source_facts.brokers + subject.target_facts.brokers
    partitions = sum(topic.partitions for topic in subject.source_topics.values())
    return file_findings(limit, subject.migration.mirror.tasks, partitions, brokers)


CHECK = Check("host files", only_with_mirrormaker(_check), needs=("clusters", "topics", "host"))
