"""The values of lines in MirrorMaker's files: as they were meant, and what they give to a migration file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self

from kafka_migration.mirrormaker_files.model.lint_finding import may_be_secret
from kafka_migration.mirrormaker_files.model.mirror_settings import COMMENT, MirrorSetting


@dataclass(frozen=True, slots=True)
class LineValues:
    """What one line gives, or all lines together; `None` where none gives a value.

    `topics` and `groups` are lists as MirrorMaker has them. `mirror_group` is the group of a MirrorMaker 1. `workers`
    are fields of `mirror.connect` that the file of a Connect worker gives. `secrets` are references, by side and key.
    """

    topics: str | None = None
    topics_excluded: str | None = None
    groups: str | None = None
    groups_excluded: str | None = None
    mirror_group: str | None = None
    isolation_level: str | None = None
    replication_factor: int | None = None
    tasks: int | None = None
    heap_mb: int | None = None
    exactly_once: bool | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    workers: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Iterable[Self]) -> Self:
        """Return the values of several lines together; of two lines with one value, the later one counts."""
        found: dict[str, Any] = {}
        for each in (each for each in given if each is not NOTHING):
            own = {part.name: getattr(each, part.name) for part in fields(each)}
            joined = {name: {**found.get(name, {}), **own[name]} for name in _JOINED}
            found |= {name: value for name, value in own.items() if value is not None} | joined
        return cls(**found)


NOTHING = LineValues()
# Of these, several lines give one value each.
_JOINED = ("properties", "workers", "secrets")


def plain(setting: MirrorSetting) -> str:
    """Return the value as it was meant: without a comment, quotes around it, and blanks, which `lint` reports."""
    return value_with_blanks(setting).strip()


def value_with_blanks(setting: MirrorSetting) -> str:
    """Return the value without a comment and quotes around it; other blanks remain."""
    if may_be_secret(setting):
        return setting.value
    value, *comment = COMMENT.split(setting.value, maxsplit=1)
    bare = value.strip()
    if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'":
        return bare[1:-1]
    return bare if comment else value


def says_more(setting: MirrorSetting) -> bool:
    """Return whether MirrorMaker reads more than was meant: a comment or quotes."""
    return plain(setting) != setting.value.strip()
