"""The consumer groups that were asked for exist on the source and are the migration's."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.codes import Code
from kafka_migration.core.errors import Finding
from kafka_migration.core.group_offsets import which_groups
from kafka_migration.preflight.check import Check, Subject


def _check(subject: Subject) -> Iterable[Finding]:
    if not subject.mode.plans_groups or not subject.requested_groups:
        return
    known = which_groups(subject.source.list_groups(), subject.migration.cutover.groups)
    for group in subject.requested_groups:
        if group not in known:
            yield Finding(
                Code.RUN_CONF_INVALID,
                "run conf field groups",
                repr(group),
                "groups that are on the source and that cutover.groups of the migration file names",
                "Correct the field and trigger the run again; nothing was started.",
            )


CHECK = Check("groups", _check, needs=("clusters",))
