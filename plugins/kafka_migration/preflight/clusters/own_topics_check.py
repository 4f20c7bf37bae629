"""Topics of MirrorMaker 2's own that exist on the target have the settings with which it starts."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.text.shortened import some
from kafka_migration.engines.own_topics import own_topics_seen
from kafka_migration.preflight.scene.asking_host import only_with_mirrormaker
from kafka_migration.preflight.scene.check import Check, NotApplicable, Subject


def _check(subject: Subject) -> Iterable[Finding]:
    last = subject.ledger.last_generation
    seen = own_topics_seen(subject.migration, last.number if last else 0, subject.target)
    if seen.unseen and not seen.findings:
        raise NotApplicable(f"the login may not describe {some(seen.unseen)}")
    return seen.findings


CHECK = Check("own topics", only_with_mirrormaker(_check), needs=("clusters",))
