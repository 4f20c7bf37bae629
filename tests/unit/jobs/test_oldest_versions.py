"""The Spark jobs use nothing that the oldest supported Python and Spark, 3.9 and 3.5, lack.

Ruff checks their syntax (`per-file-target-version`), and the campaign runs them (`tests/live/test_spark_versions.py`).
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, functions

from kafka_digest.runtime import session
from tests.syntax import parsed

JOBS = Path(__file__).parents[3] / "spark_jobs"
SOURCES = sorted(JOBS.rglob("*.py"))
# Of the standard library, with the version that brought them.
NEWER_NAMES = {
    "itertools.pairwise": "3.10",
    "types.NoneType": "3.10",
    "types.UnionType": "3.10",
    "contextlib.aclosing": "3.10",
    "datetime.UTC": "3.11",
    "enum.StrEnum": "3.11",
    "contextlib.chdir": "3.11",
    "itertools.batched": "3.12",
    **{f"typing.{name}": "3.10" for name in ("TypeAlias", "ParamSpec", "Concatenate", "TypeGuard")},
    **{f"typing.{name}": "3.11" for name in ("Self", "Never", "assert_never", "NotRequired", "Required", "Unpack")},
    **{f"typing.{name}": "3.12" for name in ("override", "TypeAliasType")},
}
NEWER_ARGUMENTS = {("zip", "strict"), ("dataclass", "slots"), ("dataclass", "kw_only"), ("bisect_left", "key")}
NEWER_METHODS = {"bit_count", "add_note"}


def newer_than_python_39(text: str) -> Iterator[str]:
    """Yield what Python 3.9 lacks: names, arguments and methods of the standard library, and types joined by `|`."""
    for node in ast.walk(parsed(text)):
        if isinstance(node, ast.ImportFrom):
            yield from (name for a in node.names if (name := f"{node.module}.{a.name}") in NEWER_NAMES)
        elif isinstance(node, ast.Attribute):
            yield from (name for name in (ast.unparse(node), node.attr) if name in {*NEWER_NAMES, *NEWER_METHODS})
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            yield from (f"{called}({k.arg}=)" for k in node.keywords if (called, k.arg) in NEWER_ARGUMENTS)
            if called == "isinstance" and any(isinstance(part, ast.BinOp) for part in node.args):
                yield "isinstance(… | …)"


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: str(path.relative_to(JOBS)))
def test_python_39_has_all_that_is_used(source: Path) -> None:
    """No file of the jobs uses what came to the standard library after Python 3.9."""
    assert [] == list(newer_than_python_39(source.read_text()))


@pytest.mark.parametrize(
    "text",
    [
        "from itertools import pairwise",
        "from datetime import UTC, datetime",
        "import datetime\ndatetime.UTC",
        "zip(a, b, strict=True)",
        "@dataclass(frozen=True, slots=True)\nclass A: ...",
        "isinstance(a, int | None)",
        "(7).bit_count()",
    ],
)
def test_newer_python_is_noticed(text: str) -> None:
    """Each kind of newer feature is found."""
    assert list(newer_than_python_39(text))


def introduced(member: object) -> tuple[int, int]:
    """Return the version of Spark that brought a function or method, as its documentation says."""
    found = re.search(r"versionadded:: (\d+)\.(\d+)", inspect.getdoc(member) or "")
    return (int(found[1]), int(found[2])) if found else (0, 0)


def spark_functions(text: str) -> Iterator[str]:
    """Yield the functions that a source calls: `functions.…`, and those in texts of Spark SQL."""
    for node in ast.walk(parsed(text)):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "functions":
            yield node.attr
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (name for name in re.findall(r"\b([a-z_0-9]+)\(", node.value) if hasattr(functions, name))


def methods_of_frames(text: str) -> Iterator[str]:
    """Yield the names of methods in a source that a frame of Spark has."""
    for node in ast.walk(parsed(text)):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) not in {"np", "pa"}:
            yield from (name for name in (node.attr,) if hasattr(DataFrame, name))


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: str(path.relative_to(JOBS)))
def test_spark_35_has_all_functions(source: Path) -> None:
    """No file of the jobs calls a function or a frame's method that came after Spark 3.5."""
    text = source.read_text()
    called = {name: introduced(getattr(functions, name)) for name in spark_functions(text)}
    called |= {name: introduced(getattr(DataFrame, name)) for name in methods_of_frames(text)}

    assert {} == {name: version for name, version in called.items() if version > (3, 5)}


@pytest.mark.parametrize(
    ("find", "text", "name"),
    [
        (spark_functions, "functions.listagg('a')", "listagg"),
        (spark_functions, 'frame.selectExpr(f"{x}, collate(b, y)")', "collate"),
        (methods_of_frames, "frame.transpose()", "transpose"),
    ],
)
def test_newer_spark_is_noticed(find: Callable[[str], Iterator[str]], text: str, name: str) -> None:
    """A function that Spark 4 brought is found in Python and in SQL, and its version is known."""
    assert name in set(find(text))
    assert introduced(getattr(functions if find is spark_functions else DataFrame, name)) >= (4, 0)


def test_overflow_is_an_error_on_every_version() -> None:
    """Spark 3 by default goes on with another number; the jobs switch Spark 4's default on."""
    assert session._OPTIONS["spark.sql.ansi.enabled"] == "true"
