"""What differs between Kafka's versions when configurations are handed on."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from kafka_migration.kafka_tables.kafka_keys import kafka_keys, numbers
from kafka_migration.mirrormaker_files.model.lint_finding import minor

CONNECTORS = ("mirror_source", "mirror_checkpoint", "mirror_heartbeat")
# `MirrorClientConfig.CONFIG_DEF` has these besides those of `CLIENT_CONFIG_DEF`, which MirrorMaker hands to clients.
_NOT_OF_CLIENTS = ("replication.policy.", "forwarding.admin.")


class MirrorVersion(NamedTuple):
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
    known = {minor(each): each for each in kafka_keys().versions}
    is_any = re.fullmatch(r"\d{1,4}\.\d{1,4}", minor(version), re.ASCII) is None
    below = [each for each in known if is_any or numbers(each) <= numbers(version)]
    version = below[-1] if below else next(iter(known))

    def names(*roles: str) -> frozenset[str]:
        return frozenset(name for role in roles for name in kafka_keys().names_in(role, known[version]))

    clients = frozenset(name for name in names("mirror_client") if not name.startswith(_NOT_OF_CLIENTS))
    return MirrorVersion(version, clients, names(*CONNECTORS), names("mirror_maker"))
