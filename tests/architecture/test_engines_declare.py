"""Engines declare what they can do: only their own code knows their names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_migration.core.migration.engine_table import (
    DEFAULT_ENGINE,
    ENGINES,
    FIELDS,
    Ability,
    EngineName,
    abilities_of,
)
from kafka_migration.engines.engines import BUILDERS
from tests.syntax import parsed, tree_of

pytestmark = pytest.mark.unit

PACKAGE = Path(__file__).parents[2] / "plugins" / "kafka_migration"
# Who may know the names of engines, and why.
MAY_NAME_ENGINES = {
    "core/migration/engine_table.py": "the table",
    "engines/": "the engines",
    "mirrormaker_import/": "writes the names into a migration file",
    "mirrormaker_files/model/mirror_settings.py": "the kinds of files; one of them has the name of an engine",
}

# Words of Kafka or of a library that are also the name of an engine, with the files that use them in that meaning.
OTHER_MEANINGS = {
    "connect": (
        "adapters/http/http_service.py",  # a time limit
        "adapters/kafka/kafka_groups.py",  # a kind of groups, as in the next file
        "core/kafka/cluster.py",
        "core/rollback/rollback_planning.py",  # a field, as in the next file
        "core/waves/wave_file.py",
        "migration_file/json_schema.py",  # a field, here and below
        "migration_file/models.py",
        "preflight/clusters/other_mirrors_check.py",  # a kind of groups
        "preflight/connect/worker_checks.py",  # a check, here, and a party in the next file
        "preflight/scene/check.py",
        "steps/rollback/decommissioning.py",  # a kind of groups, here and below
        "steps/waves/read_waves.py",
    ),
}


def engine_names(tree: ast.AST) -> Iterator[str]:
    """Yield each text of a module that is exactly the name of an engine, wherever it stands."""
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    yield from (text for text in texts if isinstance(text, str) and text in ENGINES)


def test_only_engines_know_their_names() -> None:
    """Outside `engines`, the table and the importer, no code has an engine's name."""
    paths = {str(path.relative_to(PACKAGE)): path for path in sorted(PACKAGE.rglob("*.py"))}
    named = {
        place: sorted({name for name in engine_names(tree_of(path)) if place not in OTHER_MEANINGS.get(name, ())})
        for place, path in paths.items()
    }

    assert {} == {
        path: names for path, names in named.items() if names and not path.startswith(tuple(MAY_NAME_ENGINES))
    }


@pytest.mark.parametrize(
    "text",
    [
        'mirror.engine == "mirrormaker1"',
        "match engine:\n    case 'mirrormaker2':\n        pass",
        'x = {"mirrormaker1": 1}',
        'def f(engine: Literal["mirrormaker2"]) -> None: ...',
        "x = f'{engine}{\"mirrormaker1\"}'",
        'x = "mirror" "maker1"',
    ],
)
def test_each_spelling_of_a_name_is_found(text: str) -> None:
    """A comparison, a case, a key, a type and joined strings are all found."""
    assert list(engine_names(parsed(text)))


def test_every_exception_is_used() -> None:
    """A place that may name engines does so; else the exception would hide the first wrong name."""
    folders = [PACKAGE / place for place in MAY_NAME_ENGINES]
    others = [(PACKAGE / place, word) for word, places in OTHER_MEANINGS.items() for place in places]
    files = [[place] if place.suffix else sorted(place.rglob("*.py")) for place in folders]

    assert all(any(True for path in each for _ in engine_names(tree_of(path))) for each in files)
    assert all(word in engine_names(tree_of(path)) for path, word in others)


def test_every_engine_is_built() -> None:
    """Each engine of the table exists in `engines`."""
    assert set(ENGINES) == set(BUILDERS)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_no_has_its_reason(engine: EngineName) -> None:
    """Each ability that an engine lacks has a reason that names the engine and ends without a full stop."""
    row = abilities_of(engine)
    lacking = [ability for name in row.__slots__ if isinstance(ability := getattr(row, name), Ability) and not ability]

    assert lacking
    assert all(ability.why_not.startswith(row.title) and not ability.why_not.endswith(".") for ability in lacking)


def test_fields_belong_to_abilities() -> None:
    """Each field that not every engine has belongs to an ability that one engine has and another one lacks."""
    for field in FIELDS:
        assert {True, False} == {field in abilities_of(engine).fields for engine in ENGINES}


def test_default_engine_can_copy_back() -> None:
    """The engine of a file that names none renames topics and keeps partitions, which a copy back needs."""
    row = abilities_of(DEFAULT_ENGINE)

    assert row.renames_topics
    assert row.keeps_partitions


def test_port_of_a_process_names_no_java() -> None:
    """What crosses `MirrorProcess` names neither Java nor a host: another engine need not have them."""
    text = (PACKAGE / "core" / "mirror" / "mirror_process.py").read_text().lower()

    assert [] == [word for word in ("java", "jvm", "ssh", "main_class", "mirrorlaunch") if word in text]


def test_only_engines_judge_how_a_process_ended() -> None:
    """No caller looks for words in a log to learn how a process ended; it asks `MirrorEngine.ending`."""
    lines = {"Kafka MirrorMaker stopped", "shutdown successfully", "splitting and retrying"}
    paths = [
        path for layer in ("steps", "orchestration", "cli", "preflight") for path in (PACKAGE / layer).rglob("*.py")
    ]

    assert [] == [str(path) for path in paths for line in lines if line in path.read_text()]
