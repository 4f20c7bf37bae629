"""Who reads a MirrorMaker configuration, and what each reader gets, from which line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from kafka_migration.mirrormaker_files.model.mirror_settings import MirrorSetting


@dataclass(frozen=True, slots=True)
class Reader:
    """A part of Kafka that reads a configuration.

    `role` is that of its definition in `kafka_keys`: `connect_worker`, `mirror_source`, `mirror_checkpoint`,
    `mirror_heartbeat`, `topic_filter`, `group_filter`, `config_property_filter`, `producer`, `consumer`, `admin`, or
    `mirror_maker` for what MirrorMaker's process reads itself. `name` says it in words, such as "consumer of the
    source connector A->B". `flow` is `A->B`, and `cluster` the alias of the cluster that a client or worker talks to;
    each may be empty. `duty` says what a client does: `records`, `offset syncs`, `checkpoints`, `heartbeats`,
    `worker` or `topics`; it is empty for other roles.
    """

    role: str
    name: str
    flow: str = ""
    cluster: str = ""
    duty: str = ""


@dataclass(frozen=True, slots=True)
class Given:
    """A value as a reader gets it. `setting` is its line; without one, MirrorMaker sets the value itself."""

    value: str
    file: str = ""
    setting: MirrorSetting | None = None


@dataclass(frozen=True, slots=True)
class Effective:
    """What one reader gets, by the key that it reads."""

    reader: Reader
    values: Mapping[str, Given]


# Without slots, because the index is built when it is needed first.
@dataclass(frozen=True)
class Readers:
    """All readers of the files that belong together."""

    all: tuple[Effective, ...]

    def of(self, setting: MirrorSetting) -> tuple[tuple[Effective, str], ...]:
        """Return who gets the value of this very line, each with the key under which it gets it."""
        return tuple(self._of.get(id(setting), ()))

    def at(self, *roles: str, flow: str | None = None, duty: str | None = None) -> Iterator[Effective]:
        """Yield the readers of these roles, of a flow and with a duty if they are named."""
        for each in self.all:
            is_meant = flow in {None, each.reader.flow} and duty in {None, each.reader.duty}
            if each.reader.role in roles and is_meant:
                yield each

    @cached_property
    def _of(self) -> dict[int, list[tuple[Effective, str]]]:
        found = defaultdict[int, list[tuple[Effective, str]]](list)
        for each in self.all:
            for key, given in each.values.items():
                if given.setting is not None:
                    found[id(given.setting)].append((each, key))
        return found
