"""MirrorMaker on the host supports all settings of the run, runs on the Java there, and is safe to use with a login."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.errors import Finding
from kafka_migration.engines.engines import engine_of
from kafka_migration.engines.required_versions import java_findings, login_findings, version_warnings
from kafka_migration.preflight.scene.check import Check, Subject


def _check(subject: Subject) -> Iterable[Finding]:
    if not subject.mode.mirrors:
        return ()
    version = subject.host_facts.get("kafka", "")
    engine = engine_of(subject.migration, subject.source, subject.target)
    return (
        *engine.setting_findings(version),
        *java_findings(subject.migration, version, subject.host_facts.get("java", "")),
        *_login_findings(subject, version),
    )


def _warn(subject: Subject) -> Iterable[Finding]:
    return version_warnings(subject.migration, subject.host_facts.get("kafka", "")) if subject.mode.mirrors else ()


def _login_findings(subject: Subject, version: str) -> Iterable[Finding]:
    sides = (subject.migration.source, subject.migration.target)
    has_login = any(subject.connections.has_login(side) for side in sides)
    return login_findings(subject.migration, version) if has_login else ()


CHECK = Check("mirror", _check, needs=("clusters", "host"), warn=_warn)
