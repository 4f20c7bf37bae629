"""The requested groups exist on the source and belong to the migration."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.selection import which_groups
from kafka_migration.core.run.run_conf import unknown_findings
from kafka_migration.preflight.scene.check import Check, Subject


def _check(subject: Subject) -> Iterable[Finding]:
    if subject.requested_groups:
        yield from _unknown(subject)


def _unknown(subject: Subject) -> Iterable[Finding]:
    known = frozenset(which_groups(subject.source.list_groups(), subject.migration.cutover.groups))
    unknown = [group for group in subject.requested_groups if group not in known]
    expected = "groups on the source that match cutover.groups of the migration file"
    yield from unknown_findings("groups", unknown, expected)


CHECK = Check("groups", _check, needs=("clusters",))
