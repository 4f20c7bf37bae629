"""Kafka's configuration keys by the part of Kafka that reads them, from `kafka_keys.json`.

`make kafka-keys` writes the file from the ConfigDefs in Kafka's jars.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any

# How similar two names must be, from 0 to 1, for one to be a misspelling of the other.
SIMILAR = 0.87


@dataclass(frozen=True, slots=True)
class KafkaKey:
    """A key, its type in Kafka's words (`INT`, `LIST`, …), and the versions that have it.

    `defaults` gives the default of each version that changed it; `None` stands for no default.
    """

    name: str
    role: str
    type: str
    versions: tuple[str, ...]
    defaults: Mapping[str, str | None]


class KafkaKeys:
    """The keys of all roles."""

    def __init__(self, versions: Collection[str], keys: Mapping[str, Mapping[str, KafkaKey]]) -> None:
        self.versions = tuple(versions)
        self._keys = keys

    def get(self, role: str, name: str) -> KafkaKey | None:
        """Return the key of a role; `None` if no version has it."""
        return self._keys.get(role, {}).get(name)

    def of(self, role: str) -> Collection[KafkaKey]:
        """Return all keys of a role."""
        return self._keys.get(role, {}).values()

    def roles_of(self, name: str) -> tuple[str, ...]:
        """Return the roles that have a key of this name."""
        return tuple(role for role, keys in self._keys.items() if name in keys)

    def named(self, name: str) -> tuple[KafkaKey, ...]:
        """Return the keys of this name in all roles."""
        return tuple(keys[name] for keys in self._keys.values() if name in keys)

    def types_of(self, name: str) -> frozenset[str]:
        """Return the types of the keys of this name in all roles; empty for an unknown name."""
        return frozenset(keys[name].type for keys in self._keys.values() if name in keys)

    def nearest(self, name: str, roles: Collection[str]) -> str | None:
        """Return the name of the most similar key of these roles, upper and lower case alike."""
        names = {key.lower(): key for role in roles for key in self._keys.get(role, {})}
        found = get_close_matches(name.lower(), names, 1, SIMILAR)
        return names[found[0]] if found else None


@cache
def kafka_keys() -> KafkaKeys:
    """Return the keys of the package's table."""
    document: dict[str, Any] = json.loads(files(__package__).joinpath("kafka_keys.json").read_text("utf-8"))
    versions = tuple(document["versions"])
    roles = document["roles"].items()
    keys = {role: {name: _key(role, name, row, versions) for name, row in of.items()} for role, of in roles}
    return KafkaKeys(versions, keys)


def _key(role: str, name: str, row: Mapping[str, Any], versions: tuple[str, ...]) -> KafkaKey:
    ranges = [versions[versions.index(first) : versions.index(last) + 1] for first, last in row["in"]]
    there = tuple(version for each in ranges for version in each)
    return KafkaKey(name, role, row["type"], there, row["defaults"])
