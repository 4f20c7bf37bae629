"""The cost of a start of `kafka-migration`, and of many migration files: for `check`, and for the DAG processor.

Each arm is a fresh process, as users and the DAG processor start it. The opponent of the DAG file only imports what
every DAG file must import, and that of a start is Python alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from bench.measuring import interleaved, ratio
from bench.results import Row
from bench.sizes import Files as Size

ROOT = Path(__file__).parents[1]
FILE = """\
version: 1
name: shop-{number}
source: {{connection: old_kafka}}
target: {{connection: new_kafka, replication_factor: 3}}
topics: [orders-{number}, audit-{number}, {{pattern: 'logs-{number}-.*'}}]
mirror: {{connection: mirror_host, tasks: 2}}
validation: {{spark_connection: spark}}
nightly: {{cron: "0 1 * * *", until: "05:30"}}
"""
MIRRORED = """\
clusters = a, b
a.bootstrap.servers = old:9092
b.bootstrap.servers = new:9092
a->b.enabled = true
a->b.topics = orders, audit
"""
# A start takes milliseconds, so more runs cost little.
STARTS = 7


def rows(size: Size) -> Iterator[Row]:
    """Write the files and time the arms."""
    yield from _starts(size.runs)
    with tempfile.TemporaryDirectory(prefix="kafka-migration-bench-") as name:
        one, checked, parsed = (_folder(Path(name), count) for count in (1, size.checked, size.parsed))
        costs = interleaved({"one": lambda: _check(one), "many": lambda: _check(checked)}, size.runs)
        yield ratio("kafka-migration check, 200 files ÷ one", costs, "many", "one")
        arms = {"DAG file": _python(_parse_in(parsed), parsed), "import": _python("import airflow.sdk", parsed)}
        costs = interleaved(arms, size.runs)
    yield ratio("DAG file with 50 migration files ÷ import airflow.sdk", costs, "DAG file", "import")


def _starts(runs: int) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="kafka-migration-bench-") as name:
        path = Path(name, "mirror-maker.properties")
        path.write_text(MIRRORED)
        compiled = _with_bytecode(Path(name))
        command = ["-m", "kafka_migration"]
        arms = {
            "pass": lambda: _run(["-c", "pass"], compiled),
            "version": lambda: _run([*command, "--version"], compiled),
            "help": lambda: _run([*command, "--help"], compiled),
            "explain": lambda: _run([*command, "explain", "COPY_DIFFERS"], compiled),
            "lint": lambda: _run([*command, "lint", str(path)], compiled),
        }
        costs = interleaved(arms, max(runs, STARTS) if runs > 1 else runs)
    yield ratio("kafka-migration --version ÷ python -c pass", costs, "version", "pass")
    yield ratio("kafka-migration --help ÷ python -c pass", costs, "help", "pass")
    yield ratio("kafka-migration explain of one code ÷ python -c pass", costs, "explain", "pass")
    yield ratio("kafka-migration lint of one file ÷ python -c pass", costs, "lint", "pass")


def _folder(parent: Path, count: int) -> Path:
    folder = parent / f"of-{count}"
    folder.mkdir(exist_ok=True)
    for number in range(count):
        (folder / f"shop-{number}.yaml").write_text(FILE.format(number=number))
    return folder


def _check(folder: Path) -> None:
    _run(["-m", "kafka_migration", "check", "--migrations", str(folder)], {})


def _parse_in(folder: Path) -> str:
    """Return the statements that parse the DAG file and prove that it made a DAG of each migration file."""
    path, count = str(ROOT / "dags" / "kafka_migration.py"), len(list(folder.iterdir()))
    return (
        f"import runpy; made = runpy.run_path({path!r}); "
        f"assert {3 * count} == sum('_shop-' in str(name) for name in made), sorted(made)"
    )


def _python(statements: str, folder: Path) -> Callable[[], None]:
    settings = {**_with_bytecode(folder.parent), "AIRFLOW__KAFKA_MIGRATION__MIGRATIONS_FOLDER": str(folder)}
    return lambda: _run(["-c", statements], settings)


def _with_bytecode(folder: Path) -> dict[str, str]:
    """Return the settings for bytecode, as an installed package has it; the first run of an arm, dropped, writes it."""
    return {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder)}


def _run(arguments: list[str], settings: Mapping[str, str]) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "plugins"), **settings}
    subprocess.run([sys.executable, *arguments], env=environment, check=True, stdout=subprocess.DEVNULL)
