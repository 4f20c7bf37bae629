"""Checks of the MirrorMaker on the host, and of the brokers' versions that it needs."""

from __future__ import annotations

from collections.abc import Mapping

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.engines.engines import engine_of
from kafka_migration.engines.required_versions import KafkaVersion, java_findings, login_findings, version_warnings
from kafka_migration.preflight.host.asking_host import host_facts
from kafka_migration.preflight.scene.check import (
    BOTH_AND_HOST,
    NO_DESCRIBE_CONFIGS,
    Asked,
    Fact,
    Findings,
    UnknownFact,
    check,
    unknown_finding,
    without_mirrormaker,
)
from kafka_migration.preflight.scene.scene import SIDES, Scene, asked_once


def _mirror_warnings(scene: Scene) -> Findings:
    return version_warnings(scene.migration, host_facts(scene).get("kafka", "")) if scene.mode.mirrors else ()


@check("mirror", asks={Asked.HOST}, needs=("clusters", "host"), warn=_mirror_warnings)
def mirror(scene: Scene) -> Findings:
    """MirrorMaker on the host supports all settings of the run, runs on its Java, and is safe to use with a login."""
    if not scene.mode.mirrors:
        return ()
    version = host_facts(scene).get("kafka", "")
    engine = engine_of(scene.migration, scene.source, scene.target)
    return (
        *engine.setting_findings(version),
        *java_findings(scene.migration, version, host_facts(scene).get("java", "")),
        *(login_findings(scene.migration, version) if scene.has_login else ()),
    )


# Brokers use this protocol among each other. It is that of their version or of an older one; Kafka 4 has no such
# setting.
PROTOCOL = "inter.broker.protocol.version"
# Clients of Kafka 4 need brokers of 2.1 (KIP-896); older ones work with every broker that this package works with.
_FIRST_STRICT, _OLDEST_BROKER = KafkaVersion(4, 0), KafkaVersion(2, 1)
_NOT_READ = UnknownFact(
    Fact(
        f"whether the brokers are of Kafka {_OLDEST_BROKER.major}.{_OLDEST_BROKER.minor} or newer, as this MirrorMaker "
        "needs",
        "MirrorMaker cannot talk to older brokers and would copy nothing.",
    ),
    NO_DESCRIBE_CONFIGS,
    "Grant DescribeConfigs to the user of the connection, or look at the brokers' version yourself.",
)


def _old_brokers_work(scene: Scene) -> str:
    """Return why old brokers need not be looked for; an unknown version of MirrorMaker has its own finding."""
    if reason := without_mirrormaker(scene):
        return reason
    version = KafkaVersion.of(_mirror_version(scene))
    is_strict = version is not None and version >= _FIRST_STRICT
    return "" if is_strict else f"MirrorMaker of Kafka {_mirror_version(scene)} works with old brokers too"


def _mirror_version(scene: Scene) -> str:
    return host_facts(scene).get("kafka", "")


def _versions_warnings(scene: Scene) -> Findings:
    for side in SIDES:
        if not _brokers(scene, side):
            yield unknown_finding(f"the brokers' settings on the {side}", _NOT_READ)


@check(
    "versions",
    asks=BOTH_AND_HOST,
    needs=("clusters", "host", "mirror"),
    warn=_versions_warnings,
    unless=_old_brokers_work,
)
def versions(scene: Scene) -> Findings:
    """The brokers of both clusters are new enough for the MirrorMaker on the host."""
    for side in SIDES:
        yield from old_broker_findings(side, _brokers(scene, side), _mirror_version(scene))


def old_broker_findings(
    side: str, brokers: Mapping[int, Mapping[str, str]], mirror_version: str, oldest: KafkaVersion = _OLDEST_BROKER
) -> Findings:
    """Name the brokers of a side that are too old for a MirrorMaker of this version, which is of Kafka 4."""
    found = [brokers[broker].get(PROTOCOL, "") for broker in sorted(brokers)]
    old = [text for text in found if (own := KafkaVersion.of(text)) is not None and own < oldest]
    if old:
        needed = f"Kafka {oldest.major}.{oldest.minor}"
        yield Finding(
            Code.BROKERS_TOO_OLD,
            side,
            f"{PROTOCOL} {old[0]} on {len(old)} of {len(brokers)} brokers",
            f"{needed} or newer, which MirrorMaker of Kafka {mirror_version} needs",
            "Set mirror.kafka_home to a Kafka 3.9 release on the MirrorMaker host.",
            happened=f"{len(old)} of {len(brokers)} brokers of the {side} have {PROTOCOL} {old[0]}, but MirrorMaker of "
            f"Kafka {mirror_version} needs brokers of {needed} or newer.",
            matters="MirrorMaker cannot talk to these brokers and would copy nothing.",
        )


@asked_once
def _brokers(scene: Scene, side: Side) -> Mapping[int, Mapping[str, str]]:
    """Return the settings of the brokers; empty if the login may not read them."""
    try:
        return scene.cluster(side).broker_settings(PROTOCOL)
    except Refused:
        return {}
