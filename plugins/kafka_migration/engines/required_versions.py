"""The Kafka versions that support each rendered MirrorMaker setting, and findings for the version on the host.

MirrorMaker silently ignores unknown keys, so a version that would ignore one is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.migration.client_tuning import TUNING_KEYS
from kafka_migration.core.migration.settings import Migration

# In older versions a configuration can read files and open LDAP connections (CVE-2025-27817, CVE-2025-27818).
SAFE_WITH_LOGIN = "3.9.1"
REMEDY = "Run MirrorMaker from a Kafka 3.9 release (mirror.kafka_home); it works with brokers 0.10 or newer."
# The oldest Java that runs MirrorMaker of Kafka 4.
JAVA_OF_KAFKA_4 = 17


class KafkaVersion(NamedTuple):
    """The first three numbers of a Kafka version; further numbers of vendors are ignored."""

    major: int
    minor: int
    patch: int = 0

    @classmethod
    def of(cls, text: str) -> KafkaVersion | None:
        """Parse `3.9.1` or `3.4.1.7.2.18.0-641`; `None` for any other text."""
        match = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", text)
        return cls(int(match[1]), int(match[2]), int(match[3] or 0)) if match else None


# A later minor version of Kafka supports the same settings; a later major version may have lost some.
NEWEST_TESTED = KafkaVersion(4, 2)


@dataclass(frozen=True, slots=True)
class Support:
    """The versions that support a key: `first` and newer; `only` names the setting that needs it."""

    first: str
    reason: str = ""
    only: str | None = None

    def honoured_by(self, version: KafkaVersion) -> bool:
        """Whether this version supports the key."""
        first = KafkaVersion.of(self.first)
        return first is None or version >= first


_SECRETS = "passes secret references to its clients unresolved (KAFKA-14653, KAFKA-17192)"
_CLIENT_SECRETS = "reads secrets from files"
_ALLOWED_PATHS = "reads only the files of this migration"
_PEM = "accepts certificates as text (KIP-651)"
_RENAMED = "supports the class; older versions always use prefixed names"

_EVERY_ENGINE = {
    "-Dorg.apache.kafka.automatic.config.providers": Support(
        "3.8", "prevents a configuration from reading files on the host"
    ),
    "config.providers.dir.param.allowed.paths": Support("3.8", _ALLOWED_PATHS),
}
_LOGIN = {
    "bootstrap.servers": Support("0.10"),
    "client.rack": Support("2.4"),
    "security.protocol": Support("0.10"),
    "sasl.mechanism": Support("0.10"),
    "sasl.jaas.config": Support("0.10.2"),
    "sasl.kerberos.service.name": Support("0.10"),
    "sasl.login.callback.handler.class": Support("3.7", "fetches OAuth tokens with the class of this name"),
    "sasl.oauthbearer.token.endpoint.url": Support("3.1", "fetches OAuth tokens (KIP-768)"),
    "ssl.endpoint.identification.algorithm": Support("0.10"),
    "ssl.key.password": Support("0.10"),
    "ssl.keystore.certificate.chain": Support("2.7", _PEM),
    "ssl.keystore.key": Support("2.7", _PEM),
    "ssl.keystore.type": Support("2.7", _PEM),
    "ssl.truststore.certificates": Support("2.7", _PEM),
    "ssl.truststore.type": Support("2.7", _PEM),
}
_PRODUCER = {
    "acks": Support("0.10"),
    "batch.size": Support("0.10"),
    "enable.idempotence": Support("0.11", "avoids duplicates when a send is retried"),
    "max.request.size": Support("0.10"),
}

# Keys as rendered, with `source` and `target` in place of the aliases.
MIRRORMAKER2_KEYS: Mapping[str, Support] = {
    **_EVERY_ENGINE,
    "clusters": Support("2.4"),
    **{f"{side}.{name}": support for side in ("source", "target") for name, support in _LOGIN.items()},
    "config.providers": Support("3.8.1", _SECRETS),
    "config.providers.dir.class": Support("3.8.1", _SECRETS),
    "source->target.enabled": Support("2.4"),
    "target->source.enabled": Support("2.4"),
    "source->target.topics": Support("2.4"),
    "source->target.groups": Support("2.4"),
    "replication.policy.class": Support("3.0", _RENAMED),
    "tasks.max": Support("2.4"),
    "emit.heartbeats.enabled": Support("2.5", "can disable heartbeats (KAFKA-9360)"),
    "heartbeats.topic.replication.factor": Support("2.4"),
    "offset-syncs.topic.location": Support("3.0", "writes nothing to the source (KIP-716)"),
    "sync.topic.configs.enabled": Support("2.4"),
    "sync.topic.acls.enabled": Support("2.4"),
    "sync.group.offsets.enabled": Support("2.7"),
    "refresh.topics.interval.seconds": Support("2.4"),
    "refresh.groups.interval.seconds": Support("2.4"),
    "emit.checkpoints.interval.seconds": Support("2.4"),
    "replication.factor": Support("2.4"),
    "checkpoints.topic.replication.factor": Support("2.4"),
    "offset-syncs.topic.replication.factor": Support("2.4"),
    "target.group.id": Support("2.4"),
    "target.offset.storage.topic": Support("2.4"),
    "target.config.storage.topic": Support("2.4"),
    "target.status.storage.topic": Support("2.4"),
    "offset.storage.replication.factor": Support("2.4"),
    "config.storage.replication.factor": Support("2.4"),
    "status.storage.replication.factor": Support("2.4"),
    "target.offset.flush.interval.ms": Support("2.4"),
    "target.offset.flush.timeout.ms": Support("2.4"),
    "task.shutdown.graceful.timeout.ms": Support("2.4"),
    "source.consumer.isolation.level": Support("2.4"),
    "source.consumer.auto.offset.reset": Support("2.4"),
    **{f"target.producer.{name}": support for name, support in _PRODUCER.items()},
    "target.exactly.once.source.support": Support("3.5", "copies in transactions (KIP-710)", only="exactly_once"),
    "dedicated.mode.enable.internal.rest": Support("3.5", "copies in transactions (KIP-710)", only="exactly_once"),
    "listeners": Support("3.5", "listens only on this host", only="exactly_once"),
    "target.producer.transaction.timeout.ms": Support("3.5", only="exactly_once"),
}
MIRRORMAKER1_KEYS: Mapping[str, Support] = {
    **_EVERY_ENGINE,
    **_LOGIN,
    **_PRODUCER,
    **{
        f"--{flag}": Support("0.10.2")
        for flag in (
            "consumer.config",
            "producer.config",
            "whitelist",
            "num.streams",
            "offset.commit.interval.ms",
            "abort.on.send.failure",
        )
    },
    "config.providers": Support("2.7", _CLIENT_SECRETS),
    "config.providers.dir.class": Support("2.7", _CLIENT_SECRETS),
    "group.id": Support("0.10"),
    "enable.auto.commit": Support("0.10"),
    "auto.offset.reset": Support("0.10"),
    "isolation.level": Support("0.11", "skips aborted transactions"),
    "exclude.internal.topics": Support("0.10"),
    "session.timeout.ms": Support("0.10"),
    "heartbeat.interval.ms": Support("0.10"),
    "metadata.max.age.ms": Support("0.10"),
    "partition.assignment.strategy": Support("0.10"),
    "max.in.flight.requests.per.connection": Support("0.10"),
    "retries": Support("0.10"),
    "delivery.timeout.ms": Support("2.1", "retries for the configured time"),
    "max.block.ms": Support("0.10"),
}


def used_keys(migration: Migration, table: Mapping[str, Support]) -> dict[str, Support]:
    """Return the rows of a table that apply to this migration, and those of its tuning keys."""
    settings = migration.mirror
    uses = {"exactly_once": settings.exactly_once}
    rows = {key: support for key, support in table.items() if support.only is None or uses[support.only]}
    if settings.topic_names.naming != "identity" and "replication.policy.class" in rows:
        rows["replication.policy.class"] = Support("2.4")
    return {**rows, **{key: Support(TUNING_KEYS[key]) for key in settings.properties if key in TUNING_KEYS}}


def login_findings(migration: Migration, kafka_version: str) -> Iterable[Finding]:
    """Refuse to give a login to a MirrorMaker of an unsafe version; `version_findings` reports an unknown version."""
    version, safe = KafkaVersion.of(kafka_version), KafkaVersion.of(SAFE_WITH_LOGIN)
    if version is not None and safe is not None and version < safe:
        yield Finding(
            Code.MIRROR_KAFKA_TOO_OLD,
            f"{migration.name}.yaml: mirror.kafka_home",
            f"Kafka {kafka_version} on the MirrorMaker host, with connections that have logins",
            f"Kafka {SAFE_WITH_LOGIN} or newer (CVE-2025-27817, CVE-2025-27818)",
            REMEDY,
        )


def version_findings(migration: Migration, kafka_version: str, keys: Mapping[str, Support]) -> Iterable[Finding]:
    """Return one finding per key that MirrorMaker of this version does not support.

    An unknown version is a finding, because unsupported settings cannot be detected then.
    """
    version = KafkaVersion.of(kafka_version)
    subject = f"{migration.name}.yaml: mirror.kafka_home"
    if version is None:
        shown = f"{kafka_version!r} as the version" if kafka_version else "an unknown MirrorMaker version"
        yield Finding(Code.MIRROR_VERSION_UNKNOWN, subject, shown, "the version of a Kafka release", REMEDY)
        return
    if migration.mirror.engine == "mirrormaker1" and version.major >= 4:
        yield Finding(
            Code.MM1_REMOVED,
            subject,
            f"Kafka {kafka_version}, which has no MirrorMaker 1",
            "Kafka before 4.0",
            f"{REMEDY} Or set mirror.engine to mirrormaker2.",
        )
        return
    if version.major > NEWEST_TESTED.major:
        yield _untested(subject, kafka_version)
        return
    for key, support in keys.items():
        if not support.honoured_by(version):
            yield Finding(
                Code.MIRROR_KEY_UNSUPPORTED,
                f"{subject}, {key}",
                f"MirrorMaker of Kafka {kafka_version}, which would ignore or misread {key}",
                f"Kafka {support.first} or newer" + (f", which {support.reason}" if support.reason else ""),
                REMEDY,
            )


def version_warnings(migration: Migration, kafka_version: str) -> Iterable[Finding]:
    """Warn of a later minor version than the newest tested; `version_findings` refuses a later major version."""
    version = KafkaVersion.of(kafka_version)
    if version is not None and version.major == NEWEST_TESTED.major and version.minor > NEWEST_TESTED.minor:
        yield _untested(f"{migration.name}.yaml: mirror.kafka_home", kafka_version)


def _untested(subject: str, kafka_version: str) -> Finding:
    newest = f"{NEWEST_TESTED.major}.{NEWEST_TESTED.minor}"
    return Finding(
        Code.MIRROR_VERSION_UNTESTED,
        subject,
        f"MirrorMaker of Kafka {kafka_version}",
        f"Kafka {newest} or older; {newest} is the newest tested version",
        REMEDY,
    )


def java_findings(migration: Migration, kafka_version: str, java_version: str) -> Iterable[Finding]:
    """Refuse a Java that MirrorMaker of this version cannot run on; an unknown version of either is no finding."""
    version, java = KafkaVersion.of(kafka_version), _java_major(java_version)
    if version is not None and version.major >= 4 and java is not None and java < JAVA_OF_KAFKA_4:
        yield Finding(
            Code.MIRROR_JAVA_TOO_OLD,
            f"{migration.name}.yaml: mirror.java_home",
            f"Java {java_version} for MirrorMaker of Kafka {kafka_version}",
            f"Java {JAVA_OF_KAFKA_4} or newer",
            "Set mirror.java_home to a newer Java on the MirrorMaker host, or run MirrorMaker from a Kafka 3.9 release "
            "(mirror.kafka_home).",
        )


def _java_major(text: str) -> int | None:
    """Parse `17.0.1`, or `1.8.0_392` as 8; `None` for any other text."""
    match = re.match(r"(?:1\.)?(\d+)", text)
    return int(match[1]) if match else None
