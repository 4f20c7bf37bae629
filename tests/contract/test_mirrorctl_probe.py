"""A probe runs only its own program, within limits, and leaves nothing on the host, however it ends.

The program is a stand-in for Java; tests/live/test_host_probe.py runs the real one.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_migration.adapters.host.mirrorctl_host import ScriptMirrorHost, mirrorctl_text
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.mirror.host import HostProbe, ProbeSubject
from kafka_migration.core.mirror.mirrorctl_protocol import HostRequest, parse_reply, probe_variables, render_request
from tests.contract.local_host import ForcedTransport, LocalTransport, Machine
from tests.contract.process_contract import ME, codes
from tests.waiting import wait_until

pytestmark = pytest.mark.live

CANARY = (
    "sasl.jaas.config = org.apache.kafka.common.security.plain.PlainLoginModule required "
    'username="u" password="canary-4711";\n'
)


def question(machine: Machine, bootstrap: str = "b1:9092,b2:9092") -> HostProbe:
    """Return the question about both clusters, with a secret."""
    homes = str(machine.kafka_home), str(machine.java_home)
    sides = {"source": f"bootstrap.servers = {bootstrap}\n{CANARY}", "target": CANARY}
    return HostProbe(ProbeSubject.CLUSTERS, *homes, properties=sides, topics=("orders", "-audit"))


def host_of(machine: Machine, transport: type[LocalTransport] = LocalTransport) -> ScriptMirrorHost:
    """Return the host; as a forced command it has its own homes."""
    return ScriptMirrorHost("shop", transport(machine), str(machine.home))


def traces(machine: Machine) -> list[str]:
    """Return what is left of probes: files with the secret, folders, processes."""
    roots = machine.home, machine.home.parent / "memory"
    files = [path for root in roots for path in root.rglob("*") if path.is_file() and b"canary" in _content(path)]
    folders = [path for root in roots for path in root.glob("**/*probe-*")]
    return [*map(str, files), *map(str, folders), *map(str, machine.alive())]


def _content(path: Path) -> bytes:
    with suppress(FileNotFoundError):
        return path.read_bytes()
    return b""


@pytest.mark.parametrize("transport", [LocalTransport, ForcedTransport])
def test_program_logs_in_with_the_settings_of_both_clusters(
    slow_machine: Machine, transport: type[LocalTransport]
) -> None:
    """The program gets topics and settings in files, and its exit code, output and errors are the facts."""
    facts = host_of(slow_machine, transport).probe(question(slow_machine)).facts

    assert "0" == facts["exit"]
    assert f"orders\n-audit\nbootstrap.servers = b1:9092,b2:9092\n{CANARY}{CANARY}" in facts["output"]
    wait_until(lambda: not traces(slow_machine), what="the end of the guard")


def test_host_answers_about_itself(slow_machine: Machine) -> None:
    """Free space, open files and time are numbers; a name without an address is one, unless getent is missing."""
    probe = HostProbe(ProbeSubject.HOST, names=("localhost", "no-such-name.invalid"))
    facts = host_of(slow_machine).probe(probe).facts

    assert all(int(facts[name]) > 0 for name in ("free_kib", "open_files", "clock"))
    expected = r"localhost 0 \S+.*\nno-such-name\.invalid [1-9]\d* \n" if slow_machine.has_getent else ""
    assert re.fullmatch(expected, facts["names"])


def test_program_is_the_one_of_mirrorctl(slow_machine: Machine) -> None:
    """The program's jar is first on the class path, before Kafka's own, and no argument names a setting."""
    output = host_of(slow_machine).probe(question(slow_machine)).facts["output"]
    base = re.escape(str(slow_machine.home))
    libs = re.escape(str(slow_machine.kafka_home / "libs"))

    assert re.search(rf"argument <{base}/shop/probe-clusters-\d+/probe.jar:{libs}/\*>", output)
    assert re.search(rf"argument <ClusterProbe>\nargument <{base}/shop/probe-clusters-\d+>\n", output)
    assert "argument file" not in output


def test_host_without_base64_is_refused(machine: Machine) -> None:
    """Without the tool that unpacks the program, a probe of the clusters is a coded refusal that names it."""
    bare = mirrorctl_text().replace("command -v base64", "command -v no-base64")
    variables = {"HOME": str(machine.home), **probe_variables(question(machine))}
    command, stdin = render_request(HostRequest("probe", "shop", ("clusters",), variables), bare)
    reply = parse_reply(LocalTransport(machine)(command, stdin, 30)[1])

    assert ("HOST_TOOL_MISSING", "base64 is not on the PATH") == (reply.code, reply.message)


def test_failed_program_is_an_answer(slow_machine: Machine) -> None:
    """The exit code and the errors of a program that fails are facts; the call itself succeeds."""
    facts = host_of(slow_machine).probe(question(slow_machine, "fails:1")).facts

    assert "1" == facts["exit"]
    assert "TimeoutException: late" in facts["errors"]


def test_loud_program_is_ended(slow_machine: Machine) -> None:
    """A program that prints more than 4 MiB is ended, and its output is not kept."""
    facts = host_of(slow_machine).probe(question(slow_machine, "loud:1")).facts

    assert facts["exit"] == "large"
    assert "output" not in facts
    wait_until(lambda: not traces(slow_machine), what="the end of the guard")


def test_silent_program_is_ended(slow_machine: Machine) -> None:
    """A program that does not end is killed after its time."""
    variables = {"HOME": str(slow_machine.home), **probe_variables(question(slow_machine, "hangs:1"))}
    hurried = mirrorctl_text().replace("PROBE_S=120", "PROBE_S=2")
    command, stdin = render_request(HostRequest("probe", "shop", ("clusters",), variables), hurried)

    facts = parse_reply(LocalTransport(slow_machine)(command, stdin, 30)[1]).facts

    assert facts["exit"] == "timeout"
    wait_until(lambda: not traces(slow_machine), what="the end of the program and of its files")


@pytest.fixture
def hanging(slow_machine: Machine) -> Iterator[subprocess.Popen[bytes]]:
    """A probe whose program hangs, with its secret in place."""
    variables = {"HOME": str(slow_machine.home), **probe_variables(question(slow_machine, "hangs:1"))}
    command, stdin = render_request(HostRequest("probe", "shop", ("clusters",), variables), mirrorctl_text())
    call = subprocess.Popen(
        command.split(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=slow_machine.environment(), cwd="/"
    )
    assert call.stdin is not None
    call.stdin.write(stdin.encode())
    call.stdin.close()
    wait_until(lambda: slow_machine.alive("KAFKA_MIGRATION_ID=shop/probe-"), what="the program")
    yield call
    if call.poll() is None:
        call.kill()
    call.wait()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_killed_call_leaves_no_secret(
    slow_machine: Machine, hanging: subprocess.Popen[bytes], number: signal.Signals
) -> None:
    """When the call is killed, its guard ends the program and removes every file."""
    assert any(trace.endswith("source.properties") for trace in traces(slow_machine))
    hanging.send_signal(number)

    wait_until(lambda: not traces(slow_machine), what="the end of the program and of its files")


def test_next_call_cleans_up(slow_machine: Machine, hanging: subprocess.Popen[bytes]) -> None:
    """Where the whole session was killed, the next probe, start or clean ends the program and removes its files."""
    guards = set(slow_machine.alive()) - set(slow_machine.alive("KAFKA_MIGRATION_ID="))
    for pid in guards:
        # Its `sleep` may have ended by itself.
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    hanging.kill()
    hanging.wait()
    assert any(trace.endswith("source.properties") for trace in traces(slow_machine))

    host_of(slow_machine).clean(ME, 1)

    wait_until(lambda: not traces(slow_machine), what="the end of the program and of its files")


def test_call_that_dies_early_leaves_no_secret(slow_machine: Machine) -> None:
    """A call that is killed as soon as the secret is written leaves none: its guard is already there."""
    (slow_machine.home / "failpoints-allowed").touch()
    transport = LocalTransport(slow_machine, environment={"KAFKA_MIGRATION_FAILPOINT": "after_record"})
    variables = {"HOME": str(slow_machine.home), **probe_variables(question(slow_machine))}
    command, stdin = render_request(HostRequest("probe", "shop", ("clusters",), variables), mirrorctl_text())

    assert "" == transport(command, stdin, 30)[1].strip()
    wait_until(lambda: not traces(slow_machine), what="the removal of the secret")


HOSTILE_PROBES = (
    {"properties": {"source": "bootstrap.servers = $(touch HACKED):1\n", "target": CANARY}},
    {"properties": {"source": CANARY, "target": f"{CANARY}config.providers = file\n"}},
    {"topics": ("orders;touch HACKED",)},
    {"topics": ("../x",)},
    {"names": ("-s", "files")},
    {"names": ("../../etc/passwd",)},
    {"names": ("a", "$(touch HACKED)")},
    {"java_options": ("-javaagent:/tmp/x.jar",)},
    {"java_options": ("-Dorg.apache.kafka.automatic.config.providers=x.Y",)},
    {"java_options": ("-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=file:///etc/passwd",)},
)


@pytest.mark.parametrize("transport", [LocalTransport, ForcedTransport])
def test_other_words_are_refused(slow_machine: Machine, transport: type[LocalTransport]) -> None:
    """A setting, name, topic or option that could be anything else is refused before a file is written."""
    for changed in HOSTILE_PROBES:
        with pytest.raises(Refused) as error:
            host_of(slow_machine, transport).probe(replace(question(slow_machine), **changed))
        assert {Code.HOST_REFUSED} == codes(error), changed
    assert not (slow_machine.home / "shop").exists()
    assert [] == list(slow_machine.home.parent.rglob("HACKED"))


@pytest.mark.parametrize("words", ["", " x", " brokers", " host 1", " ../host"])
def test_other_subjects_are_refused(machine: Machine, words: str) -> None:
    """A probe has one subject of the known ones."""
    done = LocalTransport(machine)(f"sh -s -- probe shop{words}", mirrorctl_text(), 30)[1]

    assert "HOST_REFUSED" == parse_reply(done).code


def test_other_files_are_refused(machine: Machine) -> None:
    """A probe brings its two files and no other, so it cannot replace mirrorctl's program, logging or records."""
    for name in ("log4j.properties", "probe.jar", "topics", "secrets/source.properties"):
        variables = {**probe_variables(question(machine)), "HOME": str(machine.home), "FILE_NAME_2": name}
        command, stdin = render_request(HostRequest("probe", "shop", ("clusters",), variables), mirrorctl_text())

        assert "HOST_REFUSED" == parse_reply(LocalTransport(machine)(command, stdin, 30)[1]).code


def test_process_list_shows_no_setting(slow_machine: Machine, hanging: subprocess.Popen[bytes]) -> None:
    """No process shows the secret, the address or the name of the settings' file among its arguments or variables."""
    shown = b"".join(slow_machine.shown("cmdline", "environ"))

    assert b"canary" not in shown
    assert b"hangs" not in shown
