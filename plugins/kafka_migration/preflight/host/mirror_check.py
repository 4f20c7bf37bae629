"""MirrorMaker on the host supports all settings of the run, runs on the Java there, and is safe to use with a login."""

from __future__ import annotations

from kafka_migration.engines.engines import engine_of
from kafka_migration.engines.required_versions import java_findings, login_findings, version_warnings
from kafka_migration.preflight.host.asking_host import host_facts
from kafka_migration.preflight.scene.check import Asked, Check, Findings
from kafka_migration.preflight.scene.scene import Scene


def _check(scene: Scene) -> Findings:
    if not scene.mode.mirrors:
        return ()
    version = host_facts(scene).get("kafka", "")
    engine = engine_of(scene.migration, scene.source, scene.target)
    return (
        *engine.setting_findings(version),
        *java_findings(scene.migration, version, host_facts(scene).get("java", "")),
        *(login_findings(scene.migration, version) if scene.has_login else ()),
    )


def _warn(scene: Scene) -> Findings:
    return version_warnings(scene.migration, host_facts(scene).get("kafka", "")) if scene.mode.mirrors else ()


CHECK = Check("mirror", _check, asks={Asked.HOST}, needs=("clusters", "host"), warn=_warn)
