"""Whether the brokers are new enough for the MirrorMaker on the host."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.engines.required_versions import KafkaVersion

# Brokers use this protocol among each other. It is that of their version or of an older one; Kafka 4 has no such
# setting.
PROTOCOL = "inter.broker.protocol.version"
# Clients of Kafka 4 need brokers of 2.1 (KIP-896); older ones work with every broker that this package works with.
_FIRST_STRICT, _OLDEST_BROKER = KafkaVersion(4, 0), KafkaVersion(2, 1)


def needs_new_brokers(mirror_version: str) -> bool:
    """Return whether a MirrorMaker of this version refuses old brokers; an unknown version has its own finding."""
    version = KafkaVersion.of(mirror_version)
    return version is not None and version >= _FIRST_STRICT


def old_broker_findings(
    side: str, brokers: Mapping[int, Mapping[str, str]], mirror_version: str, oldest: KafkaVersion = _OLDEST_BROKER
) -> Iterator[Finding]:
    """Name the brokers of a side that are too old for a MirrorMaker of this version."""
    found = {broker: settings.get(PROTOCOL, "") for broker, settings in brokers.items()}
    old = {b: text for b, text in sorted(found.items()) if (own := KafkaVersion.of(text)) is not None and own < oldest}
    if old and needs_new_brokers(mirror_version):
        yield Finding(
            Code.BROKERS_TOO_OLD,
            side,
            f"{PROTOCOL} {next(iter(old.values()))} on {len(old)} of {len(brokers)} brokers",
            f"Kafka {oldest.major}.{oldest.minor} or newer, which MirrorMaker of Kafka {mirror_version} needs",
            "Run MirrorMaker from a Kafka 3.9 release (mirror.kafka_home).",
            happened=f"{len(old)} of {len(brokers)} brokers of the {side} have {PROTOCOL} {next(iter(old.values()))}; "
            f"MirrorMaker of Kafka {mirror_version} needs Kafka {oldest.major}.{oldest.minor} or newer.",
            matters="MirrorMaker could not connect to these brokers, so it would copy nothing.",
        )
