"""What a MirrorMaker host may send us: so much, for so long, and nothing that is no reply."""

from __future__ import annotations

import json
import logging
import os
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import paramiko
import pytest

import kafka_migration.airflow_adapters.ssh as ssh_module
from kafka_migration.adapters.host.mirrorctl_host import ReplyLost, ReplyTimedOut, ReplyTooLong
from kafka_migration.airflow_adapters.ssh import MAX_OUTPUT_BYTES, SshMirrorHost, SshTransport
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused, TransientError
from tests.contract.hostile_host import (
    Answer,
    HostileHost,
    answer_well,
    break_off,
    drip,
    flood,
    flood_below,
    flood_stderr,
    hanging_up,
    say_and_leave,
)
from tests.contract.process_contract import codes
from tests.waiting import wait_until

pytestmark = pytest.mark.airflow

CONNECTION = "hostile_host"
# What one command may take at a time: the output twice, as bytes and as text, and what Paramiko holds.
MEMORY_BYTES = 6 * MAX_OUTPUT_BYTES

MakeHost = Callable[..., HostileHost]


@pytest.fixture
def hostile(monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeHost]:
    """Makes hostile hosts, and Airflow connections to them."""
    hosts: list[HostileHost] = []

    def make(answer: Answer = answer_well, answers_exec: bool = True, **fields: object) -> HostileHost:
        hosts.append(HostileHost(answer, answers_exec))
        monkeypatch.setenv(f"AIRFLOW_CONN_{CONNECTION.upper()}", hosts[-1].connection(**fields))
        return hosts[-1]

    yield make
    for host in hosts:
        host.close()


@pytest.mark.parametrize("answer", [flood, flood_stderr, flood_below])
def test_output_without_end_is_cut_off(hostile: MakeHost, answer: Answer) -> None:
    """A host that sends more than 8 MiB is cut off, on any stream; memory stays bounded; it is asked once."""
    host = hostile(answer)
    tracemalloc.start()
    try:
        with pytest.raises(TransientError, match=r"HOST_REPLY_UNREADABLE: .* longer than 8,388,608"):
            SshMirrorHost("shop", CONNECTION).status()
        assert tracemalloc.get_traced_memory()[1] < MEMORY_BYTES
    finally:
        tracemalloc.stop()
    assert 1 == host.commands


def test_output_up_to_the_limit_is_taken(hostile: MakeHost) -> None:
    """A command may print a lot on both streams before its reply."""

    def print_much(_: HostileHost, channel: paramiko.Channel) -> None:
        for _number in range(100):
            channel.sendall(30_000 * b"o")
            channel.sendall_stderr(30_000 * b"e")

    hostile(print_much)

    _, stdout, stderr = SshTransport(CONNECTION)("status", "", 60)

    assert (3_000_000, 3_000_000) == (stdout.count("o" * 30_000) * 30_000, len(stderr))


@pytest.mark.parametrize(("answer", "answers_exec"), [(drip, True), (answer_well, False)])
def test_answer_that_does_not_end_is_cut_off(hostile: MakeHost, answer: Answer, answers_exec: bool) -> None:
    """A host that sends a byte now and then, or never answers the request, has its time and no more."""
    host = hostile(answer, answers_exec)
    transport = SshTransport(CONNECTION)

    with pytest.raises(ReplyTimedOut):
        transport("status", "", 1)
    assert 1 == host.commands


def test_guard_of_a_call_ends_with_it(hostile: MakeHost) -> None:
    """Calls leave no thread behind, whatever came of them."""
    hostile(break_off)
    transport = SshTransport(CONNECTION)
    with pytest.raises(ReplyLost):
        transport("status", "", 3600)

    wait_until(lambda: not any(isinstance(thread, threading.Timer) for thread in threading.enumerate()), what="its end")


def test_reply_broken_off_is_none(hostile: MakeHost) -> None:
    """A host that closes in the middle of its reply is asked once more, and then said to have none."""
    host = hostile(break_off)

    with pytest.raises(TransientError, match="HOST_REPLY_UNREADABLE"):
        SshMirrorHost("shop", CONNECTION).status()
    assert 2 == host.commands


def test_other_program_is_quoted(hostile: MakeHost) -> None:
    """A host that lets the login in and runs something else is not unreachable; what it printed is in the finding."""
    hostile(say_and_leave)

    with pytest.raises(TransientError) as error:
        SshMirrorHost("shop", CONNECTION).status()

    finding = error.value.finding
    assert finding is not None
    assert Code.HOST_ANSWERS_OTHERWISE == finding.code
    assert (
        'exit status 1, output "hello" and standard error "This account is currently not available."' in finding.found
    )


BANNER = b"SSH-2.0-OpenSSH_9.6\r\n"
# What a server sends before it closes the connection.
BEFORE_LOGIN = {
    "nothing": b"",
    "too many connections": b"Exceeded MaxStartups\r\n",
    "another service": b"HTTP/1.1 400 Bad Request\r\n\r\n",
    "only a banner": BANNER,
    "garbage after the banner": BANNER + bytes(range(256)) * 40,
    "a packet of no length": BANNER + bytes(64),
    "a packet of every length": BANNER + b"\xff" * 4_096,
    "a broken key exchange": BANNER + b"\x00\x00\x00\x0c\x0a\x14" + b"x" * 10,
}


class Everything(logging.Handler):
    """Keeps every record, of any thread."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it."""
        self.records.append(record)


@pytest.mark.parametrize("sent", BEFORE_LOGIN.values(), ids=BEFORE_LOGIN)
@pytest.mark.parametrize("resets", [False, True])
def test_broken_connection_is_one_finding_and_no_traceback(
    hostile: MakeHost, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], sent: bytes, resets: bool
) -> None:
    """Whatever ends a connection before the login, the host is unreachable; Paramiko's own thread writes nothing."""
    monkeypatch.setattr(ssh_module, "BACK_OFF_S", (0.0, 0.0))
    everything = Everything()
    logging.getLogger().addHandler(everything)
    try:
        with hanging_up(sent, resets=resets) as port:
            hostile()
            login = json.loads(os.environ[f"AIRFLOW_CONN_{CONNECTION.upper()}"])
            monkeypatch.setenv(f"AIRFLOW_CONN_{CONNECTION.upper()}", json.dumps({**login, "port": port}))
            with pytest.raises(TransientError) as error:
                SshMirrorHost("shop", CONNECTION).status()
    finally:
        logging.getLogger().removeHandler(everything)

    finding = error.value.finding
    assert finding is not None
    assert Code.SSH_UNREACHABLE == finding.code
    assert "(3 tries)" in finding.found
    assert "Errno" not in finding.found
    assert [] == [record.getMessage() for record in everything.records if "paramiko" in record.name]
    assert "Traceback" not in capfd.readouterr().err


def test_closed_port_is_named_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """The finding has the address and the system's reason, not a number of an error."""
    monkeypatch.setattr(ssh_module, "BACK_OFF_S", (0.0, 0.0))
    known = {"conn_type": "ssh", "host": "127.0.0.1", "port": 1, "login": "mirror", "password": "secret"}
    monkeypatch.setenv(f"AIRFLOW_CONN_{CONNECTION.upper()}", json.dumps(known))

    with pytest.raises(TransientError, match=r"mirror@127.0.0.1:1: 127.0.0.1 port 1: Connection refused \(3 tries\)"):
        SshTransport(CONNECTION)("status", "", 5)


def test_too_long_a_reply_is_named() -> None:
    """What was too long is a lost reply, so that an acting call asks what is true."""
    assert issubclass(ReplyTooLong, ReplyLost)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with SSH's files, of the user that Airflow runs as."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").mkdir()
    return tmp_path / ".ssh"


def test_pinned_key_beats_known_hosts(hostile: MakeHost, home: Path) -> None:
    """The key in the connection counts, whatever the system's known hosts say of the host."""
    host = hostile()
    other = paramiko.ECDSAKey.generate()
    (home / "known_hosts").write_text(f"[127.0.0.1]:{host.port} {other.get_name()} {other.get_base64()}\n")

    assert SshMirrorHost("shop", CONNECTION).status().ok


def test_known_hosts_do_not_save_a_wrong_pin(hostile: MakeHost, home: Path) -> None:
    """A host that shows another key than the pinned one is refused, though known hosts has its key."""
    other = paramiko.ECDSAKey.generate()
    host = hostile(host_key=f"{other.get_name()} {other.get_base64()}")
    (home / "known_hosts").write_text(f"[127.0.0.1]:{host.port} {host.key.get_name()} {host.key.get_base64()}\n")

    with pytest.raises(Refused) as error:
        SshMirrorHost("shop", CONNECTION).status()
    assert {Code.SSH_HOST_KEY_CHANGED} == codes(error)


def test_known_hosts_are_asked_without_a_pin(hostile: MakeHost, home: Path) -> None:
    """Without a key in the connection the system's known hosts decide."""
    host = hostile(host_key=None)
    (home / "known_hosts").write_text(f"[127.0.0.1]:{host.port} {host.key.get_name()} {host.key.get_base64()}\n")

    assert SshMirrorHost("shop", CONNECTION).status().ok


@pytest.mark.parametrize("asked", [None, "true"])
def test_machines_own_keys_are_offered_only_where_asked_for(hostile: MakeHost, home: Path, asked: str | None) -> None:
    """Only the login of the connection is tried, once; keys of this machine only where the connection asks for them."""
    host = hostile(look_for_keys=asked)
    paramiko.ECDSAKey.generate().write_private_key_file(str(home / "id_ecdsa"))

    assert SshMirrorHost("shop", CONNECTION).status().ok
    assert ([] if asked is None else ["publickey"]) + ["password"] == host.logins


def test_refused_key_is_not_followed_by_its_password(hostile: MakeHost, tmp_path: Path) -> None:
    """Beside a key the password unlocks the key; a refused key is one refused login, not two."""
    key = tmp_path / "key"
    paramiko.ECDSAKey.generate().write_private_key_file(str(key), password="secret")
    host = hostile(key_file=str(key))

    with pytest.raises(Refused) as error:
        SshMirrorHost("shop", CONNECTION).status()
    assert {Code.SSH_AUTH_FAILED} == codes(error)
    assert ["publickey"] == host.logins


@pytest.mark.parametrize(
    "text", ["", "no key", "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n", "\xff"]
)
def test_unreadable_key_file_is_a_fault_of_the_connection(hostile: MakeHost, tmp_path: Path, text: str) -> None:
    """A key file that holds no key is named, before anything is tried with it."""
    (tmp_path / "key").write_text(text, encoding="latin-1")
    host = hostile(key_file=str(tmp_path / "key"))

    with pytest.raises(Refused, match="key_file") as error:
        SshMirrorHost("shop", CONNECTION).status()
    assert {Code.CONNECTION_INVALID} == codes(error)
    assert [] == host.logins


def test_nothing_is_compressed(hostile: MakeHost) -> None:
    """Compression is off even where the connection asks for it: few bytes of the host could become many here."""
    host = hostile()
    SshMirrorHost("shop", CONNECTION).status()

    assert "none" == host._transports[-1].local_compression


BAD_EXTRAS: list[object] = [
    {"host_key": ""},
    {"host_key": "ssh-ed25519"},
    {"host_key": "ssh-ed25519 AAAA"},
    {"host_key": "ssh-dss AAAA"},
    {"host_key": "ssh-rsa !!!!"},
    {"host_key": 5},
    {"host_key": ["ssh-ed25519 AAAA"]},
    {"no_host_key_check": "true"},
    {"no_host_key_check": True, "host_key": None},
    {"ignore_hostkey_verification": "True", "host_key": None},
    {"allow_host_key_change": "true"},
    {"private_key": "no key"},
    {"private_key": "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----"},
    {"private_key": 5},
    {"private_key": "no key", "key_file": "/nowhere"},
    {"conn_timeout": "soon"},
    {"conn_timeout": [5]},
    {"cmd_timeout": "late"},
    "text",
    "[1]",
    "5",
]


@pytest.mark.parametrize("extra", BAD_EXTRAS, ids=range(len(BAD_EXTRAS)))
def test_bad_connection_is_a_finding(monkeypatch: pytest.MonkeyPatch, extra: object) -> None:
    """Whatever is in the extra, the connection is refused by name before anything is connected to."""
    known = {"conn_type": "ssh", "host": "127.0.0.1", "port": 1, "login": "mirror", "extra": extra}
    monkeypatch.setenv(f"AIRFLOW_CONN_{CONNECTION.upper()}", json.dumps(known))

    with pytest.raises(Refused) as error:
        SshTransport(CONNECTION)
    assert {Code.CONNECTION_INVALID} == codes(error)
    assert all(len(str(finding)) < 2_000 for finding in error.value.findings)
