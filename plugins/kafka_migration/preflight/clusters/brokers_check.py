"""The target's brokers create no topic by themselves, and their defaults for new topics are known."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.errors import Finding
from kafka_migration.preflight.scene.asking_host import only_with_mirrormaker
from kafka_migration.preflight.scene.broker_settings import auto_create_warnings, unknown_settings
from kafka_migration.preflight.scene.check import Check, Subject


def _warn(subject: Subject) -> Iterable[Finding]:
    if not any(subject.target_brokers.values()):
        yield unknown_settings("target")
    yield from auto_create_warnings(subject.target_brokers)


CHECK = Check("brokers", only_with_mirrormaker(lambda _: ()), needs=("clusters",), warn=_warn)
