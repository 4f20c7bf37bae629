"""A command loads only what it needs: most of its time is the import of modules."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PLUGINS = Path(__file__).parents[3] / "plugins"


def loaded(*arguments: str) -> set[str]:
    """Return the modules that a command loads in a process of its own."""
    program = (
        "import sys, contextlib\n"
        "from kafka_migration.cli.main import main\n"
        f"with contextlib.suppress(SystemExit): main({list(arguments)})\n"
        "sys.stderr.write('\\n'.join(sys.modules))"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env={"PYTHONPATH": str(PLUGINS)}, capture_output=True, text=True, check=True)
    return set(done.stderr.splitlines())


def verbs_in(modules: set[str]) -> set[str]:
    names = (name.rpartition(".")[2] for name in modules if name.startswith("kafka_migration.cli."))
    return {name.removesuffix("_verb") for name in names if name.endswith("_verb")}


def test_version_loads_no_verb() -> None:
    """The version needs no verb, no finding and no library."""
    modules = loaded("--version")

    assert set() == verbs_in(modules)
    assert not {"pydantic", "yaml", "kafka_migration.core.findings.codes"} & modules


def test_lint_loads_neither_the_other_verbs_nor_the_clients(tmp_path: Path) -> None:
    """The linter needs no migration file, no cluster and no Airflow."""
    path = tmp_path / "mm2.properties"
    path.write_text("clusters = a, b\na.bootstrap.servers = h:9092\nb.bootstrap.servers = i:9092\n")
    modules = loaded("lint", str(path))

    assert {"lint"} == verbs_in(modules)
    assert not {"pydantic", "confluent_kafka", "airflow", "logging"} & modules


def test_explanations_need_no_library() -> None:
    """A code is explained without the other verbs, the migration file, the clients and Airflow."""
    modules = loaded("explain", "COPY_DIFFERS")

    assert {"explain"} == verbs_in(modules)
    assert not {"pydantic", "yaml", "confluent_kafka", "airflow", "kafka_migration.core.migration.settings"} & modules


ALL_NAMES = [["--help"], ["nonsense"], ["--nonsense"], []]


@pytest.mark.parametrize("arguments", ALL_NAMES, ids=" ".join)
def test_help_and_refusals_load_no_verb(arguments: list[str]) -> None:
    """The help and the refusal of an unknown verb need the table of the verbs only."""
    modules = loaded(*arguments)

    assert set() == verbs_in(modules)
    assert not {"pydantic", "yaml", "rich", "airflow"} & modules


@pytest.mark.parametrize("arguments", [["--nonsense", "verdict"], ["verdict", "--help"]], ids=" ".join)
def test_only_the_named_verb_is_loaded(arguments: list[str]) -> None:
    """Also after an unknown option the first verb decides."""
    assert {"verdict"} == verbs_in(loaded(*arguments))
