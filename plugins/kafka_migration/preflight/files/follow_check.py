"""`follow_until` is in the future."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.run.run_conf import conf_finding
from kafka_migration.preflight.scene.check import Check, Subject


def _check(subject: Subject) -> Iterable[Finding]:
    until = subject.follow_until
    if until is not None and until <= subject.now:
        yield conf_finding(
            "follow_until", until.isoformat(), f"a moment after {subject.now.isoformat(timespec='seconds')}"
        )


CHECK = Check("follow", _check)
