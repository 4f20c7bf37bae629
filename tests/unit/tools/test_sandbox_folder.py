"""The sandbox's folder: what a start removes, what it keeps, and what a person's shell reads there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kafka_migration.cli.shell.airflow_server import PASSWORD, SERVER, USER
from sandbox import health, shell
from sandbox.airflow import Airflow
from sandbox.connect import workers_on
from sandbox.folder import Folder
from sandbox.kafka import KafkaCluster
from sandbox.layout import Layout
from sandbox.postgres import Postgres
from sandbox.processes import MARKER
from sandbox.ssh import SshHost
from sandbox.state import SandboxState
from sandbox.yarn import PORTS as YARN_PORTS
from sandbox.yarn import YarnCluster


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """The places of a sandbox that was never started."""
    host = SshHost(tmp_path / "ssh", 3, tmp_path / "mirror-host")
    host.folder.mkdir()
    (host.folder / "host_key.pub").write_text("ssh-ed25519 AAAA comment\n")
    return Layout(
        root=tmp_path,
        sandbox_id="some",
        source=KafkaCluster("source", tmp_path / "source", 1, 11),
        target=KafkaCluster("target", tmp_path / "target", 2, 12),
        host=host,
        airflow=Airflow(tmp_path / "airflow", 4, Postgres(tmp_path / "postgres", 5)),
    )


def test_evidence_of_the_sandbox_before_is_kept_aside(tmp_path: Path) -> None:
    """A start moves the evidence of the last sandbox to a folder of its own and says which; the rest is removed."""
    report = tmp_path / "evidence" / "demo" / "report.md"
    report.parent.mkdir(parents=True)
    report.write_text("to be quoted")
    (tmp_path / "logs").mkdir()
    (tmp_path / "env").touch()

    kept = Folder(tmp_path).begin("next")

    assert kept is not None
    assert kept.parent == tmp_path / "earlier-evidence"
    assert (kept / "demo" / "report.md").read_text() == "to be quoted"
    assert {"earlier-evidence", "owner.json"} == {path.name for path in tmp_path.iterdir()}


def test_a_sandbox_without_evidence_leaves_nothing_to_keep(tmp_path: Path) -> None:
    """An empty evidence folder is removed in silence."""
    (tmp_path / "evidence").mkdir()

    assert Folder(tmp_path).begin("next") is None
    assert {"owner.json"} == {path.name for path in tmp_path.iterdir()}


def test_the_folder_is_its_owners_own(tmp_path: Path) -> None:
    """Other users of the machine see nothing of a sandbox."""
    folder = Folder(tmp_path / "root")

    folder.acquire()
    folder.release()

    assert 0o700 == (tmp_path / "root").stat().st_mode & 0o777


def test_each_sandbox_has_a_password_of_its_own(tmp_path: Path, layout: Layout) -> None:
    """The password of Airflow's admin is random, and only the owner can read its file."""
    other = Airflow(tmp_path / "other", 4, Postgres(tmp_path / "postgres", 5))

    layout.airflow.write_home()

    passwords = tmp_path / "airflow" / "passwords.json"
    assert {"demo": layout.airflow.password} == json.loads(passwords.read_text())
    assert 0o600 == passwords.stat().st_mode & 0o777
    assert layout.airflow.password != other.password
    assert layout.airflow.database.password != other.database.password
    assert len(layout.airflow.password) >= 12
    assert layout.airflow.password not in repr(layout)


def test_a_shell_finds_airflow_the_connections_and_the_command_line(tmp_path: Path, layout: Layout) -> None:
    """After `. env` a shell has the settings, the connections and Airflow's address, and the programs on its PATH."""
    login = shell.airflow_login("http://127.0.0.1:1", "demo", "pass word")
    wanted = {**layout.own_environment({"ODD": 'it\'s "quoted" $HOME'}), **login}
    assert {SERVER, USER, PASSWORD} == set(login)
    assert {} == shell.airflow_login(None, "demo", "pass word")
    shell.write_shell(tmp_path, wanted, layout.airflow.folders.plugins)

    said = _in_shell(tmp_path, "env -0; for name in airflow kafka-migration spark-submit; do command -v $name; done")

    *variables, programs = said.split("\0")
    assert set(wanted.items()) <= {tuple(line.split("=", 1)) for line in variables}
    assert [str(tmp_path / "bin" / name) for name in ("airflow", "kafka-migration", "spark-submit")] == programs.split()
    assert 0o600 == (tmp_path / "env").stat().st_mode & 0o777
    assert "decommission" in _in_shell(tmp_path, "kafka-migration --help")


def test_airflows_own_deprecation_is_no_news(layout: Layout) -> None:
    """Airflow reads `.airflowignore` in a way that is about to go; not each task and command has to say so."""
    ignoring = "from airflow._shared.module_loading.file_discovery import _GlobIgnoreRule as rule; "
    command = f"{ignoring}from pathlib import Path; rule.compile('x/', Path('/a'), Path('/a/.airflowignore'))"

    done = subprocess.run(
        (sys.executable, "-c", f"import airflow.settings; {command}"),
        env={**os.environ, "PYTHONWARNINGS": layout.own_environment({})["PYTHONWARNINGS"]},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (0, False) == (done.returncode, "gitwildmatch" in done.stderr + done.stdout), done.stderr


def test_a_shell_does_not_end_with_the_sandbox(tmp_path: Path, layout: Layout) -> None:
    """What ends with the sandbox carries its marker; a person's shell, and what it starts, must not."""
    shell.write_shell(tmp_path, layout.own_environment({}), layout.airflow.folders.plugins)

    assert MARKER in layout.airflow_environment({})
    assert MARKER not in _in_shell(tmp_path, "env")


def test_a_dead_part_is_named_with_its_log(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part whose process is gone is NOT RUNNING, one that runs in silence is another matter, and the rest is well."""
    monkeypatch.setattr(health, "answers_metadata", lambda address: address.endswith(":1"))
    gone = subprocess.Popen(("true",))
    gone.wait()
    pids = dict.fromkeys(("source", "target", "dag-processor", "triggerer"), os.getpid()) | {"scheduler": gone.pid}
    state: SandboxState = layout.state(pids, {}, with_airflow=True)
    monkeypatch.setattr(health, "health", lambda _: {"scheduler": UNWELL, "dag_processor": UNWELL, "triggerer": WELL})

    found = health.troubles(state)

    assert ["scheduler"] == health.dead_parts(state)
    assert {"scheduler", "target", "dag-processor"} == set(found)
    assert f"NOT RUNNING; its log: {layout.logs / 'scheduler.log'}" == found["scheduler"]
    assert "DOES NOT ANSWER" in found["target"]
    assert "DOES NOT ANSWER" in found["dag-processor"]


def test_connect_workers_are_reached_by_their_connection_and_watched(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With workers there is a connection to the first of them, and a worker that does not answer is named."""
    workers = workers_on((21, 22), layout.root / "connect", layout.target.bootstrap)
    running = replace(layout, workers=workers)
    monkeypatch.setattr(health, "answers_metadata", lambda _: True)
    monkeypatch.setattr(health, "answers", lambda url: url.endswith(":21"))

    state = running.state(dict.fromkeys(("connect-1", "connect-2"), os.getpid()), {}, with_airflow=False)

    connection = json.loads(running.own_environment({})["AIRFLOW_CONN_DEMO_CONNECT"])
    assert {"conn_type": "http", "host": "http://127.0.0.1", "port": 21} == connection
    assert "AIRFLOW_CONN_DEMO_CONNECT" not in layout.own_environment({})
    assert {"connect-1": "http://127.0.0.1:21", "connect-2": "http://127.0.0.1:22"} == state.connect_urls
    assert ["connect-2"] == list(health.troubles(state))


def test_yarn_is_reached_in_both_deploy_modes(layout: Layout) -> None:
    """With YARN there is a protected connection per deploy mode, and `spark-submit` and drivers find what they need."""
    yarn = YarnCluster(layout.root / "yarn", tuple(range(31, 31 + YARN_PORTS)))
    environment = replace(layout, yarn=yarn).own_environment({})

    assert {"AIRFLOW_CONN_DEMO_YARN_CLIENT", "AIRFLOW_CONN_DEMO_YARN_CLUSTER"}.isdisjoint(layout.own_environment({}))
    for mode in ("client", "cluster"):
        connection = json.loads(environment[f"AIRFLOW_CONN_DEMO_YARN_{mode.upper()}"])
        assert ("yarn", mode) == (connection["host"], connection["extra"]["deploy-mode"])
        assert "true" == connection["extra"]["spark.authenticate"]
    assert str(layout.root / "yarn" / "conf") == environment["HADOOP_CONF_DIR"]
    assert layout.evidence.as_uri() == environment["AIRFLOW__KAFKA_MIGRATION__SPARK_EVIDENCE_ROOT"]


def test_yarn_listens_on_its_own_ports_of_this_machine_only(tmp_path: Path) -> None:
    """Each address of YARN is one of the given ports on 127.0.0.1, and what runs in it carries the sandbox's marker."""
    yarn = YarnCluster(tmp_path, tuple(range(31, 31 + YARN_PORTS)))
    yarn.manager_part({**os.environ, MARKER: "some"}, tmp_path)
    found = ElementTree.parse(yarn.conf / "yarn-site.xml").getroot()
    values = {each.findtext("name") or "": each.findtext("value") or "" for each in found}

    addresses = [value for name, value in values.items() if name.endswith("address")]
    assert {f"127.0.0.1:{port}" for port in range(31, 31 + YARN_PORTS)} == set(addresses)
    assert f"{MARKER}=some" == values["yarn.nodemanager.admin-env"]


WELL, UNWELL = {"status": "healthy"}, {"status": "unhealthy"}


def _in_shell(root: Path, commands: str) -> str:
    done = subprocess.run(("sh", "-c", f". {root}/env; {commands}"), capture_output=True, text=True, check=True)
    return done.stdout
