"""The layers of ADR 0001 and the rooms of ADR 0023, enforced by reading every import."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests.syntax import nodes_of, tree_of

pytestmark = pytest.mark.unit

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "plugins" / "kafka_migration"

# Which layers of the package, or rooms of a layer, a layer may import, besides itself.
MAY_IMPORT = {
    "kafka_tables": set(),
    "core": {"kafka_tables"},
    "migration_file": {"core"},
    "engines": {"core", "kafka_tables"},
    # The linter stands alone (ADR 0055): what findings are made of, and the tables.
    "mirrormaker_files": {"core.documents", "core.findings", "core.text", "kafka_tables"},
    "mirrormaker_import": {"core", "kafka_tables", "mirrormaker_files"},
    "report_formats": {"core"},
    "adapters": {"core"},
    "airflow_adapters": {"core", "adapters", "steps"},
    "preflight": {"core", "migration_file", "engines"},
    "steps": {"core", "migration_file", "engines", "adapters", "preflight", "report_formats"},
    "orchestration": {"core", "migration_file", "engines", "adapters", "airflow_adapters", "steps", "preflight"},
    # The web pages: what the command line answers, for Airflow's UI.
    "page": {"core", "migration_file", "adapters", "airflow_adapters", "steps", "orchestration.report_link"}
    | {"report_formats"},
    "cli": {"core", "migration_file", "engines", "adapters", "airflow_adapters", "steps", "preflight"}
    | {"kafka_tables", "mirrormaker_files", "mirrormaker_import", "report_formats"},
    "__main__": {"cli"},
    # The names for DAGs of users, wherever they are defined.
    "operators": {"orchestration"},
    "host": set(),
}
# Which rooms of a package a room may import, besides itself. A room is a folder or a module directly below the package.
# The order is that of the floors, lowest first.
ROOMS: dict[str, dict[str, set[str]]] = {
    "kafka_migration.core": {
        "clock": set(),
        "text": set(),
        "documents": set(),
        "findings": {"documents", "text"},
        "kafka": {"documents"},
        "spark": {"documents", "findings", "text"},
        "migration": {"documents", "findings", "kafka", "text"},
        "rights": {"findings", "kafka", "migration", "text"},
        "connections": {"findings", "kafka", "migration", "text"},
        "connect": {"connections", "findings", "kafka", "migration", "text"},
        "run": {"documents", "findings", "migration", "text"},
        "waves": {"kafka", "migration", "text"},
        "discovery": {"connections", "documents", "findings", "text"},
        "evidence": {"documents", "findings", "run"},
        "ledger": {"documents", "evidence", "findings", "kafka", "migration", "run", "text"},
        "target": {"documents", "findings", "kafka", "ledger", "migration", "text"},
        "validation": {"documents", "findings", "kafka", "ledger", "migration", "text"},
        "mirror": {"connect", "documents", "findings", "kafka", "migration", "target", "text"},
        "translation": {"documents", "kafka", "ledger", "migration", "validation"},
        "watching": {"documents", "findings", "kafka", "ledger", "mirror", "target", "text"},
        "backfill": {"findings", "kafka", "ledger", "text", "translation"},
        "groups": {"documents", "findings", "kafka", "ledger", "migration", "run", "text", "translation", "validation"},
        "cutover": {"documents", "findings", "groups", "kafka", "migration", "run", "text", "validation", "watching"},
        "rollback": {
            "documents",
            "findings",
            "groups",
            "kafka",
            "ledger",
            "migration",
            "text",
            "translation",
            "validation",
        },
        "stored": {
            "cutover",
            "documents",
            "evidence",
            "findings",
            "groups",
            "kafka",
            "ledger",
            "migration",
            "mirror",
            "run",
            "translation",
            "validation",
            "watching",
        },
        "report": {
            "cutover",
            "documents",
            "evidence",
            "findings",
            "groups",
            "kafka",
            "migration",
            "rollback",
            "run",
            "stored",
            "text",
            "validation",
            "watching",
        },
    },
    "kafka_migration.adapters": {
        "system": set(),
        "store": set(),
        "http": {"system"},
        "connect": {"http", "system"},
        "kafka": {"system"},
        "host": {"system"},
    },
    "kafka_migration.preflight": {
        "scene": set(),
        "files": {"scene"},
        "clusters": {"scene"},
        "spark": {"scene"},
        "host": {"clusters", "scene"},
        "connect": {"clusters", "scene"},
        "checks": {"clusters", "connect", "files", "host", "scene", "spark"},
    },
    "kafka_migration.steps": {
        "run": set(),
        "reading": {"run"},
        "discovery": set(),
        "waves": {"reading"},
        "backfill": {"reading", "run"},
        "groups": {"reading", "run"},
        "validation": {"backfill", "reading", "run"},
        "mirror": {"backfill", "reading", "run"},
        "before": {"mirror", "run"},
        "answers": set(),
        "rollback": {"answers", "groups", "mirror", "reading", "run"},
        "finish": {"rollback", "run"},
    },
    "kafka_migration.orchestration": {
        "report_link": set(),
        "task": {"report_link"},
        "triggers": {"task"},
        "operators": {"report_link", "task", "triggers"},
        "sensors": {"operators", "task", "triggers"},
        "cutover": {"operators", "task", "triggers"},
        "dag": {"cutover", "operators", "sensors", "task"},
        "factory": {"dag"},
    },
    "kafka_migration.cli": {
        "shell": set(),
        "files": {"shell"},
        "runs": {"shell"},
        "main": {"shell"},
    },
    "kafka_migration.mirrormaker_files": {
        "model": set(),
        "scripts": {"model"},
        "effective": {"model"},
        "formats": {"model", "scripts"},
        "ground": {"effective", "model"},
        "manifests": {"formats", "model", "scripts"},
        "line_rules": {"effective", "ground", "model"},
        "reading": {"formats", "manifests", "model", "scripts"},
        "rules": {"effective", "ground", "line_rules", "model"},
    },
    "kafka_digest": {
        "runtime": set(),
        "reading": {"runtime"},
        "keys": {"reading", "runtime"},
        "position": {"keys", "reading", "runtime"},
        "translate": {"keys", "reading", "runtime"},
        "validate": {"keys", "position", "reading", "runtime"},
        "rehearsal": {"keys", "position", "reading", "runtime"},
    },
}
# Which third-party packages a layer may import; a layer that is not named may import any.
THIRD_PARTY = {
    "kafka_tables": set(),
    "core": set(),
    "engines": set(),
    "preflight": set(),
    "host": set(),
    "report_formats": {"jinja2"},
    "mirrormaker_files": {"yaml"},
    "mirrormaker_import": set(),
    "migration_file": {"croniter", "pydantic", "pydantic_core", "yaml"},
    "adapters": {"confluent_kafka", "cryptography", "httpcore", "tenacity"},
    "steps": set(),
}
# Heavy packages that no module may import at its top, because every Airflow component imports the package.
HEAVY = {"pyspark", "pandas", "numpy"}


@cache
def _imports(path: Path) -> tuple[str, ...]:
    return tuple(_imported(path))


def _imported(path: Path) -> Iterator[str]:
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: Airflow runs plugin files under a second name; import absolutely"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _layer(path: Path, package: Path) -> str:
    return path.relative_to(package).parts[0].removesuffix(".py")


def wrong_arrows(package: Path) -> list[str]:
    """Return every import that the table does not allow, as `file -> import`."""
    wrong = []
    for path in sorted(package.rglob("*.py")):
        layer = _layer(path, package)
        if layer == "__init__":
            continue
        for name in _imports(path):
            if not _is_allowed(layer, name):
                wrong.append(f"{path.relative_to(package)} -> {name}")
    return wrong


def _is_allowed(layer: str, name: str) -> bool:
    top, _, rest = name.partition(".")
    if top == "kafka_migration":
        target, _, inner = rest.partition(".")
        room = f"{target}.{inner.partition('.')[0]}"
        return target in {layer, "", "__version__"} or not MAY_IMPORT[layer].isdisjoint({target, room})
    if top in sys.stdlib_module_names:
        return True
    return top not in HEAVY and top in THIRD_PARTY.get(layer, {top})


def folder_of(package: str) -> Path:
    """Return the folder of a package that has a table of rooms."""
    top = package.partition(".")[0]
    return {"kafka_migration": ROOT / "plugins", "kafka_digest": ROOT / "spark_jobs"}[top] / package.replace(".", "/")


def wrong_doors(folder: Path, package: str) -> list[str]:
    """Return every import between rooms of a package that its table does not allow, as `file -> room`."""
    wrong, table = [], ROOMS[package]
    for path in sorted(folder.rglob("*.py")):
        room = _layer(path, folder)
        entered = {
            name.removeprefix(f"{package}.").partition(".")[0]
            for name in _imports(path)
            if name.startswith(f"{package}.")
        }
        wrong += [f"{path.relative_to(folder)} -> {other}" for other in sorted(entered - {room, *table.get(room, ())})]
    return wrong


def wrong_core_doors(core: Path) -> list[str]:
    return wrong_doors(core, "kafka_migration.core")


@pytest.mark.parametrize("package", ROOMS)
def test_rooms_follow_the_table(package: str) -> None:
    """No room imports another room of its package against the table of rooms, so no arrow leads upward."""
    assert [] == wrong_doors(folder_of(package), package)


@pytest.mark.parametrize("package", ["kafka_migration", *ROOMS])
def test_every_layer_and_room_is_in_its_table(package: str) -> None:
    """Each folder and module of a package is in its table, and each layer and room of a table exists."""
    folder, table = folder_of(package), ROOMS.get(package, MAY_IMPORT)
    # An older checkout leaves folders in which there is only bytecode.
    parts = {path.relative_to(folder).parts[0].removesuffix(".py") for path in folder.rglob("*.py")}

    assert set(table) - {"__main__"} == {name for name in parts if not name.startswith("__")}


@pytest.mark.parametrize("package", ROOMS)
def test_rooms_have_no_cycle(package: str) -> None:
    """Each room imports only earlier rooms of the table, so no two rooms can need each other."""
    order = list(ROOMS[package])

    assert [] == [
        (room, other) for room in order for other in ROOMS[package][room] if other not in order[: order.index(room)]
    ]


@pytest.mark.parametrize("package", ROOMS)
def test_every_arrow_of_the_table_is_used(package: str) -> None:
    """A table allows only what a room imports: an arrow that is not used could hide the first wrong import."""
    folder = folder_of(package)
    used = {
        (_layer(path, folder), name.removeprefix(f"{package}.").partition(".")[0])
        for path in folder.rglob("*.py")
        for name in _imports(path)
        if name.startswith(f"{package}.")
    }

    assert [] == [
        (room, other) for room, others in ROOMS[package].items() for other in others if (room, other) not in used
    ]


def test_class_names_are_unique() -> None:
    """No two classes of the package have the same name."""
    trees = [tree_of(path) for path in PACKAGE.rglob("*.py")]
    names = [node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)]

    assert [] == sorted(name for name, count in Counter(names).items() if count > 1)


def test_no_modules_import_each_other() -> None:
    """No chain of imports leads from a module of the package back to it."""
    names = {path: _module(path) for path in PACKAGE.rglob("*.py")}
    known = set(names.values())
    graph = {
        name: {found for each in _imports(path) if (found := _known(each, known)) and found != name}
        for path, name in names.items()
    }

    TopologicalSorter(graph).prepare()


def _module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT / "plugins").with_suffix("").parts).removesuffix(".__init__")


def _known(name: str, known: set[str]) -> str:
    """Return the module that an import of `module.name` loads; empty for one that is not the package's."""
    return next((found for found in (name, name.rpartition(".")[0]) if found in known), "")


def test_package_follows_the_table() -> None:
    """No module of the package imports against the table of layers."""
    assert [] == wrong_arrows(PACKAGE)


def test_every_folder_says_what_belongs_there() -> None:
    """Each folder of the package has a README of at most ten lines, which names the file to start with."""
    for layer in (each for each in MAY_IMPORT if (PACKAGE / each).is_dir()):
        lines = (PACKAGE / layer / "README.md").read_text().splitlines()
        assert len(lines) <= 10
        start = next(line for line in lines if line.startswith("Start reading at"))
        assert [] == [name for name in re.findall(r"`([\w/]+\.py)`", start) if not (PACKAGE / layer / name).exists()]


def test_nothing_imports_the_command_line() -> None:
    """Only `python -m kafka_migration` leads to the command line; no other layer knows it."""
    assert ["__main__"] == [layer for layer, allowed in MAY_IMPORT.items() if "cli" in allowed]


PACKAGE_NAME = "kafka_migration"


@pytest.mark.parametrize(
    ("wrong_imports", "file", "line", "wrong"),
    [
        (wrong_core_doors, "kafka/lag.py", f"from {PACKAGE_NAME}.core.groups.plan import GroupPlan", "groups"),
        (wrong_core_doors, "waves/plan.py", f"import {PACKAGE_NAME}.core.ledger.ledger", "ledger"),
        (wrong_core_doors, "migration/a.py", f"def f():\n    from {PACKAGE_NAME}.core import validation", "validation"),
        (wrong_arrows, "core/lag.py", f"import {PACKAGE_NAME}.adapters.kafka", f"{PACKAGE_NAME}.adapters.kafka"),
        (wrong_arrows, "core/lag.py", "import yaml", "yaml"),
        (
            wrong_arrows,
            "mirrormaker_files/model/a.py",
            f"from {PACKAGE_NAME}.core.migration.settings import A",
            f"{PACKAGE_NAME}.core.migration.settings.A",
        ),
        (wrong_arrows, "kafka_tables/a.py", f"import {PACKAGE_NAME}.core.text", f"{PACKAGE_NAME}.core.text"),
        (
            wrong_arrows,
            "cli/runs/a.py",
            f"import {PACKAGE_NAME}.orchestration.a",
            f"{PACKAGE_NAME}.orchestration.a",
        ),
        (
            wrong_arrows,
            "adapters/kafka/a.py",
            f"from {PACKAGE_NAME}.cli import stop",
            f"{PACKAGE_NAME}.cli.stop",
        ),
        (wrong_arrows, "engines/a.py", f"from {PACKAGE_NAME}.adapters import kafka", f"{PACKAGE_NAME}.adapters.kafka"),
        (
            wrong_arrows,
            "adapters/a.py",
            f"from {PACKAGE_NAME}.orchestration import b",
            f"{PACKAGE_NAME}.orchestration.b",
        ),
        (wrong_arrows, "adapters/kafka/a.py", "def f():\n    import pyspark", "pyspark"),
    ],
)
def test_broken_arrow_is_found(
    tmp_path: Path, wrong_imports: Callable[[Path], list[str]], file: str, line: str, wrong: str
) -> None:
    """An import against the table of layers or of rooms is found wherever it is in the module."""
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text(line)

    assert [f"{file} -> {wrong}"] == wrong_imports(tmp_path)


def test_use_cases_need_no_airflow() -> None:
    """What the ring of use cases imports, directly or not, loads no module of Airflow."""
    modules = [_module(path) for path in sorted((PACKAGE / "steps").rglob("*.py"))]
    program = (
        f"import sys; [__import__(name) for name in {modules}]\n"
        "print([name for name in sys.modules if name.partition('.')[0] == 'airflow'])"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "plugins")}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)

    assert "[]" == done.stdout.strip()


def test_dag_files_import_only_orchestration() -> None:
    """A DAG file is a table of contents: it imports nothing of the package but orchestration."""
    names = [name for path in (ROOT / "dags").glob("*.py") for name in _imports(path)]
    ours = [name for name in names if name.startswith("kafka_migration")]

    assert ours
    assert all(name.startswith("kafka_migration.orchestration.") for name in ours)


def test_spark_jobs_stand_alone() -> None:
    """Spark jobs import nothing of the package: they run where it is not installed."""
    names = [name for path in (ROOT / "spark_jobs").rglob("*.py") for name in _imports(path)]

    assert [] == [name for name in names if name.startswith(("kafka_migration", "airflow"))]


def test_plugins_are_ignored_by_airflows_loader() -> None:
    """`.airflowignore` keeps Airflow from executing the package's modules a second time under bare names."""
    assert "kafka_migration/" in (ROOT / "plugins" / ".airflowignore").read_text().split()
