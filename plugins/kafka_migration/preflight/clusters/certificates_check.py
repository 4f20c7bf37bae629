"""No client certificate ends before the run may end; certificates that end soon are warnings."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from kafka_migration.core.findings.errors import Finding
from kafka_migration.preflight.scene.check import Check, Subject
from kafka_migration.preflight.scene.expiry import ending_before, ending_soon


def _check(subject: Subject) -> Iterable[Finding]:
    planned_end = subject.now + timedelta(seconds=subject.migration.watch.time_limit_s)
    for side in (subject.migration.source, subject.migration.target):
        yield from ending_before(side.connection, subject.connections.certificates(side), planned_end)


def _warn(subject: Subject) -> Iterable[Finding]:
    sides = ((subject.migration.source, subject.source), (subject.migration.target, subject.target))
    for side, cluster in sides:
        own = {f"the client ({each.subject})": each for each in subject.connections.certificates(side)}
        brokers = {f"broker {address}": found for address, found in cluster.certificates().items()}
        yield from ending_soon(side.connection, {**own, **brokers}, subject.now)


CHECK = Check("certificates", _check, needs=("clusters",), warn=_warn)
