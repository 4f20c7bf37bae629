"""What `lint --effective` shows: for each reader the keys that it knows, with value and line, without secrets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.text.shortened import some
from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from kafka_migration.mirrormaker_files.effective.readers import Effective, Given, Readers
from kafka_migration.mirrormaker_files.model.lint_finding import (
    name_of,
    quoted,
    shown_key,
    value_as_read,
    value_of_kafka,
)
from kafka_migration.mirrormaker_files.model.mirror_settings import MirrorFile, MirrorSetting, Place
from kafka_migration.mirrormaker_files.model.readers_of_keys import is_free

BY_MIRRORMAKER = "set by MirrorMaker"
# Readers whose keys no table has.
_ALL_KEYS = frozenset({"mirror_maker", "replication_policy"})
# Places of what is no key of Kafka.
_OTHER_PLACES = frozenset({Place.FIELD, Place.OPTION})


@dataclass(frozen=True, slots=True)
class ShownValue(Document):
    """A key with its value as the reader gets it, or without it if it may be a secret.

    A line of 0 means that MirrorMaker, Connect or Strimzi's operator sets the value.
    """

    key: str
    value: str
    file: str = ""
    line: int = 0

    @property
    def place(self) -> str:
        """Where the value comes from."""
        return f"{self.file}:{self.line}" if self.line else BY_MIRRORMAKER


@dataclass(frozen=True, slots=True)
class ShownReaders(Document):
    """Readers that get the same."""

    readers: tuple[str, ...]
    role: str
    values: tuple[ShownValue, ...]

    def lines(self) -> Iterator[str]:
        """Yield the readers, and one line for each key."""
        yield some(self.readers, 5)
        width = max((len(shown.key) for shown in self.values), default=0)
        yield from (f"  {shown.key:{width}} = {shown.value}  ({shown.place})" for shown in self.values)


@dataclass(frozen=True, slots=True)
class ShownLine(Document):
    """A line that no part of MirrorMaker reads."""

    file: str
    line: int
    name: str


@dataclass(frozen=True, slots=True)
class EffectiveAnswer(Document):
    """What each part of MirrorMaker gets, the lines that none reads, and the files that cannot be read."""

    schema: int
    kafka_version: str | None
    effective: tuple[ShownReaders, ...]
    unread: tuple[ShownLine, ...]
    refused: tuple[Finding, ...]

    def lines(self) -> Iterator[str]:
        """Yield the keys of each reader, then the lines that nothing reads."""
        for each in self.effective:
            yield from (*each.lines(), "")
        if self.unread:
            yield "no part of MirrorMaker reads"
            yield from (f"  {shown.name}  ({shown.file}:{shown.line})" for shown in self.unread)


def shown_readers(readers: Readers) -> Iterator[ShownReaders]:
    """Yield what the readers get, those with equal values together."""
    found = defaultdict[tuple[str, tuple[ShownValue, ...]], list[str]](list)
    for each in readers.all:
        found[each.reader.role, tuple(_values(each))].append(quoted(each.reader.name))
    return (ShownReaders(tuple(names), role, values) for (role, values), names in found.items())


def shown_unread(files: Sequence[MirrorFile], readers: Readers) -> Iterator[ShownLine]:
    """Yield the lines that no reader knows, without those that a plug-in may read."""
    for file in files:
        for each in file.settings:
            if each.place not in _OTHER_PLACES and not is_free(each) and not _is_read(each, readers):
                yield ShownLine(file.name, each.line, name_of(each))


def _is_read(setting: MirrorSetting, readers: Readers) -> bool:
    if next(readers.uses_of(setting), None) is not None:
        return True
    return any(each.reader.role in _ALL_KEYS for each, _ in readers.of(setting))


def _values(each: Effective) -> Iterator[ShownValue]:
    keys, role = kafka_keys(), each.reader.role
    for key, given in sorted(each.values.items()):
        if role in _ALL_KEYS or keys.get(role, key) or (given.setting is not None and is_free(given.setting)):
            yield _value(key, given)


def _value(key: str, given: Given) -> ShownValue:
    if given.setting is None:
        return ShownValue(shown_key(key), value_of_kafka(given.value))
    return ShownValue(shown_key(key), value_as_read(given.setting, given.value), given.file, given.setting.line)
