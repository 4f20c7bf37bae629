"""No quota slows MirrorMaker; those that may are warnings."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.mirror.host import ProbeSubject
from kafka_migration.preflight.scene.asking_host import SIDES, only_with_tools, tool, unknown_warnings
from kafka_migration.preflight.scene.check import Check, Subject
from kafka_migration.preflight.scene.quota_rules import quota_findings
from kafka_migration.preflight.scene.tool_answers import UnknownFact, answer_of


def _warn(subject: Subject) -> Iterable[Finding]:
    migration = subject.migration
    found: list[Finding] = []
    unknowns: dict[str, UnknownFact] = {}
    for side, cluster in zip(SIDES, (migration.source, migration.target), strict=True):
        facts = tool(subject, ProbeSubject.QUOTAS, side)
        answer = answer_of("the quotas", facts, "Describe and DescribeConfigs on the cluster")
        if isinstance(answer, UnknownFact):
            unknowns[f"{side}.connection"] = answer
        else:
            found += quota_findings(side, answer, subject.connections.principal(cluster))
    return (*found, *unknown_warnings(unknowns, is_more_known=bool(found)))


CHECK = Check("quotas", lambda _: (), needs=("clusters", "host"), warn=only_with_tools(_warn))
