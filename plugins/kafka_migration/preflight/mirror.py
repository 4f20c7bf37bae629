"""The MirrorMaker on the host honours every setting that it will be given."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.errors import Finding
from kafka_migration.engines.engines import engine_of
from kafka_migration.preflight.check import Check, Subject


def _check(subject: Subject) -> Iterable[Finding]:
    if not subject.mode.mirrors:
        return ()
    mirror = subject.migration.mirror
    facts = subject.host.fingerprint(mirror.kafka_home, mirror.java_home).facts
    engine = engine_of(subject.migration, subject.source, subject.target)
    return engine.setting_findings(facts.get("kafka", ""))


CHECK = Check("mirror", _check, needs=("clusters", "host"))
