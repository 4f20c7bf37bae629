"""The project in a stock Airflow of its own, once as a folder copy and once as a wheel, and a migration in each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sandbox.jars import kafka_home
from tests.deploy.conftest import Clusters
from tests.deploy.standalone import admins, standalone, url_of
from tests.deploy.stock import StockAirflow, copy_folders
from tests.documents import blocks, commands

pytestmark = [pytest.mark.live, pytest.mark.campaign]

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "installation.md").read_text()
KINDS = {"kafka_migration", "kafka_nightly_sync", "kafka_rollback"}
# What Airflow imports of the package under any other name than its own.
DOUBLES = """\
import sys
from airflow.plugins_manager import _get_plugins
plugins, errors = _get_plugins()
from airflow.dag_processing.dagbag import DagBag
assert not DagBag().import_errors, DagBag().import_errors
files = {name: getattr(module, "__file__", None) or "" for name, module in sys.modules.items()}
print(sorted(n for n, f in files.items() if "/kafka_migration/" in f and not n.startswith("kafka_migration")), errors)
"""
# What `PYTHONPATH=plugins python -m kafka_migration` is, where Airflow itself is not helped by that variable.
RUN_MODULE = """\
import runpy, sys
sys.path.insert(0, sys.argv.pop(1))
runpy.run_module("kafka_migration", run_name="__main__")
"""


def dag_ids(airflow: StockAirflow) -> set[str]:
    """Return the DAGs as the dag-processor would leave them in the database."""
    airflow.airflow("dags", "reserialize")
    return {row["dag_id"] for row in airflow.airflow_json("dags", "list")}


def require_sound(airflow: StockAirflow) -> None:
    """Hold an Airflow to what each deployment must be: no import error, the plugin known, nothing imported twice."""
    assert [] == [row for row in airflow.airflow_json("dags", "list-import-errors") if row]
    plugins = {row["name"] for row in airflow.airflow_json("plugins")}
    assert "kafka_migration" in plugins
    doubles = airflow.command("python", "-c", DOUBLES).strip().splitlines()[-1]
    assert "[] {}" == doubles


def test_folder_copy_works(copied: StockAirflow, clusters: Clusters) -> None:
    """Four folders beside each other are enough: DAGs, plugin, command line and a migration."""
    require_sound(copied)
    assert dag_ids(copied) >= {f"{kind}__demo" for kind in KINDS}

    clusters.migrate(copied, "deployed-copy", "python", "-c", RUN_MODULE, str(copied.home / "plugins"))


def test_first_steps_of_the_installation_page_work(stock: StockAirflow, clusters: Clusters, tmp_path: Path) -> None:
    """With folders, the migration file of the page and each command that follows it lead to a proved topic."""
    copy_folders(tmp_path / "home")
    page = PAGE.split("## 7. First steps")[1]
    (text,) = blocks(page, "yaml")
    migration = tmp_path / "home" / "include" / "migrations" / "shop.yaml"
    migration.write_text(text.replace("/opt/kafka", str(kafka_home())).replace("factor: 3", "factor: 1"))
    for topic in ("orders", "payments"):
        clusters.fill(topic, partitions=1, records=500)
    named = {name.replace("_DEMO_", "_SHOP_"): value for name, value in clusters.connections().items()}
    with standalone(stock, tmp_path, {**named, **admins(tmp_path, {"ada": "ada-password"})}) as airflow:
        login = {"SERVER": url_of(airflow), "USER": "ada", "PASSWORD": "ada-password"}
        airflow.environment |= {f"KAFKA_MIGRATION_AIRFLOW_{name}": value for name, value in login.items()}
        in_folders = commands_in_folders(page)
        printed = {step: airflow.shell(step, expected=None) for step in commands(in_folders, "")}
        (run,) = airflow.airflow_json("dags", "list-runs", "kafka_migration__shop")

    assert ["airflow", *["PYTHONPATH=plugins"] * 4] == [step.split()[0] for step in printed]
    assert "success" == run["state"], printed
    (verdict,) = (text for step, text in printed.items() if "verdict shop" in step)
    assert re.search(r"payments +PASS", verdict), printed


def commands_in_folders(page: str) -> str:
    """Return the page with the command of a copy as folders; it replaces the command of the wheel."""
    ours, theirs = "PYTHONPATH=plugins python -m kafka_migration", "kafka-migration"
    assert f"With folders, `{ours}` replaces `{theirs}`." in page
    return re.sub(rf"^{theirs} ", f"{ours} ", page, flags=re.MULTILINE)


def test_wheel_works(installed: StockAirflow, clusters: Clusters) -> None:
    """With the wheel a DAG file of two lines is enough; its Spark jobs and `mirrorctl` come out of the package."""
    require_sound(installed)
    assert "kafka-migration 0.1.0" == installed.command("kafka-migration", "--version").strip()

    clusters.migrate(installed, "deployed-wheel", "kafka-migration")

    assert dag_ids(installed) == {f"{kind}__deployed-wheel" for kind in KINDS}
