"""The MirrorMaker host over a real sshd."""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import socket
import subprocess
import tracemalloc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from kafka_migration.adapters.host.mirrorctl_host import ReplyLost, mirrorctl_text
from kafka_migration.airflow_adapters.ssh import MAX_OUTPUT_BYTES, SshMirrorHost, SshTransport
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused, TransientError
from kafka_migration.core.mirror.host import MirrorLaunch
from kafka_migration.core.mirror.mirrorctl_protocol import HostRequest, parse_reply, render_request
from sandbox.parts import free_ports
from sandbox.ssh import make_privilege_separation_folder
from tests.contract.host_contract import HostContract
from tests.contract.local_host import SCRIPT, Machine
from tests.contract.process_contract import GRACE_S, ME, codes
from tests.waiting import wait_until

pytestmark = pytest.mark.live

CONNECTION = "mirror_host_under_test"


@dataclass
class Sshd:
    """A private sshd with one host key and one key that may log in."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    def make_keys(self) -> None:
        """Make the host's key and the user's."""
        for name in ("host_key", "user_key", "other_key"):
            command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.folder / name)]
            subprocess.run(command, check=True)
        shutil.copy(self.folder / "user_key.pub", self.folder / "authorized_keys")

    def force(self, command: str) -> None:
        """Let the user's key do nothing but run this command."""
        key = (self.folder / "user_key.pub").read_text()
        (self.folder / "authorized_keys").write_text(f'restrict,command="{command}" {key}')

    def start(self) -> None:
        """Start it, and wait until it listens."""
        config = self.folder / "sshd_config"
        config.write_text(
            f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {self.folder}/host_key\n"
            f"AuthorizedKeysFile {self.folder}/authorized_keys\nPidFile {self.folder}/pid\n"
            "LogLevel VERBOSE\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nUsePAM no\nStrictModes no\n"
        )
        make_privilege_separation_folder()
        sshd = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
        assert sshd is not None
        self.process = subprocess.Popen([sshd, "-D", "-f", str(config), "-E", str(self.folder / "log")])
        wait_until(self._listens, what="sshd")

    def stop(self) -> None:
        """End it together with its sessions."""
        if self.process is not None:
            self.end_sessions()
            self.process.kill()
            self.process.wait()
            self.process = None

    def end_sessions(self) -> None:
        """Kill the processes of all sessions; one may end by itself meanwhile."""
        assert self.process is not None
        for pid in _children(self.process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def connection(self, **extra: object) -> str:
        """The Airflow connection that verifies the host's key, changed by `extra`."""
        fields = {
            "key_file": str(self.folder / "user_key"),
            "host_key": " ".join((self.folder / "host_key.pub").read_text().split()[:2]),
            "look_for_keys": "false",
            **extra,
        }
        fields = {name: value for name, value in fields.items() if value is not None}
        user = os.environ.get("USER") or subprocess.check_output(["id", "-un"], text=True).strip()
        connection = {"conn_type": "ssh", "host": "127.0.0.1", "port": self.port, "login": user, "extra": fields}
        return json.dumps(connection)

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


def _children(pid: int) -> list[int]:
    """Return all processes below a process; one that has ended has none."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return []
    return [found for child in map(int, children) for found in (child, *_children(child))]


@pytest.fixture
def sshd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sshd]:
    """A running sshd, and the Airflow connection to it."""
    # Of a port that the system gives, another process may make its own before sshd does.
    (port,) = free_ports(1)
    sshd = Sshd(tmp_path / "sshd", port)
    sshd.folder.mkdir()
    sshd.make_keys()
    sshd.start()
    monkeypatch.setenv(f"AIRFLOW_CONN_{CONNECTION.upper()}", sshd.connection())
    yield sshd
    sshd.stop()


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    """The stand-ins for Java and Kafka, left without a process."""
    machine = Machine.build(tmp_path / "machine", "dash")
    yield machine
    machine.end_all()


class TestSshMirrorHost(HostContract):
    """The contract over SSH."""

    @pytest.fixture(autouse=True)
    def connected(self, sshd: Sshd, machine: Machine) -> Iterator[None]:
        """A connection of its own per test."""
        self.here = machine
        with closing(SshMirrorHost("shop", CONNECTION, str(machine.home))) as host:
            self.host = host
            yield

    def launch(self, behaviour: str = "serve") -> MirrorLaunch:
        """The stand-in for Java."""
        return self.here.launch(behaviour)

    def kill_process(self) -> None:
        """Kill it as the kernel would, and wait until its end is on record."""
        pid = self.host.status().pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: self.host.status().exit_code is not None, what="the record of the end")

    def log_alarm(self, line: str) -> None:
        """Write it into the log of generation 1."""
        self.here.log(line)


@pytest.fixture
def forced(sshd: Sshd, machine: Machine, tmp_path: Path) -> Machine:
    """The machine with mirrorctl installed as the forced command of the key."""
    installed = tmp_path / "installed" / "mirrorctl"
    installed.parent.mkdir()
    shutil.copy(SCRIPT, installed)
    installed.chmod(0o755)
    sshd.force(
        f"KAFKA_MIGRATION_HOME={machine.home} KAFKA_HOME={machine.kafka_home} "
        f"JAVA_HOME={machine.java_home} {installed} forced"
    )
    return machine


@pytest.mark.campaign
class TestForcedSshMirrorHost(TestSshMirrorHost):
    """The contract over SSH with the forced command; the caller need not know."""

    @pytest.fixture(autouse=True)
    def connected(self, forced: Machine) -> Iterator[None]:
        """A connection of its own per test."""
        self.here = forced
        with closing(SshMirrorHost("shop", CONNECTION)) as host:
            self.host = host
            yield


def test_forced_command_serves_a_whole_cycle(forced: Machine) -> None:
    """With mirrorctl installed as forced command the same calls reserve, start, renew, stop and clean."""
    with closing(SshMirrorHost("shop", CONNECTION)) as host:
        host.reserve(ME)
        started = host.start(ME, 1, forced.launch())

        assert (started.pid, True) == (host.renew(ME, 1).pid, started.is_running)
        assert ("3.9.1", str(forced.home)) == tuple(host.fingerprint(None, None).facts[n] for n in ("kafka", "base"))
        assert "started" in host.logs(1, 5).log
        assert 143 == host.stop(ME, 1, GRACE_S).exit_code
        assert host.clean(ME, 0).ok
        assert not host.release(ME).holder
    assert [] == forced.alive()


@pytest.mark.parametrize(
    "command",
    ["touch {0}", "sh", "sh -c 'touch {0}'", "sh -s -- status shop; touch {0}", "mirrorctl status $(touch {0})"],
)
def test_forced_command_runs_nothing_else(forced: Machine, tmp_path: Path, command: str) -> None:
    """A shell command sent with that key is answered by a refusal, whatever it is."""
    hacked = tmp_path / "HACKED"

    _, stdout, _ = SshTransport(CONNECTION)(command.format(hacked), f"touch {hacked}\n", 30)

    assert Code.HOST_REFUSED == parse_reply(stdout).code
    assert not hacked.exists()


@pytest.mark.parametrize("line", ["MIRRORCTL_X=$(touch {0})", "MIRRORCTL_HOLDER='x'$(touch {0})", "touch {0}"])
def test_forced_command_evaluates_nothing(forced: Machine, tmp_path: Path, line: str) -> None:
    """A line smuggled into a request does nothing but end it."""
    hacked = tmp_path / "HACKED"
    command, stdin = render_request(HostRequest("reserve", "shop", (), {"HOLDER": ME}), mirrorctl_text())

    _, stdout, _ = SshTransport(CONNECTION)(command, f"{line.format(hacked)}\n{stdin}", 30)

    assert Code.HOST_REFUSED == parse_reply(stdout).code
    assert not hacked.exists()
    assert not (forced.home / "shop").exists()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("echo This account is closed. >&2; exit 1", 'exit status 1, standard error "This account is closed."'),
        ("/bin/echo hello", 'exit status 0, output "hello"'),
        ("/bin/false", "exit status 1, no output"),
        ("echo Welcome.; exec /nowhere/shell", 'output "Welcome."'),
        ("cat", 'output "unset MIRRORCTL_'),
    ],
)
def test_login_that_runs_something_else_says_what(sshd: Sshd, machine: Machine, command: str, said: str) -> None:
    """A host that does not run what is sent is no riddle: its own words are in the finding, and the remedy works."""
    keys = (sshd.folder / "authorized_keys").read_text()
    sshd.force(command)

    with pytest.raises(TransientError) as error:
        SshMirrorHost("shop", CONNECTION).status()
    # What the finding asks for: the key without its forced command.
    (sshd.folder / "authorized_keys").write_text(keys)

    finding = error.value.finding
    assert finding is not None
    assert Code.HOST_ANSWERS_OTHERWISE == finding.code
    assert said in finding.found
    assert SshMirrorHost("shop", CONNECTION, str(machine.home)).status().ok


@pytest.mark.parametrize(
    "command",
    ["yes", "yes >&2", "while :; do printf x; sleep 1; done", "printf '@@mirrorctl {'; kill -9 $PPID"],
    ids=["flood", "flood of complaints", "a byte a second", "closes in the middle"],
)
def test_hostile_command_is_cut_off(sshd: Sshd, command: str) -> None:
    """A host that prints for ever, or a byte a second, or breaks off, has its time and 8 MiB, and not our memory."""
    sshd.force(command)
    tracemalloc.start()
    try:
        with pytest.raises(ReplyLost):
            SshTransport(CONNECTION)("true", "", 3)
        assert tracemalloc.get_traced_memory()[1] < 6 * MAX_OUTPUT_BYTES
    finally:
        tracemalloc.stop()


def test_reading_call_survives_a_broken_connection(sshd: Sshd, machine: Machine) -> None:
    """A connection that breaks during a reading call is opened again, and the call is sent again."""
    asked = machine.home / "asked"
    (machine.java_home / "release").unlink()
    slow_java = f"#!/bin/sh\necho asked >>{asked}\nsleep 3\necho 'openjdk version \"17.0.1\"' >&2\n"
    (machine.java_home / "bin" / "java").write_text(slow_java)
    with closing(SshMirrorHost("shop", CONNECTION, str(machine.home))) as host, ThreadPoolExecutor(1) as pool:
        host.status()
        late = pool.submit(host.fingerprint, str(machine.kafka_home), str(machine.java_home))
        wait_until(asked.exists, what="the call")
        sshd.end_sessions()

        assert "17.0.1" == late.result().facts["java"]
    assert 2 == (sshd.folder / "log").read_text().count("Accepted publickey")
    assert "asked\nasked\n" == asked.read_text()


def test_a_connection_that_works_is_no_news(sshd: Sshd, machine: Machine, caplog: pytest.LogCaptureFixture) -> None:
    """Connecting and logging in leave no line in the log of a task; Paramiko writes two for each."""
    with caplog.at_level(logging.INFO), closing(SshMirrorHost("shop", CONNECTION, str(machine.home))) as host:
        host.status()

    assert "Accepted publickey" in (sshd.folder / "log").read_text()
    assert [] == [record.getMessage() for record in caplog.records if "paramiko" in record.name]


def test_process_outlives_the_connection_and_sshd(sshd: Sshd, machine: Machine) -> None:
    """MirrorMaker goes on when the connection and sshd end, and is found again; a broken connection is re-opened."""
    with closing(SshMirrorHost("shop", CONNECTION, str(machine.home))) as host:
        host.reserve(ME)
        pid = host.start(ME, 1, machine.launch()).pid
        sshd.stop()
        with pytest.raises(TransientError, match="SSH_UNREACHABLE"):
            host.renew(ME, 1)
        sshd.start()

        assert pid == host.renew(ME, 1).pid
        assert not host.stop(ME, 1, GRACE_S).is_running


def test_one_connection_serves_many_calls(sshd: Sshd, machine: Machine) -> None:
    """Calls in a row share one connection."""
    with closing(SshMirrorHost("shop", CONNECTION, str(machine.home))) as host:
        for _ in range(3):
            host.status()

    assert 1 == (sshd.folder / "log").read_text().count("Accepted publickey")


def test_unknown_host_key_is_refused_with_its_fingerprint(sshd: Sshd, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host whose key is not pinned is not logged in to; the refusal shows the key and how to pin it."""
    monkeypatch.setenv(f"AIRFLOW_CONN_{CONNECTION.upper()}", sshd.connection(host_key=None))
    listed = subprocess.check_output(["ssh-keygen", "-lf", str(sshd.folder / "host_key.pub")], text=True)
    key = (sshd.folder / "host_key.pub").read_text().split()[1]

    with pytest.raises(Refused) as error:
        SshMirrorHost("shop", CONNECTION).status()
    assert {Code.SSH_HOST_KEY_UNKNOWN} == codes(error)
    assert listed.split()[1] in str(error.value)
    assert f'"host_key": "ssh-ed25519 {key}"' in str(error.value)


def test_changed_host_key_is_refused(sshd: Sshd, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that shows another key than the pinned one is refused, with both fingerprints."""
    pinned = " ".join((sshd.folder / "other_key.pub").read_text().split()[:2])
    monkeypatch.setenv(f"AIRFLOW_CONN_{CONNECTION.upper()}", sshd.connection(host_key=pinned))

    with pytest.raises(Refused) as error:
        SshMirrorHost("shop", CONNECTION).status()
    assert {Code.SSH_HOST_KEY_CHANGED} == codes(error)
    assert 2 == str(error.value).count("SHA256:")


def test_refused_login_is_tried_once(sshd: Sshd, monkeypatch: pytest.MonkeyPatch) -> None:
    """A login that the host refuses is not repeated, so that no account gets locked."""
    key = str(sshd.folder / "other_key")
    monkeypatch.setenv(f"AIRFLOW_CONN_{CONNECTION.upper()}", sshd.connection(key_file=key))

    with pytest.raises(Refused) as error:
        SshMirrorHost("shop", CONNECTION).status()
    assert {Code.SSH_AUTH_FAILED} == codes(error)
    wait_until(lambda: "Failed publickey" in (sshd.folder / "log").read_text(), what="the log's line")
    assert 1 == (sshd.folder / "log").read_text().count("Failed publickey")


@pytest.mark.parametrize(
    "extra",
    [
        {"no_host_key_check": "true", "host_key": None},
        {"allow_host_key_change": "true", "host_key": None},
        {"host_key": "ssh-dss AAAA"},
        {"no_host_key_check": "true"},
    ],
)
def test_connection_that_believes_any_host_is_refused(
    sshd: Sshd, monkeypatch: pytest.MonkeyPatch, extra: dict[str, str]
) -> None:
    """A connection that switches the host key check off is not used."""
    monkeypatch.setenv(f"AIRFLOW_CONN_{CONNECTION.upper()}", sshd.connection(**extra))

    with pytest.raises(Refused) as error:
        SshMirrorHost("shop", CONNECTION)
    assert {Code.CONNECTION_INVALID} == codes(error)


def test_missing_key_file_is_named(sshd: Sshd, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key file that is not there is a fault of the connection, not of the network."""
    monkeypatch.setenv(f"AIRFLOW_CONN_{CONNECTION.upper()}", sshd.connection(key_file="/nowhere/key"))

    with pytest.raises(Refused, match="/nowhere/key") as error:
        SshMirrorHost("shop", CONNECTION).status()
    assert {Code.CONNECTION_INVALID} == codes(error)


def test_missing_connection_is_named() -> None:
    """A connection that does not exist is refused with its name."""
    with pytest.raises(Refused, match="no_such_connection") as error:
        SshMirrorHost("shop", "no_such_connection")
    assert {Code.CONNECTION_MISSING} == codes(error)
