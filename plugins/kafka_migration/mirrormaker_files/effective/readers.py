"""Who reads a MirrorMaker configuration, and what each reader gets, from which line."""

from __future__ import annotations

import re
from collections import ChainMap, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from kafka_migration.kafka_tables.kafka_keys import kafka_keys, numbers
from kafka_migration.mirrormaker_files.model.lint_finding import minor
from kafka_migration.mirrormaker_files.model.mirror_settings import MirrorFile, MirrorSetting

CONNECTORS = ("mirror_source", "mirror_checkpoint", "mirror_heartbeat")
# `MirrorClientConfig.CONFIG_DEF` has these besides those of `CLIENT_CONFIG_DEF`, which MirrorMaker hands to clients.
_NOT_OF_CLIENTS = ("replication.policy.", "forwarding.admin.")


class MirrorVersion(NamedTuple):
    """A version as `major.minor`, with the names that its MirrorMaker hands on, which differ between versions.

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


class Reader(NamedTuple):
    """A part of Kafka that reads a configuration.

    `role` is that of its definition in `kafka_keys`: `connect_worker`, `mirror_source`, `mirror_checkpoint`,
    `mirror_heartbeat`, `connect_source` for what Connect itself reads of such a connector, `topic_filter`,
    `group_filter`, `config_property_filter`, `replication_policy`, `producer`, `consumer`, `admin`, or `mirror_maker`
    for what MirrorMaker's process reads itself. `name` says it in words, such as "the consumer of the source connector
    A->B for records on A". `flow` is `A->B`, and `cluster` the alias of the cluster that a client or worker talks to;
    each may be empty. `duty` says what a client does: `records`, `offset syncs`, `checkpoints`, `heartbeats`, `worker`
    or `topics`; it is empty for other roles.
    """

    role: str
    name: str
    flow: str = ""
    cluster: str = ""
    duty: str = ""


class Given(NamedTuple):
    """A value as a reader gets it. `setting` is its line; without one, MirrorMaker sets the value itself."""

    value: str
    file: str = ""
    setting: MirrorSetting | None = None

    def is_in(self, file: MirrorFile) -> bool:
        """Return whether the value stands in this file."""
        return self.setting is not None and self.file == file.name


class Effective(NamedTuple):
    """What one reader gets, by the key that it reads."""

    reader: Reader
    values: Mapping[str, Given]

    def value(self, key: str, default: str = "") -> str:
        """Return the value that a reader gets for a key, without blanks around it."""
        given = self.values.get(key)
        return given.value.strip() if given else default

    def says(self, key: str, word: str) -> bool:
        """Return whether a reader gets this word for a key, in upper or lower case."""
        return self.value(key).lower() == word

    def given_in(self, file: MirrorFile, key: str, word: str = "") -> Given | None:
        """Return what a reader gets for a key that this file sets; with `word` only if the value is this word."""
        given = self.values.get(key)
        is_meant = not word or self.says(key, word)
        return given if given and given.is_in(file) and is_meant else None


# Without slots, because the indexes are built when they are needed first.
@dataclass(frozen=True)
class Readers:
    """All readers of the files that belong together."""

    all: tuple[Effective, ...]

    def of(self, setting: MirrorSetting) -> tuple[tuple[Effective, str], ...]:
        """Return who gets the value of this very line, each with the key under which it gets it.

        A reader may get a key that it does not know. `uses_of` yields those who know it.
        """
        return tuple(self._each_of(setting, lambda _role, _key: True))

    def uses_of(self, setting: MirrorSetting) -> Iterator[tuple[Effective, str]]:
        """Yield who gets the value of this line under a key that is defined for the reader's role.

        A worker may have thousands of equal readers, so take only as many as you need.
        """
        return self._each_of(setting, lambda role, key: kafka_keys().get(role, key) is not None)

    def at(self, *roles: str, flow: str | None = None, duty: str | None = None) -> Iterator[Effective]:
        """Yield the readers of these roles, of a flow and with a duty if they are named."""
        places = sorted(place for role in roles for place in self._by_role.get((role, flow), ()))
        return (self.all[place] for place in places if duty in {None, self.all[place].reader.duty})

    @cached_property
    def _by_role(self) -> dict[tuple[str, str | None], list[int]]:
        """The places of the readers in `all`, by role and flow, and by role."""
        found = defaultdict[tuple[str, str | None], list[int]](list)
        for place, each in enumerate(self.all):
            found[each.reader.role, each.reader.flow].append(place)
            found[each.reader.role, None].append(place)
        return found

    def _each_of(self, setting: MirrorSetting, is_meant: Callable[[str, str], bool]) -> Iterator[tuple[Effective, str]]:
        seen = set[tuple[int, str]]()
        for layer, key in self._places.get(id(setting), ()):
            for role, users in self._users[layer].items():
                for each in users if is_meant(role, key) else ():
                    if (id(each), key) not in seen and each.values[key].setting is setting:
                        seen.add((id(each), key))
                        yield each, key

    @cached_property
    def _users(self) -> dict[int, dict[str, list[Effective]]]:
        """The readers of each layer, by its identity and their role."""
        found = defaultdict[int, dict[str, list[Effective]]](lambda: defaultdict(list))
        for each in self.all:
            for layer in _layers(each):
                found[id(layer)][each.reader.role].append(each)
        return found

    @cached_property
    def _places(self) -> dict[int, list[tuple[int, str]]]:
        """The layers and keys with the value of each line, by its identity."""
        found = defaultdict[int, list[tuple[int, str]]](list)
        for layer in {id(layer): layer for each in self.all for layer in _layers(each)}.values():
            for key, given in layer.items():
                if given.setting is not None:
                    found[id(given.setting)].append((id(layer), key))
        return found


def _layers(each: Effective) -> Sequence[Mapping[str, Given]]:
    """Return the maps of which a configuration is made; readers share them."""
    return each.values.maps if isinstance(each.values, ChainMap) else (each.values,)
