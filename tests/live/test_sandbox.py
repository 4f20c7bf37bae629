"""The sandbox starts real parts, says why when it cannot, and leaves nothing behind however it ends."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from sandbox.airflow import HEALTH_COMPONENTS
from sandbox.environment import base_environment
from sandbox.errors import AlreadyRunning, PartDied, PortTaken
from sandbox.folder import CONTENT, KEPT, Folder
from sandbox.jars import PROJECT
from sandbox.kafka import KafkaCluster
from sandbox.parts import HOST, Part, free_ports, wait_ready
from sandbox.processes import belonging, identify
from sandbox.sandbox import Sandbox
from sandbox.state import SandboxState
from tests.programs import installed
from tests.waiting import wait_until

pytestmark = pytest.mark.live

# What a MirrorMaker does: leave its login session and stay.
DAEMON = "setsid sleep 3600 >/dev/null 2>&1 </dev/null &"


@pytest.fixture(scope="module")
def lines() -> list[str]:
    """What the sandbox of this module tells a person."""
    return []


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> Iterator[Sandbox]:
    """Both clusters and the MirrorMaker host, without Airflow."""
    with Sandbox(tmp_path_factory.mktemp("base"), airflow=False, report=lines.append) as running:
        yield running


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A sandbox without Airflow in a process of its own, just started; its root is `tmp_path / "root"`."""
    command = (sys.executable, "-m", "sandbox", "supervise", "--no-airflow", "--root", str(tmp_path / "root"))
    with (tmp_path / "supervisor.log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=PROJECT, stdout=log, stderr=subprocess.STDOUT, preexec_fn=_hear_interrupts
        )
    yield process
    process.terminate()
    process.wait(240)


def _hear_interrupts() -> None:
    # A shell makes what it runs in the background deaf to Ctrl-C, and children inherit that.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_both_clusters_answer_under_the_names_of_the_state(base: Sandbox) -> None:
    """Each bootstrap address leads to a cluster of its own."""
    state = base.state
    ids = {_cluster_id(address) for address in (state.source_bootstrap, state.target_bootstrap)}

    assert len(ids) == 2
    assert state == SandboxState.load(state.root / "state.json")


def test_state_file_is_for_its_owner_only(base: Sandbox) -> None:
    """state.json holds passwords: mode 0600."""
    assert (base.state.root / "state.json").stat().st_mode & 0o777 == 0o600


def test_next_start_removes_every_file_but_evidence(base: Sandbox) -> None:
    """A folder that a start does not know would be in the way of the next sandbox in the same root."""
    assert {path.name for path in base.state.root.iterdir()} <= {*CONTENT, *KEPT}


def test_sessions_on_the_host_know_kafka(base: Sandbox) -> None:
    """A login, with strict host keys, has KAFKA_HOME with jars and a java on its PATH."""
    done = _ssh(base.state, 'ls "$KAFKA_HOME"/libs/kafka_2.13-*.jar && java -version')

    assert done.returncode == 0, done.stderr


def test_a_second_sandbox_in_the_same_root_is_refused(base: Sandbox) -> None:
    """One root holds one sandbox at a time."""
    with pytest.raises(AlreadyRunning):
        Sandbox(base.state.root, airflow=False).start()

    assert _cluster_id(base.state.source_bootstrap)


def test_a_part_that_dies_is_reported_with_its_log_and_can_be_restarted(base: Sandbox, lines: list[str]) -> None:
    """A death that nobody asked for is reported at once, once; after a restart the part answers at its old address."""
    os.kill(base.state.pids["target"], signal.SIGKILL)
    wait_until(lambda: any(line.startswith("FAULT: target") for line in lines), what="the report")
    fault = next(line for line in lines if line.startswith("FAULT: target"))

    assert "signal SIGKILL" in fault
    assert "Kafka Server started" in fault
    with pytest.raises(PartDied, match="target ended with signal SIGKILL"):
        base.check()

    address, old_pid = base.state.target_bootstrap, base.state.pids["target"]
    base.restart("target")

    base.check()
    assert _cluster_id(address)
    assert old_pid != SandboxState.load(base.state.root / "state.json").pids["target"]


def test_connect_workers_are_one_cluster_on_the_target(tmp_path: Path) -> None:
    """Each worker answers under its name, names the target as its Kafka, and leaves only folders that a start knows."""
    with Sandbox(tmp_path / "root", airflow=False, connect=2) as running:
        state = running.state
        ids = {name: _json(url)["kafka_cluster_id"] for name, url in state.connect_urls.items()}

        assert dict.fromkeys(("connect-1", "connect-2"), _cluster_id(state.target_bootstrap)) == ids
        assert {*ids} <= set(state.pids)
        assert {path.name for path in state.root.iterdir()} <= {*CONTENT, *KEPT}
        assert "AIRFLOW_CONN_DEMO_CONNECT" in state.environment

    assert running.pids_alive() == set()


def test_an_early_death_names_the_exception(tmp_path: Path) -> None:
    """A broker whose port is taken dies while starting; the error holds the exception's class and text."""
    environment = base_environment("early-death")
    with socket.create_server((HOST, 0)) as taken:
        cluster = KafkaCluster("source", tmp_path / "source", taken.getsockname()[1], free_ports(1)[0])
        cluster.format(environment)
        part = Part(cluster.part(environment, tmp_path))
        part.start()
        try:
            with pytest.raises(PartDied, match=r"source ended with exit code 1") as caught:
                wait_ready([part])
        finally:
            part.stop()

    assert "Address already in use" in str(caught.value)
    assert "BindException" in str(caught.value) or "KafkaException" in str(caught.value)


def test_a_taken_port_is_one_clear_error(tmp_path: Path) -> None:
    """A port that was asked for and is taken is named, and nothing runs afterwards."""
    with socket.create_server((HOST, 0)) as taken:
        port = taken.getsockname()[1]
        sandbox = Sandbox(tmp_path / "root", airflow_port=port)
        with pytest.raises(PortTaken, match=f"port {port} for Airflow is taken"):
            sandbox.start()

    assert sandbox.pids_alive() == set()
    assert not (tmp_path / "root" / "state.json").exists()


@pytest.mark.campaign
def test_an_orderly_end_leaves_nothing(tmp_path: Path) -> None:
    """When the block ends nothing runs, not even what daemonised itself on the host; the state file is gone."""
    with Sandbox(tmp_path / "root", airflow=False) as sandbox:
        state = sandbox.state
        before = sandbox.pids_alive()
        _ssh(state, DAEMON)

        wait_until(lambda: sandbox.pids_alive() - before, what="the daemon")

    assert sandbox.pids_alive() == set()
    assert not (state.root / "state.json").exists()


@pytest.mark.parametrize(
    "number",
    [signal.SIGKILL, *(pytest.param(each, marks=pytest.mark.campaign) for each in (signal.SIGTERM, signal.SIGINT))],
)
def test_the_death_of_the_sandbox_process_leaves_nothing(
    supervisor: subprocess.Popen[bytes], tmp_path: Path, number: signal.Signals
) -> None:
    """kill -9, SIGTERM and Ctrl-C of the owning process end every part and every daemon on the host."""
    state_file = tmp_path / "root" / "state.json"
    wait_until(state_file.exists, 400, "the start")
    state = SandboxState.load(state_file)
    _ssh(state, DAEMON)
    # sshd hides the marker behind its process title, so it counts by the pid that the watchdog was told.
    sshd = Path("/proc") / str(state.pids["sshd"])

    supervisor.send_signal(number)

    wait_until(lambda: not belonging(state.sandbox_id) and not sshd.exists(), what="the end of every process")
    wait_until(lambda: not state_file.exists(), what="the removal of the state file")


@pytest.mark.campaign
def test_a_dead_part_is_named_and_started_again(supervisor: subprocess.Popen[bytes], tmp_path: Path) -> None:
    """`status` names what was killed and ends with 1; `up` starts it where it was, and then `status` ends with 0."""
    state_file = tmp_path / "root" / "state.json"
    wait_until(state_file.exists, 400, "the start")
    state = SandboxState.load(state_file)
    os.kill(state.pids["target"], signal.SIGKILL)
    wait_until(lambda: identify(state.pids["target"]) is None, what="the end of the broker")

    dead, up, well = (_command(tmp_path / "root", name) for name in ("status", "up", "status"))

    assert (1, 0, 0) == (dead.returncode, up.returncode, well.returncode), up.stdout
    assert re.search(r"^ +target +NOT RUNNING", dead.stdout, re.MULTILINE)
    assert "NOT RUNNING" not in well.stdout
    assert _cluster_id(state.target_bootstrap)


def test_sigterm_while_starting_leaves_nothing(supervisor: subprocess.Popen[bytes], tmp_path: Path) -> None:
    """A stop during the start is a stop: the half-started parts are ended and no state file appears."""
    folder = Folder(tmp_path / "root")
    wait_until(lambda: (owner := folder.owner()) and belonging(owner.sandbox_id), what="the first part")
    owner = folder.owner()
    assert owner is not None

    supervisor.terminate()

    assert supervisor.wait(240) == 128 + signal.SIGTERM
    assert belonging(owner.sandbox_id) == set()
    assert not folder.state_file.exists()


def test_leftovers_of_a_predecessor_whose_watchdog_was_killed_too_are_ended(tmp_path: Path) -> None:
    """The next sandbox in a root first ends what the last one, killed with its watchdog, left running."""
    folder = Folder(tmp_path / "root")
    folder.acquire()
    folder.begin("predecessor")
    leftover = subprocess.Popen(("sleep", "3600"), env=base_environment("predecessor"))
    folder.release()

    survivors = Folder(tmp_path / "root").end_leftovers()

    assert survivors == set()
    assert leftover.wait(240) == -signal.SIGTERM


def test_airflow_is_healthy_and_lets_the_demo_user_in(sandbox: Sandbox) -> None:
    """All components call themselves healthy, and the user of the state gets a token."""
    state = sandbox.state
    health = json.load(urllib.request.urlopen(f"{state.airflow_url}/api/v2/monitor/health", timeout=60))
    login = {"username": state.airflow_user, "password": state.airflow_password}
    request = urllib.request.Request(
        f"{state.airflow_url}/auth/token", json.dumps(login).encode(), {"Content-Type": "application/json"}
    )

    assert {health[component]["status"] for component in HEALTH_COMPONENTS} == {"healthy"}
    assert json.load(urllib.request.urlopen(request, timeout=60))["access_token"]


def test_next_start_removes_every_file_of_secured_clusters_and_airflow(sandbox: Sandbox) -> None:
    """The same with all parts that a sandbox may have."""
    assert {path.name for path in sandbox.state.root.iterdir()} <= {*CONTENT, *KEPT}


def test_every_port_listens_on_loopback_only(sandbox: Sandbox) -> None:
    """No process of the sandbox can be reached from another machine."""
    ours = {f"pid={pid}," for pid in sandbox.pids_alive()}
    rows = subprocess.run((installed("ss"), "-Hltnp"), capture_output=True, text=True, check=True).stdout.splitlines()
    addresses = {row.split()[3].rpartition(":")[0] for row in rows if any(pid in row for pid in ours)}

    assert addresses <= {HOST, f"[::ffff:{HOST}]"}
    assert addresses


def _command(root: Path, name: str) -> subprocess.CompletedProcess[str]:
    words = (sys.executable, "-m", "sandbox", name, "--root", str(root))
    return subprocess.run(words, cwd=PROJECT, capture_output=True, text=True, check=False)


def _json(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=30) as answer:
        return json.load(answer)


def _cluster_id(address: str) -> str:
    metadata = AdminClient({"bootstrap.servers": address}).list_topics(timeout=60)
    return str(metadata.cluster_id)


def _ssh(state: SandboxState, command: str) -> subprocess.CompletedProcess[str]:
    known_hosts = state.ssh_key_file.parent / "known_hosts"
    options = ("-o", "StrictHostKeyChecking=yes", "-o", f"UserKnownHostsFile={known_hosts}", "-o", "BatchMode=yes")
    login = ("-i", str(state.ssh_key_file), "-p", str(state.ssh_port), f"{state.ssh_user}@{state.ssh_host}")
    return subprocess.run(
        ("ssh", "-F", "none", *options, *login, command), capture_output=True, text=True, timeout=60, check=False
    )
