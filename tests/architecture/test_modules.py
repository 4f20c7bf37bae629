"""The modules of the package: how many a folder has, and that their names are unique and true."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.syntax import nodes_of

pytestmark = pytest.mark.unit

ROOT = Path(__file__).parents[2]
FOLDERS = (ROOT / "plugins" / "kafka_migration", ROOT / "spark_jobs" / "kafka_digest")
MOST_MODULES = 16
_QUOTED = re.compile(r"`([^`\n]{1,200})`")
_PATH = re.compile(r"[\w/]{1,150}\.py")
_DOTTED = re.compile(r"\w{1,60}(?:\.\w{1,60}){1,8}")
# The first name is a module's only if the second one is a constant or a class, as in `offsets_plan.GroupPlan`.
_OF_MODULE = re.compile(r"([a-z]\w{1,60})\.([A-Z]\w{1,60})")


@cache
def _modules() -> tuple[Path, ...]:
    found = (path for folder in FOLDERS for path in sorted(folder.rglob("*.py")))
    return tuple(path for path in found if not path.name.startswith("__"))


@cache
def _named() -> dict[str, Path]:
    """Return each module by its name."""
    return {path.stem: path for path in _modules()}


@cache
def _rooms() -> set[str]:
    """Return the folders at the top of the packages, and the package itself."""
    return {folder.name for root in FOLDERS for folder in root.iterdir() if folder.is_dir()} | {"kafka_migration"}


def test_no_folder_has_more_modules_than_a_reader_can_know() -> None:
    """A folder has at most `MOST_MODULES` modules; a larger one needs rooms."""
    counts = Counter(path.parent for path in _modules())

    assert {} == {str(folder.relative_to(ROOT)): count for folder, count in counts.items() if count > MOST_MODULES}


def test_module_names_are_unique() -> None:
    """No two modules have the same name, so that a name in a traceback or a review names one file."""
    counts = Counter(path.stem for path in _modules())

    assert [] == sorted(name for name, count in counts.items() if count > 1)


def _signs() -> Iterator[tuple[Path, str]]:
    """Yield each name in backticks of a README, a docstring or a comment of the package, with its file."""
    for folder in FOLDERS:
        for path in sorted(folder.rglob("*.md")):
            yield from ((path, name) for name in _QUOTED.findall(path.read_text()))
        for path in sorted(folder.rglob("*.py")):
            yield from ((path, name) for text in _prose(path) for name in _QUOTED.findall(text))


def _prose(path: Path) -> Iterator[str]:
    yield from (line for line in path.read_text().splitlines() if line.lstrip().startswith("#"))
    for node in nodes_of(path):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""


def wrong_sign(file: Path, name: str) -> bool:
    """Return whether a name in backticks names a module of the package, or a member of one, that does not exist."""
    if _PATH.fullmatch(name):
        places = (file.parent, ROOT, *FOLDERS, *(folder.parent for folder in FOLDERS))
        return name.removesuffix(".py") not in _named() and not any((root / name).exists() for root in places)
    if _DOTTED.fullmatch(name) and (member := _OF_MODULE.fullmatch(name)):
        module, attribute = member.groups()
        return module in _named() and not re.search(rf"\b{attribute}\b", _named()[module].read_text())
    parts = name.split(".")
    if not _DOTTED.fullmatch(name) or parts[0] not in _rooms():
        return False
    return not _is_there(parts[1:] if parts[0] == "kafka_migration" else parts)


def _is_there(parts: list[str]) -> bool:
    """Return whether a dotted name leads to a folder, a module, or a name that its module has."""
    for root in FOLDERS:
        for end in range(len(parts), 0, -1):
            place = root.joinpath(*parts[:end])
            if place.is_dir():
                return end == len(parts)
            if (module := place.with_suffix(".py")).exists():
                return end == len(parts) or bool(re.search(rf"\b{parts[end]}\b", module.read_text()))
    return False


def test_every_module_that_prose_names_exists() -> None:
    """A docstring, comment or README names only modules that exist: a sign to a room that was moved misleads."""
    assert [] == sorted({f"{file.relative_to(ROOT)}: {name}" for file, name in _signs() if wrong_sign(file, name)})


@pytest.mark.parametrize("name", ["core/gone.py", "core.gone", "core.findings.codes.Gone", "codes.Gone", "gone.py"])
def test_a_wrong_sign_is_found(name: str) -> None:
    """A name of a module that does not exist is found in each of its forms."""
    assert wrong_sign(FOLDERS[0] / "README.md", name)


@pytest.mark.parametrize(
    "name", ["core/findings/codes.py", "core.findings.codes.Code", "codes.Code", "run.host", "a.b"]
)
def test_a_right_sign_is_no_finding(name: str) -> None:
    """A name that exists, and a name of another kind, are no findings."""
    assert not wrong_sign(FOLDERS[0] / "README.md", name)
