"""The other versions of Airflow, each in an environment of its own from a list of packages in the folder `airflow`.

`make lock-airflow` writes the lists. The newest version is that of `requirements.lock`, with which all other tests run.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.deploy.conftest import Clusters
from tests.deploy.stock import ROOT, StockAirflow, build_wheel, copy_folders, listed_environment
from tests.documents import blocks

pytestmark = [pytest.mark.live, pytest.mark.campaign]

SUPPORTED = ("3.2.2", "3.3.0")
REFUSED = "3.1.8"
TIMEOUT_S = 3_600
# What differs between the versions: approvals, the question to the producers, tries again, schedules, backfills.
RUNS = (
    "test_cutover.py::test_groups_move_and_read_on",
    "test_cutover.py::test_cutover_that_a_person_aborts",
    "test_cutover.py::test_refused_approval_writes_nothing",
    "test_cutover.py::test_tasks_killed_between_any_two_steps_come_to_the_same_end",
    "test_nightly.py::test_two_nights_copy_what_each_found",
    "test_nightly.py::test_backfill_counts_each_record_in_one_interval",
)


@pytest.fixture(scope="module", params=SUPPORTED)
def versioned(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> StockAirflow:
    """An environment with one of the supported versions."""
    return listed_environment(tmp_path_factory.mktemp("versioned") / "venv", request.param)


def test_tasks_work(versioned: StockAirflow) -> None:
    """The tests of DAGs and tasks pass with this version."""
    assert_passed(versioned, "tests/airflow")


def test_runs_of_a_scheduler_work(versioned: StockAirflow) -> None:
    """Rehearsal, approved and refused cutovers, killed tasks, scheduled nights and a backfill do what they should."""
    assert_passed(versioned, *(f"tests/live/{test}" for test in RUNS))


def test_wheel_works(versioned: StockAirflow, clusters: Clusters, tmp_path: Path) -> None:
    """The wheel goes together with this version, keeps it, and copies and proves a topic."""
    before = versioned.airflow("version").strip()
    versioned.install(str(build_wheel(tmp_path)), f"apache-airflow=={before}", is_locked=False)
    for folder in ("dags", "include/migrations"):
        (tmp_path / "home" / folder).mkdir(parents=True)
    airflow = versioned.with_home(tmp_path / "home", **clusters.connections())
    (dag_file,) = blocks((ROOT / "docs" / "installation.md").read_text(), "python")
    (airflow.home / "dags" / "migrations.py").write_text(dag_file)

    clusters.migrate(airflow, f"airflow-{before}".replace(".", "-"), "kafka-migration")

    assert before == airflow.airflow("version").strip()


def test_older_airflow_is_refused_in_words(tmp_path: Path) -> None:
    """A version that is too old shows one DAG with the reason. Runs and commands end with it, without a traceback."""
    old = listed_environment(tmp_path / "venv", REFUSED)
    copy_folders(tmp_path / "home")
    airflow = old.with_home(tmp_path / "home")
    airflow.airflow("dags", "reserialize")

    assert ["kafka_migration"] == [row["dag_id"] for row in airflow.airflow_json("dags", "list")]
    assert [] == [row for row in airflow.airflow_json("dags", "list-import-errors") if row]
    run = airflow.shell("airflow dags test kafka_migration 2>&1", expected=None)
    command = airflow.shell("PYTHONPATH=plugins python -m kafka_migration preflight demo 2>&1", expected=None)
    for text in (run, command):
        assert f"Airflow {REFUSED} is installed, and this package needs 3.2.2" in text
        assert "Traceback" not in text


def test_wheel_is_not_installed_beside_an_older_airflow(tmp_path: Path) -> None:
    """The installer refuses the wheel if it must keep an Airflow that is too old."""
    with pytest.raises(AssertionError, match=r"(?s)kafka-migration-airflow.*unsatisfiable"):
        listed_environment(tmp_path / "venv", REFUSED).install(
            str(build_wheel(tmp_path)), f"apache-airflow=={REFUSED}", is_locked=False
        )


def assert_passed(airflow: StockAirflow, *tests: str) -> None:
    """Run tests of the project with another Airflow; show the end of what they print if one fails."""
    command = [str(airflow.python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "--durations=0", *tests]
    path = f"{airflow.venv / 'bin'}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PATH": path, "WARM_SPARK": "1"},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert 0 == done.returncode, done.stdout[-6000:] + done.stderr[-3000:]
