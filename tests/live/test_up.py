"""`make up` as a person uses it: parts are restarted, documented commands work in a shell, backfills under load."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from sandbox.airflow import AirflowFolders
from sandbox.airflow_api import AirflowApi
from sandbox.jars import PROJECT
from sandbox.processes import belonging
from sandbox.sandbox import Sandbox
from sandbox.state import SandboxState
from tests.documents import commands
from tests.waiting import wait_until

pytestmark = [pytest.mark.live, pytest.mark.campaign]

PARTS = ("source", "target", "sshd", "postgres", "api-server", "scheduler", "dag-processor", "triggerer")
BACKFILLS, INTERVALS = 20, 3
DAGS = f"""\
from datetime import datetime

from airflow.sdk import DAG, task

# Long over: only what is asked for runs.
days = {{"start_date": datetime(2024, 1, 1), "end_date": datetime(2024, 12, 31)}}

for number in range({BACKFILLS}):
    with DAG(f"of_a_user_{{number}}", schedule="@daily", catchup=False, **days) as dag:

        @task
        def work():
            pass

        work()
    globals()[dag.dag_id] = dag
"""


def command(root: Path, name: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the sandbox on a root folder."""
    words = (sys.executable, "-m", "sandbox", name, "--root", str(root), *options)
    return subprocess.run(words, cwd=PROJECT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a filled sandbox in the background."""
    folder = tmp_path_factory.mktemp("up") / "root"
    done = command(folder, "up")
    assert done.returncode == 0, done.stdout
    fill = (sys.executable, "-m", "sandbox.data", "--root", str(folder))
    subprocess.run(fill, cwd=PROJECT, capture_output=True, check=True)
    yield folder
    assert command(folder, "down").returncode == 0


@pytest.mark.parametrize("parts", [*((part,) for part in PARTS), PARTS], ids=lambda parts: "+".join(parts)[:20])
def test_dead_parts_are_named_and_started_again(root: Path, parts: tuple[str, ...]) -> None:
    """`status` names each killed part and ends with 1; `make up` starts it on its old ports, and all is well again."""
    before = SandboxState.load(root / "state.json")
    for part in parts:
        os.kill(before.pids[part], signal.SIGKILL)
    wait_until(lambda: all(named(root, part) for part in parts), what="the naming of what is dead")
    assert 1 == command(root, "status").returncode

    up = command(root, "up")
    wait_until(lambda: command(root, "status").returncode == 0, 120, "a sandbox that is well")

    after = SandboxState.load(root / "state.json")
    assert 0 == up.returncode, up.stdout
    assert all(after.pids[part] != before.pids[part] for part in parts)
    assert before.source_bootstrap == after.source_bootstrap
    assert before.airflow_url == after.airflow_url


def named(root: Path, part: str) -> bool:
    """True once `status` says of the part that it does not run."""
    lines = command(root, "status").stdout.splitlines()
    return any(line.split()[:1] == [part] and "NOT RUNNING" in line for line in lines)


def test_documented_commands_work_in_a_shell(root: Path) -> None:
    """What docs/start/sandbox.md shows after `. .sandbox/env` works, each command by itself, from any folder."""
    page = (PROJECT / "docs" / "start" / "sandbox.md").read_text()
    shown = [line for line in commands(page, "sh") if line.startswith(("airflow ", "kafka-migration "))]
    assert {"kafka-migration trigger", "airflow backfill", "kafka-migration decommission", "kafka-migration waves"} <= {
        " ".join(line.split()[:2]) for line in shown
    }

    done = {}
    for line in shown:
        done[line] = in_shell(root, line)
        # `status` knows a migration once its first run has written something; the first command starts that run.
        wait_until((root / "evidence" / "demo").exists, 400, "the run's first document")

    said = {line: each.stderr + each.stdout for line, each in done.items()}
    assert not any(noise in text for text in said.values() for noise in ("Traceback", "gitwildmatch")), said
    # `decommission` says no: nothing is cut over.
    wanted = {line: 5 if "decommission" in line else 0 for line in shown}
    assert wanted == {line: each.returncode for line, each in done.items()}, done


def in_shell(root: Path, line: str) -> subprocess.CompletedProcess[str]:
    """Run a line as a person does in a shell that has read the environment file."""
    words = ("sh", "-c", f". {shlex.quote(str(root))}/env; {line}")
    bare = {name: value for name, value in os.environ.items() if not name.startswith("AIRFLOW")}
    return subprocess.run(words, cwd="/", env=bare, capture_output=True, text=True, check=False)


@contextmanager
def busy_machine(processes: int = 2) -> Iterator[None]:
    """Other work on the machine: processes that never rest."""
    busy = [subprocess.Popen((sys.executable, "-c", "while True: pass")) for _ in range(processes)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def test_twenty_backfills_under_load(tmp_path: Path) -> None:
    """`airflow backfill create`, four at a time on a busy machine: no error, and every run succeeds."""
    (tmp_path / "dags").mkdir()
    (tmp_path / "dags" / "of_a_user.py").write_text(DAGS)
    names = [f"of_a_user_{number}" for number in range(BACKFILLS)]
    folders = AirflowFolders(dags=tmp_path / "dags")
    with Sandbox(tmp_path / "root", folders=folders) as sandbox, AirflowApi.of(sandbox.state) as api, busy_machine():
        for name in names:
            api.wait_for_dag(name)
        with ThreadPoolExecutor(4) as pool:
            done = list(pool.map(lambda name: backfill(sandbox, name), names))

        assert [] == [each.stderr[-2000:] for each in done if each.returncode or "locked" in each.stderr]
        wait_until(lambda: all(succeeded(api, name) for name in names), 1200, "the end of every run")
        sandbox.check()

    assert set() == belonging(sandbox.sandbox_id)


def backfill(sandbox: Sandbox, dag_id: str) -> subprocess.CompletedProcess[str]:
    """Ask for three past days of a DAG."""
    days = ("--from-date", "2024-02-01", "--to-date", f"2024-02-{INTERVALS:02}")
    return sandbox.run_airflow("backfill", "create", "--dag-id", dag_id, *days)


def succeeded(api: AirflowApi, dag_id: str) -> bool:
    """True once each run of the backfill is a success; one that failed is an error."""
    states = [state for run, state in api.run_states(dag_id).items() if run.startswith("backfill")]
    assert "failed" not in states, dag_id
    return states == ["success"] * INTERVALS
