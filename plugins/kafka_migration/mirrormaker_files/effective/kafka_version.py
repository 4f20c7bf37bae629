"""What differs between Kafka's versions when configurations are handed on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from kafka_migration.kafka_tables.kafka_keys import kafka_keys, numbers
from kafka_migration.mirrormaker_files.model.lint_finding import minor

CONNECTORS = ("mirror_source", "mirror_checkpoint", "mirror_heartbeat")
# `MirrorClientConfig.CONFIG_DEF` has these besides those of `CLIENT_CONFIG_DEF`, which MirrorMaker hands to clients.
_NOT_OF_CLIENTS = ("replication.policy.", "forwarding.admin.")


@dataclass(frozen=True, slots=True)
class MirrorVersion:
    """A version as `major.minor`, with the names that its MirrorMaker hands on.

    `client_names` are those of `MirrorClientConfig.CLIENT_CONFIG_DEF`, `connector_names` those of
    `MirrorMakerConfig.allConfigNames`, `process_names` those of `MirrorMakerConfig` itself.
    """

    version: str
    client_names: frozenset[str]
    connector_names: frozenset[str]
    process_names: frozenset[str]

    def is_at_least(self, version: str) -> bool:
        """Return whether this is that version or a later one."""
        return numbers(self.version) >= numbers(version)


@cache
def kafka_version(version: str = "") -> MirrorVersion:
    """Return a version; for one that the tables do not have the nearest below or the first, for none the latest."""
    known = [minor(each) for each in kafka_keys().versions]
    is_any = re.fullmatch(r"\d{1,4}\.\d{1,4}", minor(version), re.ASCII) is None
    below = [each for each in known if is_any or numbers(each) <= numbers(version)]
    version = below[-1] if below else known[0]
    clients = {name for name in _names("mirror_client", version) if not name.startswith(_NOT_OF_CLIENTS)}
    connectors = {name for role in CONNECTORS for name in _names(role, version)}
    process = frozenset(_names("mirror_maker", version))
    return MirrorVersion(version, frozenset(clients), frozenset(connectors), process)


def _names(role: str, version: str) -> set[str]:
    return {key.name for key in kafka_keys().of(role) if any(minor(each) == version for each in key.versions)}
