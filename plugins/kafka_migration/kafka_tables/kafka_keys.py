"""Kafka's configuration keys by the part of Kafka that reads them, from `kafka_keys.json`.

`make kafka-keys` writes the file from the ConfigDefs in Kafka's jars.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar

from kafka_migration.kafka_tables.accepted import AcceptedValues, Wrong, accepted_of, nearest, wrong_value

# How similar two names must be, from 0 to 1, for one to be a misspelling of the other.
SIMILAR = 0.87
# What the file has of one key: `type`, `in` (the first and the last version of each range), `defaults` and `accepted`.
Row: TypeAlias = Mapping[str, Any]
Change = TypeVar("Change", str, str | None)


class KafkaKey(NamedTuple):
    """A key, its type in Kafka's words (`INT`, `LIST`, …), and the versions that have it.

    `defaults` gives the default of each version that changed it; `None` stands for no default. `accepted` gives what
    the validator accepts in the same way, as `accepted_of` reads it.
    """

    name: str
    role: str
    type: str
    versions: tuple[str, ...]
    defaults: Mapping[str, str | None]
    accepted: Mapping[str, str]

    def wrong_value(self, value: str, version: str = "") -> Wrong | None:
        """Return why the key refuses a value in a version `major.minor`; without one, if all versions refuse it."""
        reasons = [wrong_value(self.type, accepted, value) for accepted in self._definitions(version)]
        return reasons[-1] if all(reasons) else None

    def default(self, version: str = "") -> str | None:
        """Return the default in a version; without one, that of the last version that has the key."""
        return list(_until(self.defaults, version).values())[-1]

    def _definitions(self, version: str) -> list[AcceptedValues]:
        """Return what the validators accept. Versions before the first one for words refuse other words later."""
        if not version:
            return [accepted_of(text) for text in filter(None, self.accepted.values())] or [AcceptedValues()]
        text = next(reversed(_until(self.accepted, version).values()), "")
        words = next((each for each in self.accepted.values() if each.startswith("words=")), "")
        return [accepted_of(text or words)]


def _until(changes: Mapping[str, Change], version: str) -> dict[str, Change]:
    """Return the changes up to a version; all of them without one, and at least the first."""
    first = next(iter(changes), "")
    is_past = [each == first or not version or numbers(each) <= numbers(version) for each in changes]
    return {each: changes[each] for each, is_there in zip(changes, is_past, strict=True) if is_there}


@cache
def numbers(version: str) -> tuple[int, ...]:
    """Return `major` and `minor` of a version as numbers."""
    return tuple(int(part) for part in version.split(".")[:2])


class KafkaKeys:
    """The keys of all roles. A key is made when it is asked for: a file needs few of them."""

    def __init__(self, versions: Collection[str], rows: Mapping[str, Mapping[str, Row]]) -> None:
        self.versions = tuple(versions)
        self._rows = rows
        self._made = dict[tuple[str, str], KafkaKey]()

    def get(self, role: str, name: str) -> KafkaKey | None:
        """Return the key of a role; `None` if no version has it."""
        return self._key(role, name) if name in self._rows.get(role, {}) else None

    def of(self, role: str) -> Collection[KafkaKey]:
        """Return all keys of a role."""
        return [self._key(role, name) for name in self._rows.get(role, {})]

    def names_in(self, role: str, version: str) -> set[str]:
        """Return the names of the keys of a role that one of `versions` has."""
        places = {each: place for place, each in enumerate(self.versions)}
        rows = self._rows.get(role, {}).items()
        return {
            name
            for name, row in rows
            if any(places[first] <= places[version] <= places[last] for first, last in row["in"])
        }

    def _key(self, role: str, name: str) -> KafkaKey:
        if (role, name) not in self._made:
            self._made[role, name] = _key(role, name, self._rows[role][name], self.versions)
        return self._made[role, name]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of all keys."""
        return tuple(sorted({name for rows in self._rows.values() for name in rows}))

    def roles_of(self, name: str) -> tuple[str, ...]:
        """Return the roles that have a key of this name."""
        return tuple(role for role, rows in self._rows.items() if name in rows)

    def named(self, name: str) -> tuple[KafkaKey, ...]:
        """Return the keys of this name in all roles."""
        return tuple(self._key(role, name) for role in self.roles_of(name))

    def types_of(self, name: str) -> frozenset[str]:
        """Return the types of the keys of this name in all roles; empty for an unknown name."""
        return frozenset(key.type for key in self.named(name))

    def nearest(self, name: str, roles: Collection[str]) -> str | None:
        """Return the name of the most similar key of these roles, upper and lower case alike."""
        names = {key.lower(): key for role in roles for key in self._rows.get(role, {})}
        return names.get(nearest(name.lower(), names, SIMILAR))


@cache
def kafka_keys() -> KafkaKeys:
    """Return the keys of the package's table."""
    document = json.loads(Path(__file__).with_name("kafka_keys.json").read_text("utf-8"))
    return KafkaKeys(document["versions"], document["roles"])


def _key(role: str, name: str, row: Row, versions: tuple[str, ...]) -> KafkaKey:
    ranges = [versions[versions.index(first) : versions.index(last) + 1] for first, last in row["in"]]
    there = tuple(version for each in ranges for version in each)
    return KafkaKey(name, role, row["type"], there, row["defaults"], row.get("accepted", {}))
