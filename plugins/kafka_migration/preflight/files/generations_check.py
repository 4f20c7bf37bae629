"""The generations to read again have stopped and copied a requested topic."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.ledger.generations import Generation, generations_text
from kafka_migration.core.run.run_conf import conf_finding
from kafka_migration.core.text.shortened import some
from kafka_migration.preflight.scene.check import Check, Subject


def _check(subject: Subject) -> Iterable[Finding]:
    if not subject.generations:
        return
    asked = generations_text(subject.generations)
    if problem := _not_readable(subject):
        yield conf_finding("generations", f"{asked}: {problem}", f"stopped generations{_known(subject)}")
    elif not any(g.limited_to(subject.migration.topics).topics for g in _chosen(subject)):
        found = f"{asked}, which copied none of {some(subject.migration.topics)}"
        yield conf_finding("generations", found, "generations that copied a topic")


def _not_readable(subject: Subject) -> str:
    """Return why the first unreadable generation cannot be read; empty if all can."""
    known = {g.number: g for g in subject.ledger.generations}
    for number in subject.generations:
        if number not in known:
            return f"there is no generation {number}"
        if known[number].stop is None:
            return f"generation {number} has no stop certificate yet"
    return ""


def _chosen(subject: Subject) -> Iterable[Generation]:
    return (g for g in subject.ledger.generations if g.number in subject.generations)


def _known(subject: Subject) -> str:
    numbers = [g.number for g in subject.ledger.generations]
    return f", of {numbers[0]} to {numbers[-1]}" if numbers else "; MirrorMaker was never started"


CHECK = Check("generations", _check)
