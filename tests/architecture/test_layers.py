"""The layers of ADR 0001, held to by walking every import."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.unit

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "plugins" / "kafka_migration"

# Which layers of the package a layer may import, besides itself.
MAY_IMPORT = {
    "core": set(),
    "clients": {"core"},
    "spec": {"core"},
    "engines": {"core", "clients"},
    "adapters": {"core", "clients"},
    "preflight": {"core", "spec", "clients", "engines"},
    "orchestration": {"core", "clients", "spec", "engines", "adapters", "preflight"},
    "cli": {"core", "clients", "spec", "engines", "adapters", "preflight"},
    "__main__": {"cli"},
    "web": {"core", "adapters"},
    "host": set(),
}
# Which third-party packages a layer may import; a layer that is not named may import any.
THIRD_PARTY = {
    "core": set(),
    "clients": set(),
    "engines": set(),
    "preflight": set(),
    "host": set(),
    "spec": {"croniter", "pydantic", "pydantic_core", "yaml"},
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


def test_package_follows_the_table():
    """No module of the package imports against the table of layers."""
    assert [] == wrong_arrows(PACKAGE)


def test_every_layer_is_in_the_table():
    """A new folder of the package must be given its place in the table."""
    folders = {p.name for p in PACKAGE.iterdir() if p.is_dir() and p.name != "__pycache__"}

    assert set() == folders - set(MAY_IMPORT)


def test_nothing_imports_the_command_line():
    """Only `python -m kafka_migration` leads to the command line; no other layer knows it."""
    assert ["__main__"] == [layer for layer, allowed in MAY_IMPORT.items() if "cli" in allowed]


@pytest.mark.parametrize(
    ("file", "line", "wrong"),
    [
        ("core/lag.py", "import kafka_migration.adapters.kafka", "kafka_migration.adapters.kafka"),
        ("core/lag.py", "import yaml", "yaml"),
        ("cli/stop.py", "from kafka_migration.orchestration import run", "kafka_migration.orchestration.run"),
        ("adapters/kafka.py", "from kafka_migration.cli import stop", "kafka_migration.cli.stop"),
        ("engines/mm.py", "from kafka_migration.adapters import kafka", "kafka_migration.adapters.kafka"),
        ("adapters/kafka.py", "from kafka_migration.orchestration import run", "kafka_migration.orchestration.run"),
        ("adapters/kafka.py", "def f():\n    import pyspark", "pyspark"),
    ],
)
def test_broken_arrow_is_found(tmp_path: Path, file: str, line: str, wrong: str):
    """An import against the table is found wherever it stands in the module."""
    path = tmp_path / file
    path.parent.mkdir()
    path.write_text(line)

    assert [f"{file} -> {wrong}"] == wrong_arrows(tmp_path)


def test_dag_files_import_only_orchestration():
    """A DAG file is a table of contents: it imports nothing of the package but orchestration."""
    names = [name for path in (ROOT / "dags").glob("*.py") for name in _imports(path)]
    ours = [name for name in names if name.startswith("kafka_migration")]

    assert ours
    assert all(name.startswith("kafka_migration.orchestration.") for name in ours)


def test_spark_jobs_stand_alone():
    """Spark jobs import nothing of the package: they run where it is not installed."""
    names = [name for path in (ROOT / "spark_jobs").rglob("*.py") for name in _imports(path)]

    assert [] == [name for name in names if name.startswith(("kafka_migration", "airflow"))]


def test_plugins_are_ignored_by_airflows_loader():
    """`.airflowignore` keeps Airflow from executing the package's modules a second time under bare names."""
    assert "kafka_migration/" in (ROOT / "plugins" / ".airflowignore").read_text().split()
