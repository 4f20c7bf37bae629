"""The target's log directories have room for the copy."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.mirror.host import ProbeSubject
from kafka_migration.preflight.scene.asking_host import only_with_tools, tool, unknown_warnings
from kafka_migration.preflight.scene.check import Check, Subject
from kafka_migration.preflight.scene.space_rules import FREE_SPACE, LogDirs, needed_bytes, space_findings
from kafka_migration.preflight.scene.tool_answers import UnknownFact, answer_of

_NOT_REPORTED = UnknownFact(FREE_SPACE, "its brokers do not report it (Kafka 3.3 and newer do)")


def _check(subject: Subject) -> Iterable[Finding]:
    source, target = _log_dirs(subject, "source"), _log_dirs(subject, "target")
    if isinstance(source, UnknownFact) or isinstance(target, UnknownFact) or not target.usable:
        return ()
    migration = subject.migration
    names = {topic: migration.target_topic(topic) for topic in migration.topics}
    needed = needed_bytes(source, target, names, migration.target_replication_factor)
    return space_findings(needed, target.usable)


def _warn(subject: Subject) -> Iterable[Finding]:
    source, target = _log_dirs(subject, "source"), _log_dirs(subject, "target")
    if isinstance(target, LogDirs) and not target.usable:
        target = _NOT_REPORTED
    answers = {"source.connection": source, "target.connection": target}
    return unknown_warnings({where: each for where, each in answers.items() if isinstance(each, UnknownFact)})


def _log_dirs(subject: Subject, side: Side) -> LogDirs | UnknownFact:
    answer = answer_of(f"the space on the {side}", tool(subject, ProbeSubject.SPACE, side), "Describe on the cluster")
    return answer if isinstance(answer, UnknownFact) else LogDirs.of(answer)


CHECK = Check("target space", only_with_tools(_check), needs=("topics", "host"), warn=_warn)
