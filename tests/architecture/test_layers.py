"""The layers of ADR 0001 and the rooms of ADR 0023, enforced by reading every import."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

pytestmark = pytest.mark.unit

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "plugins" / "kafka_migration"

# Which layers of the package a layer may import, besides itself.
MAY_IMPORT = {
    "core": set(),
    "migration_file": {"core"},
    "engines": {"core"},
    "mirrormaker_files": {"core"},
    "adapters": {"core"},
    "airflow_adapters": {"core", "adapters"},
    "preflight": {"core", "migration_file", "engines"},
    "steps": {"core", "migration_file", "engines", "adapters", "preflight"},
    "orchestration": {"core", "migration_file", "engines", "adapters", "airflow_adapters", "steps", "preflight"},
    "cli": {"core", "migration_file", "engines", "adapters", "airflow_adapters", "steps", "preflight"}
    | {"mirrormaker_files"},
    "__main__": {"cli"},
    "host": set(),
}
# Which rooms of `core` a room may import, besides itself. The order is that of the floors, lowest first.
ROOMS = {
    "clock": set(),
    "documents": set(),
    "text": set(),
    "findings": {"documents"},
    "kafka": {"documents"},
    "migration": {"documents", "findings", "kafka", "text"},
    "connections": {"findings", "kafka", "migration", "text"},
    "access": {"findings", "kafka", "migration", "text"},
    "discovery": {"connections", "documents", "findings", "text"},
    "evidence": {"findings", "migration"},
    "ledger": {"documents", "evidence", "findings", "kafka", "migration", "text"},
    "mirror": {"documents", "findings", "kafka", "ledger", "migration", "text"},
    "probes": {"findings", "kafka", "migration", "mirror", "text"},
    "validation": {"documents", "findings", "kafka", "ledger", "migration", "text"},
    "translation": {"documents", "kafka", "ledger", "migration", "validation"},
    "groups": {"documents", "findings", "kafka", "ledger", "migration", "mirror", "text", "translation", "validation"},
    "backfill": {"findings", "kafka", "ledger", "translation"},
    "waves": {"kafka", "migration", "text"},
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
        "waves",
    },
    "report": {"documents", "findings", "groups", "kafka", "migration", "mirror", "text", "validation"},
}
# The same for the rooms of the Spark jobs' package.
JOB_ROOMS = {
    "shell": set(),
    "reading": {"shell"},
    "keys": {"reading", "shell"},
    "position": {"keys", "reading", "shell"},
    "translate": {"keys", "reading", "shell"},
    "validate": {"keys", "position", "reading", "shell"},
}
# The same for the rooms of MirrorMaker's files.
FILE_ROOMS = {
    "model": set(),
    "reading": {"model"},
    "effective": {"model"},
    "rules": {"effective", "model"},
    "importing": {"effective", "model"},
}
# Which third-party packages a layer may import; a layer that is not named may import any.
THIRD_PARTY = {
    "core": set(),
    "engines": set(),
    "preflight": set(),
    "host": set(),
    "mirrormaker_files": {"yaml"},
    "migration_file": {"croniter", "pydantic", "pydantic_core", "yaml"},
    "adapters": {"confluent_kafka", "cryptography", "httpcore", "tenacity"},
    "steps": set(),
}
# Heavy packages that no module may import at its top, because every Airflow component imports the package.
HEAVY = {"pyspark", "pandas", "numpy"}


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
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
        target = rest.partition(".")[0]
        return target == layer or target in MAY_IMPORT[layer] or target in {"", "__version__"}
    if top in sys.stdlib_module_names:
        return True
    return top not in HEAVY and top in THIRD_PARTY.get(layer, {top})


def wrong_doors(folder: Path, package: str, table: dict[str, set[str]]) -> list[str]:
    """Return every import between rooms of a package that their table does not allow, as `file -> room`."""
    wrong = []
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
    return wrong_doors(core, "kafka_migration.core", ROOMS)


def test_rooms_follow_the_table() -> None:
    """No room imports another room of its package against the table of rooms."""
    assert [] == wrong_core_doors(PACKAGE / "core")
    assert [] == wrong_doors(ROOT / "spark_jobs" / "kafka_digest", "kafka_digest", JOB_ROOMS)
    assert [] == wrong_doors(PACKAGE / "mirrormaker_files", "kafka_migration.mirrormaker_files", FILE_ROOMS)


def test_every_layer_and_room_is_in_its_table() -> None:
    """Each folder and module of a package is in its table, and each layer and room of a table exists."""
    job_rooms = ROOT / "spark_jobs" / "kafka_digest", JOB_ROOMS
    files = PACKAGE / "mirrormaker_files", FILE_ROOMS
    for folder, table in ((PACKAGE, MAY_IMPORT), (PACKAGE / "core", ROOMS), job_rooms, files):
        parts = {path.name.removesuffix(".py") for path in folder.iterdir() if path.is_dir() or path.suffix == ".py"}
        named = [{name for name in names if not name.startswith("__")} for names in (table, parts)]
        assert named[0] == named[1]


def test_rooms_have_no_cycle() -> None:
    """Each room imports only earlier rooms of the table, so no two rooms can need each other."""
    for table in (ROOMS, JOB_ROOMS, FILE_ROOMS):
        order = list(table)
        assert [] == [(r, other) for r in order for other in table[r] if order.index(other) > order.index(r)]


def test_class_names_are_unique() -> None:
    """No two classes of the package have the same name."""
    trees = [ast.parse(path.read_text()) for path in PACKAGE.rglob("*.py")]
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
    for layer in set(MAY_IMPORT) - {"__main__"}:
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
        (wrong_arrows, "cli/stop.py", f"import {PACKAGE_NAME}.orchestration.a", f"{PACKAGE_NAME}.orchestration.a"),
        (wrong_arrows, "adapters/kafka.py", f"from {PACKAGE_NAME}.cli import stop", f"{PACKAGE_NAME}.cli.stop"),
        (wrong_arrows, "engines/a.py", f"from {PACKAGE_NAME}.adapters import kafka", f"{PACKAGE_NAME}.adapters.kafka"),
        (
            wrong_arrows,
            "adapters/a.py",
            f"from {PACKAGE_NAME}.orchestration import b",
            f"{PACKAGE_NAME}.orchestration.b",
        ),
        (wrong_arrows, "adapters/kafka.py", "def f():\n    import pyspark", "pyspark"),
    ],
)
def test_broken_arrow_is_found(
    tmp_path: Path, wrong_imports: Callable[[Path], list[str]], file: str, line: str, wrong: str
) -> None:
    """An import against the table of layers or of rooms is found wherever it is in the module."""
    path = tmp_path / file
    path.parent.mkdir()
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
