"""JSON and YAML as nodes that know their lines."""

from __future__ import annotations

import json
from collections.abc import Iterator

import yaml

from kafka_migration.core.text.regex import regex
from kafka_migration.core.text.secret_forms import LONGEST_NAME
from kafka_migration.mirrormaker_files.formats.properties_reader import Entry
from kafka_migration.mirrormaker_files.model.lint_limits import MOST_NODES, TooMany, require_few
from kafka_migration.mirrormaker_files.model.remarks import Oddity, Remark, WrongDocument

DEEPEST = 50
# A line with a key and a text, and a quote within the text that has no backslash.
_PAIR = regex(r'([ \t{]{0,200}"[\w.>-]{1,300}"[ \t]{0,20}:[ \t]{0,20}")(.{0,5000})("[ \t]{0,20}[,}]{0,5}[ \t\r]{0,20})')
_QUOTE = regex(r'(?<!\\)"')
_MOST_REPAIRED = 20
_MERGE, _NULL = "tag:yaml.org,2002:merge", "tag:yaml.org,2002:null"


def json_node(text: str) -> yaml.Node:
    """Return the root node of a JSON document. Raises `WrongDocument`."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        raise WrongDocument(f"{error.msg}, column {error.colno}", error.lineno) from None
    except (RecursionError, ValueError):
        raise WrongDocument(f"more than {DEEPEST} levels, or a huge number") from None
    # YAML allows no tabs between values; within strings JSON allows none.
    return next(iter(nodes_of(text.replace("\t", " "))))


def repaired_json(text: str) -> tuple[str, list[Remark]]:
    """Return a JSON text as it was meant, with a remark for each line that no parser of JSON accepts.

    Quotes within a text that have no backslash get one, and a comma after the last item goes. A text that is wrong in
    another way is returned as it is, without remarks.
    """
    lines, remarks = text.split("\n"), list[Remark]()
    while len(remarks) < _MOST_REPAIRED:
        try:
            json.loads("\n".join(lines))
        except json.JSONDecodeError as error:
            place = _repaired(lines, error.lineno - 1)
            if place is None:
                break
            remarks.append(Remark(Oddity.BAD_JSON, place + 1))
        except (RecursionError, ValueError):
            break
        else:
            return "\n".join(lines), remarks
    return text, []


def _repaired(lines: list[str], place: int) -> int | None:
    """Correct one line, at a mistake or before it, and return its place; `None` if that is not known."""
    before = next((each for each in range(place - 1, -1, -1) if lines[each].strip()), place)
    if match := _PAIR.fullmatch(lines[place]):
        inner = _QUOTE.sub(r'\\"', match[2])
        if inner != match[2]:
            lines[place] = match[1] + inner + match[3]
            return place
    if lines[before].rstrip().endswith(",") and lines[place].lstrip()[:1] in {"}", "]"}:
        lines[before] = lines[before].rstrip().removesuffix(",")
        return before
    return None


def nodes_of(text: str) -> list[yaml.Node]:
    """Return the root nodes of all documents of a YAML text. Raises `WrongDocument`."""
    try:
        nodes = list(_composed(text))
    except yaml.YAMLError as error:
        raise _reason(error) from None
    except RecursionError:
        raise WrongDocument(f"more than {DEEPEST} levels") from None
    sizes = dict[int, tuple[int, int] | None]()
    if sum(_size(node, 0, sizes)[0] for node in nodes) > MOST_NODES:
        raise WrongDocument(f"aliases (*name) that make more than {MOST_NODES:,} names and values")
    return nodes


class _Bounded(yaml.SafeLoader):
    """Composes nodes up to a depth and a number."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = self._nodes = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        self._depth, self._nodes = self._depth + 1, self._nodes + 1
        if self._depth > DEEPEST:
            raise WrongDocument(f"more than {DEEPEST} levels")
        if self._nodes > MOST_NODES:
            raise TooMany(self._nodes, MOST_NODES, "names and values")
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


def _composed(text: str) -> Iterator[yaml.Node]:
    loader = _Bounded(text)
    try:
        while loader.check_node():
            if (node := loader.get_node()) is not None:
                yield node
    finally:
        loader.dispose()


def _size(node: yaml.Node, depth: int, known: dict[int, tuple[int, int] | None]) -> tuple[int, int]:
    """Return how many nodes, and how many levels, there are if each alias is replaced by what it names."""
    if id(node) not in known:
        known[id(node)] = None
        parts = node.value if isinstance(node, yaml.CollectionNode) else []
        children = [each for part in parts for each in (part if isinstance(part, tuple) else (part,))]
        sizes = [_size(child, depth + 1, known) for child in children] if depth <= DEEPEST else []
        known[id(node)] = 1 + sum(size for size, _ in sizes), 1 + max((levels for _, levels in sizes), default=0)
    size = known[id(node)]
    if size is None:
        raise WrongDocument("an alias (*name) within what it names", line_of(node))
    if depth + size[1] > DEEPEST + 1:
        raise WrongDocument(f"more than {DEEPEST} levels", line_of(node))
    return size


def _reason(error: yaml.YAMLError) -> WrongDocument:
    """Return what is wrong and where. The words of the text, which the error quotes, are left out."""
    if not isinstance(error, yaml.MarkedYAMLError) or not error.problem_mark:
        return WrongDocument("a character that YAML does not allow")
    found = f"{_without_quoted(error.problem or 'wrong YAML')}, column {error.problem_mark.column + 1}"
    return WrongDocument(found, error.problem_mark.line + 1)


def _without_quoted(problem: str) -> str:
    """Return a text without what stands between its first and its last quote; a single sign remains."""
    for sign in "'\"":
        first, last = problem.find(sign), problem.rfind(sign)
        if last - first > 2:
            problem = f"{problem[:first]}…{problem[last + 1 :]}"
    return problem


def fields(node: yaml.Node | None) -> dict[str, yaml.Node]:
    """Return the fields of a mapping, with those that `<<` merges into it; no fields for anything else."""
    return dict(_pairs(node))


def _pairs(node: yaml.Node | None) -> Iterator[tuple[str, yaml.Node]]:
    """Yield the fields in the order in which a later one replaces an earlier one."""
    pairs = [] if not isinstance(node, yaml.MappingNode) else node.value
    named = [(key, value) for key, value in pairs if isinstance(key, yaml.ScalarNode)]
    for key, value in named:
        if key.tag == _MERGE:
            for each in reversed(items(value) or [value]):
                yield from fields(each).items()
    yield from ((key.value, value) for key, value in named if key.tag != _MERGE)


def repeats(node: yaml.Node) -> Iterator[Remark]:
    """Yield a remark for each key of a mapping, or of one within it, that a later one with another value replaces."""
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    last = {key.value: (key, value) for key, value in pairs if isinstance(key, yaml.ScalarNode)}
    for key, value in pairs:
        final, replacing = last.get(key.value, (key, value)) if isinstance(key, yaml.ScalarNode) else (key, value)
        if final is not key and key.tag != _MERGE and not _is_same(value, replacing):
            yield Remark(Oddity.REPEATED, line_of(key), key.value[:LONGEST_NAME], line_of(final))
        yield from repeats(value)
    for each in items(node):
        yield from repeats(each)


def _is_same(one: yaml.Node, other: yaml.Node) -> bool:
    return isinstance(one, yaml.ScalarNode) and isinstance(other, yaml.ScalarNode) and one.value == other.value


def is_null(node: yaml.Node) -> bool:
    """Return whether a value is `null`, or is missing."""
    return isinstance(node, yaml.ScalarNode) and node.tag == _NULL


def items(node: yaml.Node | None) -> list[yaml.Node]:
    """Return the items of a sequence; no items for anything else."""
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def text_of(node: yaml.Node | None) -> str:
    """Return a scalar as it is written; empty for `null` and for anything else."""
    return str(node.value) if isinstance(node, yaml.ScalarNode) and not is_null(node) else ""


def line_of(node: yaml.Node) -> int:
    """Return the number of the line on which a node starts."""
    return int(node.start_mark.line) + 1


def flat(node: yaml.Node | None, prefix: str = "") -> Iterator[Entry]:
    """Yield each scalar below a node, named by its path with dots; a list becomes one value with commas.

    A scalar that a later one with the same name replaces is there too, before it.
    """
    last = fields(node)
    for name, value in _pairs(node):
        path = f"{prefix}{name}"
        require_few(path, LONGEST_NAME, "characters in the name of a setting")
        if isinstance(value, yaml.ScalarNode):
            yield Entry(line_of(value), path, text_of(value))
        elif last[name] is not value:
            continue
        elif isinstance(value, yaml.SequenceNode) and all(isinstance(item, yaml.ScalarNode) for item in value.value):
            yield Entry(line_of(value), path, ",".join(map(text_of, value.value)))
        elif isinstance(value, yaml.SequenceNode):
            for position, item in enumerate(value.value):
                yield from flat(item, f"{path}[{position}].")
        else:
            yield from flat(value, f"{path}.")
