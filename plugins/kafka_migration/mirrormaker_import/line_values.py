"""The values that the lines of MirrorMaker's files give to a migration file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class LineValues:
    """What one line gives, or all lines together; `None` where none gives a value.

    `topics` and `groups` are lists as MirrorMaker has them. `mirror_group` is the group of a MirrorMaker 1.
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

    @classmethod
    def of(cls, given: Iterable[Self]) -> Self:
        """Return the values of several lines together; of two lines with one value, the later one counts."""
        found: dict[str, Any] = {}
        for each in (each for each in given if each is not NOTHING):
            own = {part.name: getattr(each, part.name) for part in fields(each)}
            properties = {**found.get("properties", {}), **each.properties}
            found |= {name: value for name, value in own.items() if value is not None} | {"properties": properties}
        return cls(**found)


NOTHING = LineValues()
