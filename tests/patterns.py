"""Every regular expression of the package and of the Spark jobs, found in their source, with how it is used.

A pattern that is built from a function's own values is not known here: `EXAMPLES` names its values.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from math import inf
from pathlib import Path
from re import _compiler as compiler  # type: ignore[attr-defined]
from re import _constants as parts  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType, SimpleNamespace
from typing import Any

from kafka_migration.core.text.regex import LazyPattern, regex
from tests.syntax import tree_of

ROOT = Path(__file__).parents[1]

# The function that compiles a pattern at its first use.
LAZY = regex.__name__
FROM_THE_START = frozenset({"match", "fullmatch"})
METHODS = FROM_THE_START | {"search", "sub", "subn", "split", "findall", "finditer"}
# Strings have a method `split` too.
_ONLY_OF_PATTERNS = METHODS - {"split"}
# The values of patterns that functions build; `None` where other places of this table or
# `core.migration.patterns`, which bounds the patterns of users, answer for them.
EXAMPLES: Mapping[str, Mapping[str, Any] | None] = {
    "core/connections/connection_checks.py": {"label": "CERTIFICATE"},
    "core/migration/patterns.py": None,
    "core/text/regex.py": None,
    "preflight/clusters/other_mirrors_check.py": {"group": SimpleNamespace(group="connect-mirror")},
    "engines/mirrormaker2_topics.py": {"migration": "shop"},
    "kafka_tables/strimzi_fields.py": {"pattern": r"^[a-zA-Z0-9\._\-]{1,100}$"},
    "mirrormaker_files/rules/flow_rules.py": None,
}
# A repetition up to this number is bounded.
BOUNDED = 1_000


@dataclass(frozen=True)
class Found:
    """A pattern, where it is, and the methods that are called on it."""

    place: str
    pattern: re.Pattern[str]
    methods: frozenset[str]

    @property
    def is_searched(self) -> bool:
        """Whether a match may begin anywhere in the text."""
        return not self.methods <= FROM_THE_START


def every_pattern() -> list[Found]:
    """Return every pattern in the source. Raises `AssertionError` for one whose text cannot be found out."""
    sources = [*_sources(ROOT / "plugins", "kafka_migration"), *_sources(ROOT / "spark_jobs", "kafka_digest")]
    found = [each for source in sources for each in _patterns_of(source, sources)]
    return list({(each.pattern, each.methods): each for each in found}.values())


@dataclass(frozen=True)
class Source:
    """A file of the source."""

    path: str
    module: str
    tree: ast.Module

    def loaded(self) -> ModuleType:
        """Return the module."""
        return importlib.import_module(self.module)


def _sources(root: Path, package: str) -> Iterator[Source]:
    for path in sorted((root / package).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "import re\n" in text or f"{LAZY}(" in text:
            module = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
            yield Source(str(path.relative_to(root / package)), module, tree_of(path))


def _patterns_of(source: Source, sources: Collection[Source]) -> Iterator[Found]:
    for statement, call in _calls(source.tree):
        known = _values(source, call)
        method = _method(call)
        for pattern in known:
            methods = frozenset({method}) if method in METHODS else _methods(statement, source, sources)
            yield Found(f"{source.path}:{call.lineno}", pattern, methods)


def _calls(tree: ast.Module) -> Iterator[tuple[ast.stmt, ast.Call]]:
    """Yield each call of `re.<method>` or of `core.text.regex` with the innermost statement around it."""
    for statement in ast.walk(tree):
        if isinstance(statement, ast.stmt):
            yield from ((statement, call) for call in _direct_calls(statement))


def _direct_calls(node: ast.AST) -> Iterator[ast.Call]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            continue
        if _is_of_re(child):
            yield child  # type: ignore[misc]
        yield from _direct_calls(child)


def _is_of_re(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and _method(node) in METHODS | {"compile"}


def _method(call: ast.Call) -> str:
    """Return the function of `re` that a call calls, `compile` for one of `core.text.regex`; empty for another call."""
    match call.func:
        case ast.Attribute(value=ast.Name(id="re"), attr=name):
            return name
        case ast.Name(id=name):
            return "compile" if name == LAZY else ""
    return ""


def _values(source: Source, call: ast.Call) -> list[re.Pattern[str]]:
    """Return the pattern of a call, or for one in a comprehension all patterns that its module holds."""
    module = source.loaded()
    names = {**vars(module), **(EXAMPLES.get(source.path) or {})}
    flags = next((each.value for each in call.keywords if each.arg == "flags"), None)
    place = {"compile": 1, "match": 2, "search": 2, "fullmatch": 2, "findall": 2, "finditer": 2}.get(_method(call))
    if flags is None and place is not None and len(call.args) > place:
        flags = call.args[place]
    try:
        return [re.compile(_evaluated(call.args[0], names), _evaluated(flags, names) if flags else 0)]
    except NameError:
        if EXAMPLES.get(source.path, {}) is None:
            return []
        # Only at the top of a module the pattern is one that the module holds.
        held = [] if _is_in_function(source.tree, call) else list(_held(vars(module).values()))
        assert held, f"{source.path}:{call.lineno}: name the values of this pattern in tests/patterns.py: EXAMPLES"
        return held


def _is_in_function(tree: ast.Module, call: ast.Call) -> bool:
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Lambda))
    return any(call in ast.walk(function) for function in functions)


def _evaluated(node: ast.expr, names: Mapping[str, Any]) -> Any:
    return eval(compile(ast.Expression(node), "pattern", "eval"), dict(names))


def _held(values: Collection[Any]) -> Iterator[re.Pattern[str]]:
    """Yield the patterns in values, also those in tuples, mappings and dataclasses."""
    for value in values:
        if isinstance(value, re.Pattern | LazyPattern):
            lazy: Any = value
            yield re.compile(lazy.pattern, lazy.flags)
        elif isinstance(value, Mapping):
            yield from _held(value.values())
        elif isinstance(value, tuple | list):
            yield from _held(value)
        elif is_dataclass(value) and not isinstance(value, type):
            yield from _held([getattr(value, each.name) for each in fields(value)])


def _methods(statement: ast.stmt, source: Source, sources: Collection[Source]) -> frozenset[str]:
    """Return the methods that are called on a compiled pattern; every method of its module if that is not seen."""
    names = _assigned(statement)
    readers = [source, *(each for each in sources if any(not name.startswith("_") for name in names))]
    seen = {method for each in readers for name, method in _uses(each) if name in names}
    return frozenset(seen or {method for _, method in _uses(source) if method in _ONLY_OF_PATTERNS} or {"search"})


def _assigned(statement: ast.stmt) -> set[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return {each.id for each in targets if isinstance(each, ast.Name)}


@cache
def _uses(source: Source) -> frozenset[tuple[str, str]]:
    """Return (name, method) of each call `<name>…<method>(…)` that may be one of a pattern."""
    return frozenset(_used(source.tree))


def _used(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in METHODS:
            root: ast.expr = node.value
            while isinstance(root, ast.Attribute | ast.Subscript):
                root = root.value
            if isinstance(root, ast.Name) and root.id != "re":
                yield root.id, node.attr


def literals(pattern: re.Pattern[str]) -> list[str]:
    """Return the runs of letters in a pattern, and a letter of each of its sets."""
    return list(dict.fromkeys(_literals(parser.parse(pattern.pattern, pattern.flags))))


def _literals(sequence: Any) -> Iterator[str]:
    run = ""
    for kind, argument in sequence:
        if kind is parts.LITERAL:
            run += chr(argument)
            continue
        if run:
            yield run
        run = ""
        yield from _sample(kind, argument)
    if run:
        yield run


_OF_CATEGORY = {parts.CATEGORY_DIGIT: "7", parts.CATEGORY_SPACE: " ", parts.CATEGORY_WORD: "w"}


def _sample(kind: Any, argument: Any) -> Iterator[str]:
    if kind is parts.IN:
        for inner, value in argument:
            if inner is parts.LITERAL:
                yield chr(value)
            elif inner is parts.RANGE:
                yield chr(value[0])
            elif inner is parts.CATEGORY:
                yield _OF_CATEGORY.get(value, "!")
    else:
        for each in inside(argument):
            yield from _literals(each)


def inside(argument: Any) -> list[Any]:
    """Return the sequences within a part of a pattern."""
    if isinstance(argument, parser.SubPattern):
        return [argument]
    return [each for one in argument for each in inside(one)] if isinstance(argument, tuple | list) else []


_REPEATS = {parts.MAX_REPEAT, parts.MIN_REPEAT, parts.POSSESSIVE_REPEAT}


def nested_repetition(sequence: Any, *, is_repeated: bool = False) -> bool:
    """Whether an unbounded repetition holds another one."""
    for kind, argument in sequence:
        is_endless = kind in _REPEATS and argument[1] > BOUNDED
        if is_endless and is_repeated:
            return True
        if any(nested_repetition(each, is_repeated=is_repeated or is_endless) for each in inside(argument)):
            return True
    return False


def followed_repetition(sequence: Any, *, is_followed: bool = False) -> bool:
    """Whether something must follow an unbounded repetition."""
    for kind, argument in reversed(list(sequence)):
        if kind in _REPEATS and argument[1] > BOUNDED and is_followed:
            return True
        if any(followed_repetition(each, is_followed=is_followed) for each in inside(argument)):
            return True
        is_followed = is_followed or not _may_be_empty(kind, argument)
    return False


def _may_be_empty(kind: Any, argument: Any) -> bool:
    return kind in _REPEATS and argument[0] == 0


def most_steps(pattern: re.Pattern[str]) -> float:
    """Return how often a match that begins at one place compares a character at most.

    It is infinite where that depends on the text: then the time may grow with more than the size of the text.
    """
    return _bounds(parser.parse(pattern.pattern, pattern.flags))[1]


def _bounds(sequence: Any) -> tuple[float, float]:
    """Return the most ways to match a sequence, and the most steps to try all of them."""
    ways, steps = 1.0, 0.0
    for kind, argument in sequence:
        more_ways, more_steps = _bounds_of(kind, argument)
        steps += ways * more_steps
        ways *= more_ways
    return ways, steps


_ONE_STEP = {parts.LITERAL, parts.NOT_LITERAL, parts.ANY, parts.AT}
_WITHIN = {parts.SUBPATTERN, parts.ATOMIC_GROUP, parts.ASSERT, parts.ASSERT_NOT}


def _bounds_of(kind: Any, argument: Any) -> tuple[float, float]:
    if kind in _ONE_STEP:
        return 1, 1
    if kind is parts.IN:
        return 1, len(argument)
    if kind is parts.BRANCH or kind in _WITHIN:
        each = [_bounds(sequence) for sequence in inside(argument)]
        return sum(ways for ways, _ in each), sum(steps for _, steps in each)
    if kind in _REPEATS and argument[1] <= BOUNDED:
        ways, steps = _bounds(argument[2])
        tries = sum(min(ways**times, inf) for times in range(int(argument[1]) + 1)) if ways < inf else inf
        return tries, tries * (steps + 1)
    return inf, inf


def is_anchored(pattern: re.Pattern[str]) -> bool:
    """Whether a match begins only at the beginning of the text, or of a line that it does not leave."""
    first = next(iter(parser.parse(pattern.pattern, pattern.flags)), (None, None))
    if first[0] is not parts.AT or first[1] not in {parts.AT_BEGINNING, parts.AT_BEGINNING_STRING}:
        return False
    is_per_line = first[1] is parts.AT_BEGINNING and pattern.flags & re.MULTILINE
    return not (is_per_line and _may_leave_the_line(parser.parse(pattern.pattern, pattern.flags), pattern.flags))


def _may_leave_the_line(sequence: Any, flags: int) -> bool:
    """Whether an unbounded repetition may take a line break, so that it reads the following lines too."""
    for kind, argument in sequence:
        if kind in _REPEATS and argument[1] > BOUNDED:
            inner = argument[2]
            if len(inner) != 1 or compiler.compile(inner, flags).match("\n"):
                return True
        if any(_may_leave_the_line(each, flags) for each in inside(argument)):
            return True
    return False
