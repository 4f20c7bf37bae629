"""One probe of a migration runs at a time, however many are asked for and however they are killed."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from kafka_migration.adapters.host.mirrorctl_host import ScriptMirrorHost, mirrorctl_text
from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.mirror.host import HostProbe, ProbeSubject
from kafka_migration.core.mirror.mirrorctl_protocol import (
    HostRequest,
    checked,
    parse_reply,
    probe_variables,
    render_request,
)
from tests.contract.local_host import LocalTransport, Machine
from tests.contract.test_mirrorctl_probe import host_of, question, traces
from tests.contract.test_mirrorctl_races import JvmCount
from tests.waiting import wait_until

pytestmark = pytest.mark.live

TOOL = "KAFKA_MIGRATION_ID=shop/probe-"


def call(machine: Machine, probe: HostProbe) -> subprocess.Popen[bytes]:
    """Start a probe, and do not wait for it."""
    variables = {"HOME": str(machine.home), **probe_variables(probe)}
    command, stdin = render_request(HostRequest("probe", "shop", (str(probe.subject),), variables), mirrorctl_text())
    started = subprocess.Popen(
        command.split(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=machine.environment(), cwd="/"
    )
    assert started.stdin is not None
    started.stdin.write(stdin.encode())
    started.stdin.close()
    return started


@pytest.fixture
def hanging(slow_machine: Machine) -> Iterator[subprocess.Popen[bytes]]:
    """A probe whose tool hangs."""
    started = call(slow_machine, question(slow_machine, "hangs:1"))
    wait_until(lambda: slow_machine.alive(TOOL), what="the tool")
    yield started
    if started.poll() is None:
        started.kill()
    started.wait()


def killed_with_its_guard(machine: Machine, started: subprocess.Popen[bytes]) -> set[int]:
    """Kill a call and its guard, and return the tool that they leave."""
    tool = set(machine.alive(TOOL))
    for pid in set(machine.alive()) - tool:
        # Its `sleep` may have ended by itself.
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    started.kill()
    started.wait()
    return tool


@pytest.mark.parametrize("probes", [4, pytest.param(15, marks=pytest.mark.campaign)])
def test_probes_at_once_run_one_after_the_other(slow_machine: Machine, probes: int) -> None:
    """Each of many probes is answered, and never do two tools run."""
    count = JvmCount(slow_machine)
    with ThreadPoolExecutor(probes + 1) as pool:
        watching = pool.submit(count.watch)
        replies = list(pool.map(lambda _: host_of(slow_machine).probe(question(slow_machine, "slow:1")), range(probes)))
        count.ended.set()
        watching.result()

    assert [True] * probes == [reply.ok for reply in replies]
    assert 1 == count.most
    wait_until(lambda: not traces(slow_machine), what="the end of the guards")


def test_probe_waits_no_longer_than_another_may_take(slow_machine: Machine, hanging: subprocess.Popen[bytes]) -> None:
    """A probe that does not get its turn is a coded refusal, which the task repeats."""
    variables = {"HOME": str(slow_machine.home), **probe_variables(question(slow_machine))}
    hurried = mirrorctl_text().replace("PROBE_WAIT_S=130", "PROBE_WAIT_S=1")
    command, stdin = render_request(HostRequest("probe", "shop", ("clusters",), variables), hurried)

    reply = parse_reply(LocalTransport(slow_machine)(command, stdin, 30)[1])

    assert f"process {hanging.pid} has held the probing-clusters of this migration" in reply.message
    with pytest.raises(TransientError, match="HOST_LOCKED"):
        checked(reply)
    assert hanging.poll() is None


def test_other_calls_do_not_wait(slow_machine: Machine, hanging: subprocess.Popen[bytes]) -> None:
    """Only the probes of the same subject and migration wait for a probe, and no other call ends it."""
    other = ScriptMirrorHost("other", LocalTransport(slow_machine), str(slow_machine.home))

    facts = host_of(slow_machine).probe(HostProbe(ProbeSubject.HOST, names=("localhost",))).facts
    assert slow_machine.has_getent is facts["names"].startswith("localhost 0 ")
    assert host_of(slow_machine).reserve("me").ok
    assert "0" == other.probe(question(slow_machine)).facts["exit"]
    assert hanging.poll() is None


def test_killed_probe_makes_room(slow_machine: Machine, hanging: subprocess.Popen[bytes]) -> None:
    """After a kill the next probe runs, although the lock still names the dead call."""
    hanging.kill()
    hanging.wait()

    assert "0" == host_of(slow_machine).probe(question(slow_machine)).facts["exit"]
    wait_until(lambda: not traces(slow_machine), what="the end of the guards")


@pytest.mark.parametrize("folder", ["left", "lost"])
def test_left_tool_is_ended_first(slow_machine: Machine, hanging: subprocess.Popen[bytes], folder: str) -> None:
    """Where call and guard were killed, the next probe ends the tool before its own, even if the folder is lost."""
    left = killed_with_its_guard(slow_machine, hanging)
    if folder == "lost":
        for path in (slow_machine.home / "shop").glob("probe-*"):
            path.rename(path.with_name("elsewhere"))
    count = JvmCount(slow_machine)
    with ThreadPoolExecutor(2) as pool:
        watching = pool.submit(count.watch)
        reply = host_of(slow_machine).probe(question(slow_machine, "slow:1"))
        count.ended.set()
        watching.result()

    assert "0" == reply.facts["exit"]
    assert 1 == count.most
    assert not left & set(slow_machine.alive())


def test_locks_do_not_pile_up(slow_machine: Machine) -> None:
    """Of the locks of many probes, only the newest are kept."""
    for _ in range(12):
        host_of(slow_machine).probe(HostProbe(ProbeSubject.HOST))

    assert 8 >= len(list((slow_machine.home / "shop").glob("probing-host.*")))
    assert not list((slow_machine.home / "shop").glob(".probing*"))
