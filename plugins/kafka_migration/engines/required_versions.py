"""The Kafka version that MirrorMaker on the host must have, and the Java and the brokers that it needs.

MirrorMaker silently ignores a key that it does not know. From the oldest version on, it knows every key that the
engines render and that a migration file may tune: a test compares them with Kafka's own tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.text.shortened import given

REMEDY = "Set mirror.kafka_home to a Kafka 3.9 release on the host; its MirrorMaker works with brokers 0.10 or newer."
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
        match = re.match(r"([0-9]{1,6})\.([0-9]{1,6})(?:\.([0-9]{1,6}))?(?![0-9])", text)
        return cls(int(match[1]), int(match[2]), int(match[3] or 0)) if match else None

    def __str__(self) -> str:
        return ".".join(map(str, self))


# Older versions have not every key, and MirrorMaker 2 of 3.8.0 passes references to secrets on unresolved
# (KAFKA-14653, KAFKA-17192).
OLDEST = KafkaVersion(3, 8, 1)
# In older versions a configuration can read files and open LDAP connections (CVE-2025-27817, CVE-2025-27818).
SAFE_WITH_LOGIN = KafkaVersion(3, 9, 1)
# A later minor version of Kafka supports the same settings; a later major version may have lost some.
NEWEST_TESTED = KafkaVersion(4, 2)


def login_findings(migration: Migration, kafka_version: str) -> Iterable[Finding]:
    """Refuse to give a login to a MirrorMaker of an unsafe version; `version_findings` reports an unknown version."""
    version = KafkaVersion.of(kafka_version)
    if version is not None and version < SAFE_WITH_LOGIN:
        yield Finding(
            Code.MIRROR_KAFKA_TOO_OLD,
            _home(migration),
            f"Kafka {kafka_version} on the MirrorMaker host, with connections that have logins",
            f"Kafka {SAFE_WITH_LOGIN} or newer (CVE-2025-27817, CVE-2025-27818)",
            REMEDY,
            happened=f"MirrorMaker on the host is of Kafka {kafka_version} and would get the login of a connection; "
            f"only Kafka {SAFE_WITH_LOGIN} or newer protects it.",
            matters="In older versions a configuration can read files of the host and open LDAP connections "
            "(CVE-2025-27817, CVE-2025-27818), so the login is not given to this version.",
        )


def version_findings(migration: Migration, kafka_version: str) -> Iterable[Finding]:
    """Refuse a MirrorMaker that is older than `OLDEST`, of a later major version than tested, or of an unknown one."""
    version = KafkaVersion.of(kafka_version)
    if version is None:
        yield _unknown(migration, kafka_version)
    elif migration.mirror.engine == "mirrormaker1" and version.major >= 4:
        yield _removed(migration, kafka_version)
    elif version.major > NEWEST_TESTED.major:
        yield _untested(migration, kafka_version)
    elif version < OLDEST:
        yield _too_old(migration, kafka_version)


def _home(migration: Migration) -> str:
    return f"{migration.name}.yaml: mirror.kafka_home"


def _unknown(migration: Migration, kafka_version: str) -> Finding:
    return Finding(
        Code.MIRROR_VERSION_UNKNOWN,
        _home(migration),
        f"{given(kafka_version)} as the version" if kafka_version else "an unknown MirrorMaker version",
        "the version of a Kafka release",
        REMEDY,
        happened=f"MirrorMaker on the host gives {given(kafka_version)} as its version, which is no release of Kafka."
        if kafka_version
        else "The version of MirrorMaker on the host could not be read.",
        matters="Some versions silently ignore settings that they do not know, so the copy could be incomplete.",
    )


def _removed(migration: Migration, kafka_version: str) -> Finding:
    return Finding(
        Code.MM1_REMOVED,
        _home(migration),
        f"Kafka {kafka_version}, which has no MirrorMaker 1",
        "Kafka before 4.0",
        f"{REMEDY} Or set mirror.engine to mirrormaker2.",
        happened=f"The migration uses MirrorMaker 1, and Kafka {kafka_version} on the host does not contain it.",
        matters="MirrorMaker would not start, so nothing would be copied.",
    )


def _too_old(migration: Migration, kafka_version: str) -> Finding:
    return Finding(
        Code.MIRROR_KEY_UNSUPPORTED,
        _home(migration),
        f"MirrorMaker of Kafka {kafka_version}, which would ignore or misread settings",
        f"Kafka {OLDEST} or newer",
        REMEDY,
        happened=f"MirrorMaker on the host is of Kafka {kafka_version}, which is older than {OLDEST}.",
        matters="This version would ignore or misread settings without a message, for example those that protect "
        "secrets and files on the host.",
    )


def version_warnings(migration: Migration, kafka_version: str) -> Iterable[Finding]:
    """Warn of a later minor version than the newest tested; `version_findings` refuses a later major version."""
    version = KafkaVersion.of(kafka_version)
    if version is not None and version.major == NEWEST_TESTED.major and version.minor > NEWEST_TESTED.minor:
        yield _untested(migration, kafka_version)


def _untested(migration: Migration, kafka_version: str) -> Finding:
    newest = f"{NEWEST_TESTED.major}.{NEWEST_TESTED.minor}"
    return Finding(
        Code.MIRROR_VERSION_UNTESTED,
        _home(migration),
        f"MirrorMaker of Kafka {kafka_version}",
        f"Kafka {newest} or older; {newest} is the newest tested version",
        REMEDY,
        happened=f"MirrorMaker on the host is of Kafka {kafka_version}; the newest tested version is {newest}.",
        matters="A newer version may read settings or store its positions differently, which could change the copy.",
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
            happened=f"The MirrorMaker host has Java {java_version}; MirrorMaker of Kafka {kafka_version} needs Java "
            f"{JAVA_OF_KAFKA_4} or newer.",
            matters="MirrorMaker would not start, so nothing would be copied.",
        )


def _java_major(text: str) -> int | None:
    """Parse `17.0.1`, or `1.8.0_392` as 8; `None` for any other text."""
    match = re.match(r"(?:1\.)?([0-9]{1,6})(?![0-9])", text)
    return int(match[1]) if match else None


# Confluent's own numbers: which minor version of Kafka has its release x.0, by x, and the major version of Kafka.
_OF_CONFLUENT = {5: (2, 0), 6: (2, 6), 7: (3, 0), 8: (4, 0)}
_CONFLUENT = re.compile(r"-(ccs|ce)\b")


def worker_release(version: str) -> KafkaVersion | None:
    """Return the release of Kafka of a worker; `None` if its version is of no known release.

    Confluent's workers say `7.9.1-ccs`, which is Kafka 3.9; their patch says nothing about Kafka's.
    """
    own = KafkaVersion.of(version)
    if own is None or not _CONFLUENT.search(version):
        return own
    major, first = _OF_CONFLUENT.get(own.major, (0, 0))
    return KafkaVersion(major, first + own.minor) if major else None
