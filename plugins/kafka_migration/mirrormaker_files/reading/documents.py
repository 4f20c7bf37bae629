"""JSON and YAML as nodes that know their lines."""

from __future__ import annotations

import json
from collections.abc import Iterator

import yaml

from kafka_migration.core.text.secret_forms import LONGEST_NAME
from kafka_migration.mirrormaker_files.model.limits import MOST_NODES, TooMany, require_few
from kafka_migration.mirrormaker_files.reading.properties import Entry

DEEPEST = 30


class WrongDocument(ValueError):
    """A text is not the document that was expected; the message says why."""


def node_of(text: str, *, is_json: bool) -> yaml.Node:
    """Return the root node of the first document. Raises `WrongDocument`."""
    try:
        if is_json:
            json.loads(text)
            # YAML allows no tabs between values; within strings JSON allows none.
            text = text.replace("\t", " ")
        node = _first(text)
    except yaml.YAMLError as error:
        raise WrongDocument(_reason(error)) from None
    except RecursionError:
        raise WrongDocument(f"more than {DEEPEST} levels") from None
    if node is None:
        raise WrongDocument("the file is empty")
    return node


class _Bounded(yaml.SafeLoader):
    """Composes nodes up to a depth and a number. Aliases are refused, because they can make a small file huge."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = self._nodes = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise WrongDocument("the file has aliases (*name)")
        self._depth, self._nodes = self._depth + 1, self._nodes + 1
        if self._depth > DEEPEST:
            raise WrongDocument(f"more than {DEEPEST} levels")
        if self._nodes > MOST_NODES:
            raise TooMany(self._nodes, MOST_NODES, "names and values")
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


def _first(text: str) -> yaml.Node | None:
    """Return the root node of the first document."""
    loader = _Bounded(text)
    try:
        return loader.get_node() if loader.check_node() else None
    finally:
        loader.dispose()


def _reason(error: yaml.YAMLError) -> str:
    """Return what is wrong and where. The words of the text, which the error quotes, are left out."""
    if not isinstance(error, yaml.MarkedYAMLError) or not error.problem_mark:
        return "a character that YAML does not allow"
    problem = _without_quoted(error.problem or "")
    return f"line {error.problem_mark.line + 1}, column {error.problem_mark.column + 1}: {problem}"


def _without_quoted(problem: str) -> str:
    """Return a text without what stands between its first and its last quote; a single sign remains."""
    for sign in "'\"":
        first, last = problem.find(sign), problem.rfind(sign)
        if last - first > 2:
            problem = f"{problem[:first]}…{problem[last + 1 :]}"
    return problem


def fields(node: yaml.Node | None) -> dict[str, yaml.Node]:
    """Return the fields of a mapping; no fields for anything else."""
    if not isinstance(node, yaml.MappingNode):
        return {}
    return {key.value: value for key, value in node.value if isinstance(key, yaml.ScalarNode)}


def items(node: yaml.Node | None) -> list[yaml.Node]:
    """Return the items of a sequence; no items for anything else."""
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def text_of(node: yaml.Node | None) -> str:
    """Return a scalar as it is written; empty for anything else."""
    return str(node.value) if isinstance(node, yaml.ScalarNode) else ""


def line_of(node: yaml.Node) -> int:
    """Return the number of the line on which a node starts."""
    return int(node.start_mark.line) + 1


def flat(node: yaml.Node | None, prefix: str = "") -> Iterator[Entry]:
    """Yield each scalar below a node, named by its path with dots; a list becomes one value with commas."""
    for name, value in fields(node).items():
        path = f"{prefix}{name}"
        require_few(path, LONGEST_NAME, "characters in the name of a setting")
        if isinstance(value, yaml.ScalarNode):
            yield Entry(line_of(value), path, text_of(value))
        elif isinstance(value, yaml.SequenceNode) and all(isinstance(item, yaml.ScalarNode) for item in value.value):
            yield Entry(line_of(value), path, ",".join(map(text_of, value.value)))
        elif isinstance(value, yaml.SequenceNode):
            for position, item in enumerate(value.value):
                yield from flat(item, f"{path}[{position}].")
        else:
            yield from flat(value, f"{path}.")
