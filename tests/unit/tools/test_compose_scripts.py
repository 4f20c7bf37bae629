"""The scripts that the images of Airflow, PostgreSQL and Spark start with, run with stand-ins for what they call."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[3] / "docker"


def stand_in(folder: Path, name: str, text: str) -> None:
    """Put a command in front of whatever has its name."""
    (folder / "bin").mkdir(exist_ok=True)
    (folder / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / "bin" / name).chmod(0o755)


def start(
    script: Path, folder: Path, variables: Mapping[str, str], *arguments: str
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", **variables}
    return subprocess.run([script, *arguments], env=environment, capture_output=True, text=True, timeout=180)


@pytest.fixture
def airflow(tmp_path: Path) -> Path:
    """A folder with migration files, and an `airflow` that says how it was called."""
    (tmp_path / "include" / "migrations").mkdir(parents=True)
    (tmp_path / "include" / "migrations" / "shop.yaml").touch()
    stand_in(tmp_path, "python", f'exec {sys.executable} "$@"')
    stand_in(tmp_path, "airflow", 'echo "airflow $* ${ADMIN_PASSWORD:-}"')
    return tmp_path


def start_airflow(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    places = {"AIRFLOW_HOME": str(folder), "AIRFLOW__CORE__DAGS_FOLDER": str(folder / "dags")}
    return start(SCRIPTS / "airflow.sh", folder, {**places, **variables}, "scheduler")


@pytest.mark.parametrize("password", ["plain", 'quo"te', "back\\slash", "line\nbreak", "ümlaut"])
def test_every_password_becomes_json(airflow: Path, password: str) -> None:
    """The file has the password as it is, for its owner only; Airflow does not get the variable."""
    done = start_airflow(airflow, ADMIN_PASSWORD=password)
    file = airflow / "passwords.json"

    assert (0, "airflow scheduler \n") == (done.returncode, done.stdout)
    assert {"admin": password} == json.loads(file.read_text())
    assert 0o600 == stat.S_IMODE(file.stat().st_mode)


def test_a_migration_file_that_cannot_be_read_is_refused(airflow: Path) -> None:
    """Airflow does not start, and one line says what to do. Root cannot read a dangling link either."""
    (airflow / "include" / "migrations" / "closed.yaml").symlink_to("nowhere")
    done = start_airflow(airflow)

    assert (3, "", 1) == (done.returncode, done.stdout, len(done.stderr.splitlines()))
    assert "closed.yaml. On the host: chmod -R a+rX include/migrations" in done.stderr


def test_what_is_no_migration_file_need_not_be_readable(airflow: Path) -> None:
    """An editor's own files do not keep Airflow from starting."""
    (airflow / "include" / "migrations" / ".#shop.yaml").symlink_to("nowhere")
    (airflow / "include" / "migrations" / "notes").symlink_to("nowhere")

    assert 0 == start_airflow(airflow).returncode


@pytest.fixture
def postgres(tmp_path: Path) -> Path:
    """The script with a data folder of its own, and an `initdb` that makes one."""
    text = (SCRIPTS / "postgres.sh").read_text().replace("/var/lib/postgresql/data", str(tmp_path))
    (tmp_path / "postgres.sh").write_text(text)
    (tmp_path / "postgres.sh").chmod(0o755)
    stand_in(tmp_path, "initdb", 'mkdir "${1#--pgdata=}"')
    return tmp_path


def start_postgres(folder: Path, single_user: str) -> subprocess.CompletedProcess[str]:
    """Start it with a server whose single-user mode, reading statements, does this."""
    stand_in(folder, "postgres", f'[ "$1" = --single ] || exec echo serving "$2"\n{single_user}')
    return start(folder / "postgres.sh", folder, {"AIRFLOW_DB_PASSWORD": "secret"})


def test_a_database_is_made_once(postgres: Path) -> None:
    """A database is served after it was found, and the second start creates none."""
    found = """sed -n "s/SELECT.*/1: datname = \\"airflow\\"/p" """

    assert f"serving {postgres}/main\n" == start_postgres(postgres, found).stdout
    assert f"serving {postgres}/main\n" == start_postgres(postgres, "exit 1").stdout


def test_a_database_that_was_not_made_is_not_taken_for_one(postgres: Path) -> None:
    """Statements that failed leave nothing that the next start would serve."""
    failed = start_postgres(postgres, "cat >/dev/null")

    assert (1, "") == (failed.returncode, failed.stdout)
    assert "The database was not made" in failed.stderr
    assert not (postgres / "main").exists()


def test_spark_reads_its_secret_from_a_file(tmp_path: Path) -> None:
    """The secret is in a file for its owner only; the daemon, whose environment executors inherit, does not get it."""
    stand_in(tmp_path, "spark-class", 'echo "spark-class $* ${SPARK_SECRET:-}"')
    variables = {"SPARK_CONF_DIR": str(tmp_path / "conf"), "SPARK_SECRET": "canary"}
    done = start(SCRIPTS / "spark.sh", tmp_path, variables, "org.apache.spark.deploy.master.Master")
    file = tmp_path / "conf" / "spark-defaults.conf"

    assert (0, "spark-class org.apache.spark.deploy.master.Master \n") == (done.returncode, done.stdout)
    assert "spark.authenticate.secret canary" in file.read_text().splitlines()
    assert 0o600 == stat.S_IMODE(file.stat().st_mode)


def test_forced_command_is_not_only_in_a_file_that_the_login_may_change() -> None:
    """sshd's own configuration, which belongs to root, forces the command that the key's line forces."""
    configuration = (SCRIPTS / "sshd_config").read_text().splitlines()
    (forced,) = [line.removeprefix("ForceCommand ") for line in configuration if line.startswith("ForceCommand ")]

    assert f'command="{forced}"' in (SCRIPTS / "mirror-host.sh").read_text()
