"""`follow_until` belongs to mode `follow` and lies ahead."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.codes import Code
from kafka_migration.core.errors import Finding
from kafka_migration.core.migration import Mode
from kafka_migration.preflight.check import Check, Subject


def _check(subject: Subject) -> Iterable[Finding]:
    until = subject.follow_until
    if until is None:
        return
    if subject.mode is not Mode.FOLLOW:
        yield _finding(f"{until.isoformat()} in mode {subject.mode}", f"mode {Mode.FOLLOW}, or no such field")
    elif until <= subject.now:
        yield _finding(until.isoformat(), f"a moment after {subject.now.isoformat(timespec='seconds')}")


def _finding(found: str, expected: str) -> Finding:
    remedy = "Correct the field and trigger the run again; nothing was started."
    return Finding(Code.RUN_CONF_INVALID, "run conf field follow_until", found, expected, remedy)


CHECK = Check("follow", _check)
