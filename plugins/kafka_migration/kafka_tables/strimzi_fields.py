"""The fields of Strimzi's resources by kind and API version, from `strimzi_fields.json`.

`python -m sandbox.strimzi_fields` writes the file from the definitions of all releases. It has what all releases with
an API version have in common: a field is unknown, required or limited only if it is so in all of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from kafka_migration.kafka_tables.accepted import nearest

# How similar two names must be, from 0 to 1, for one to be a misspelling of the other.
_SIMILAR = 0.7
_LONGEST = 1_000
_GROUP = "kafka.strimzi.io/"


# Without slots, because the parts are made when they are needed first.
@dataclass(frozen=True)
class FieldNode:
    """The definition of a field.

    `type` is empty if any value is right. `fields` is `None` if the definition names none, so that any name is right.
    """

    document: Mapping[str, Any]
    nodes: tuple[Mapping[str, Any], ...]

    @property
    def type(self) -> str:
        """The type in the words of OpenAPI, or `intOrString`."""
        return str(self.document.get("type", ""))

    @cached_property
    def fields(self) -> Mapping[str, FieldNode] | None:
        """The fields of an object."""
        found = self.document.get("fields")
        return (
            None if found is None else {name: FieldNode(self.nodes[place], self.nodes) for name, place in found.items()}
        )

    @cached_property
    def items(self) -> FieldNode:
        """The items of a list."""
        place = self.document.get("items")
        return FieldNode({} if place is None else self.nodes[place], self.nodes)

    @property
    def required(self) -> tuple[str, ...]:
        """The fields that must be there."""
        return tuple(self.document.get("required", ()))

    @property
    def words(self) -> tuple[str, ...]:
        """The words that are allowed; empty for any."""
        return tuple(map(str, self.document.get("enum", ())))

    def limit(self, value: int) -> str:
        """Return the limit that a number does not keep, in words; empty if it keeps all."""
        least, most = self.document.get("minimum"), self.document.get("maximum")
        if least is not None and value < least:
            return f"{least} or more"
        return f"{most} or less" if most is not None and value > most else ""

    @property
    def pattern(self) -> str:
        """The pattern of a text; empty if there is none."""
        return str(self.document.get("pattern", ""))

    def fits(self, text: str) -> bool:
        """Return whether a text fits the pattern; a long one is not compared."""
        pattern = self.pattern
        return len(text) > _LONGEST or re.search(pattern, text) is not None

    def nearest(self, name: str) -> str:
        """Return the field of which a name is probably a misspelling; empty if there is none."""
        names = {each.lower(): each for each in self.fields or ()}
        return names.get(nearest(name.lower().replace(".", ""), names, _SIMILAR) if len(name) <= 100 else "", "")

    def paths(self, name: str, prefix: str = "") -> Iterator[str]:
        """Yield the paths of all fields of a name, but for those of `template`."""
        here = self.items if self.type == "array" else self
        for each, node in (here.fields or {}).items():
            path = f"{prefix}{each}"
            if each == name:
                yield path
            if each != "template":
                yield from node.paths(name, f"{path}.")


class StrimziFields:
    """The definitions of all kinds."""

    def __init__(self, kinds: Mapping[str, Mapping[str, int]], nodes: tuple[Mapping[str, Any], ...]) -> None:
        self._kinds, self._nodes = kinds, nodes

    def versions(self, kind: str) -> tuple[str, ...]:
        """Return the API versions of a kind."""
        return tuple(self._kinds.get(kind, ()))

    def spec(self, kind: str, api_version: str) -> FieldNode | None:
        """Return the definition of `spec`; `None` for another group, kind or version. `api_version` is as in a file."""
        place = self._kinds.get(kind, {}).get(api_version.removeprefix(_GROUP))
        is_there = api_version.startswith(_GROUP) and place is not None
        return FieldNode(self._nodes[place], self._nodes) if is_there and place is not None else None

    def is_unknown_version(self, kind: str, api_version: str) -> bool:
        """Return whether Strimzi's group has the kind, but not in this version."""
        is_of_strimzi = api_version.startswith(_GROUP) and kind in self._kinds
        return is_of_strimzi and self.spec(kind, api_version) is None

    def versions_with(self, kind: str, path: str) -> tuple[str, ...]:
        """Return the API versions that have a field."""
        return tuple(each for each in self.versions(kind) if self._has(kind, each, path.split(".")))

    def _has(self, kind: str, version: str, path: list[str]) -> bool:
        node: FieldNode | None = self.spec(kind, f"{_GROUP}{version}")
        for name in path:
            node = node.items if node and node.type == "array" else node
            node = (node.fields or {}).get(name) if node else None
        return node is not None


@cache
def strimzi_fields() -> StrimziFields:
    """Return the definitions of the package's table."""
    document = json.loads(Path(__file__).with_name("strimzi_fields.json").read_text("utf-8"))
    return StrimziFields(document["kinds"], tuple(document["nodes"]))
