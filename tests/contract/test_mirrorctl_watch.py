"""The lease when its keepers are killed, and what is left when a disk is full or a call is cut short."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_migration.adapters.host.mirrorctl_host import ScriptMirrorHost
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import MirrorFailed, OutcomeUnknown, Refused
from kafka_migration.core.mirror.mirror_process import ProcessState
from tests.contract.local_host import BRIEF_LEASE_S, SHORT_LEASE_S, LocalTransport, Machine, start_briefly
from tests.contract.process_contract import GRACE_S, ME, codes
from tests.contract.test_mirrorctl_faults import generation_dir, journal
from tests.waiting import wait_until

pytestmark = pytest.mark.live


def kill_keepers(machine: Machine) -> None:
    """Kill supervisor and watcher; return when both are dead, which on a busy machine takes its time."""
    pids = [keeper(machine, name) for name in ("supervisor", "watcher")]
    for pid in pids:
        # One may end because the other has ended.
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not any(is_running(pid) for pid in pids), what="the end of both keepers")


def is_running(pid: int) -> bool:
    """Tell whether a process is there and has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class FullDisk:
    """Runs the command where no file may grow."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def __call__(self, command: str, stdin: str, timeout_s: float) -> tuple[int, str, str]:
        """See `Transport`."""
        done = subprocess.run(
            ["sh", "-c", command],
            input=stdin.encode(),
            capture_output=True,
            timeout=timeout_s,
            env=self._machine.environment(),
            check=False,
            # A write then fails, where the signal would end the process.
            restore_signals=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
        )
        return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")

    def close(self) -> None:
        """Nothing is kept open."""


def started(machine: Machine, lease_s: int = 300) -> ScriptMirrorHost:
    """A host with a living generation 1 whose lease has its watcher."""
    host = ScriptMirrorHost("shop", LocalTransport(machine), str(machine.home))
    host.reserve(ME)
    host.start(ME, 1, machine.launch(lease_s=lease_s))
    wait_until(lambda: (generation_dir(machine) / "watcher").exists(), what="the watcher's record")
    return host


def keeper(machine: Machine, name: str) -> int:
    """The pid on record of the supervisor or the watcher."""
    return int((generation_dir(machine) / name).read_text().split()[0])


def test_killed_watcher_is_replaced(slow_machine: Machine) -> None:
    """With the watcher alone killed, the supervisor starts another, so the lease still ends the process."""
    host = started(slow_machine, lease_s=SHORT_LEASE_S)
    killed = keeper(slow_machine, "watcher")
    os.kill(killed, signal.SIGKILL)

    wait_until(lambda: keeper(slow_machine, "watcher") != killed, what="another watcher")
    wait_until(lambda: not slow_machine.alive(), what="the end of everything")
    assert (ProcessState.DEAD, "lease-expired", 143) == (
        host.status().state,
        host.status().exit_reason,
        host.status().exit_code,
    )


def test_renewal_brings_the_watch_back(slow_machine: Machine) -> None:
    """With supervisor and watcher both killed, the next renewal starts a watcher, so the lease ends the process."""
    host = started(slow_machine, lease_s=SHORT_LEASE_S)
    kill_keepers(slow_machine)

    assert host.renew(ME, 1).is_running
    wait_until(lambda: not slow_machine.alive(), what="the end of everything")
    reply = host.status()
    assert (ProcessState.DEAD, "lease-expired") == (reply.state, reply.exit_reason)
    assert not (generation_dir(slow_machine) / "secrets").exists()


def test_renewal_starts_one_watcher_only(machine: Machine) -> None:
    """A lease that is watched gets no further watcher."""
    host = started(machine)
    for _ in range(3):
        host.renew(ME, 1)

    assert [] == [line for line in journal(machine) if line[5] == "lease-watched-again"]


def test_stop_works_without_any_keeper(machine: Machine) -> None:
    """With supervisor and watcher killed, stop ends the process and records that."""
    host = started(machine)
    kill_keepers(machine)

    reply = host.stop(ME, 1, GRACE_S)

    assert (ProcessState.STOPPED, "stopped", None) == (reply.state, reply.exit_reason, reply.exit_code)
    assert [] == machine.alive()


@pytest.mark.parametrize(("first_s", "second_s"), [(300, 4), (45, 20)])
def test_each_generation_has_the_lease_of_its_start(any_machine: Machine, first_s: int, second_s: int) -> None:
    """Regression: a lease that was changed between two generations is the second one's, on record and in its reply."""
    host = started(any_machine, lease_s=first_s)
    host.stop(ME, 1, GRACE_S)
    reply = host.start(ME, 2, any_machine.launch(lease_s=second_s))

    assert [f"lease_s={first_s}", f"lease_s={second_s}"] == [lease_line(any_machine, number) for number in (1, 2)]
    assert reply.lease_remaining_s is not None
    assert reply.lease_remaining_s <= second_s


def lease_line(machine: Machine, generation: int) -> str:
    """The line of the manifest with the lease."""
    (line,) = re.findall("^lease_s=.*$", (generation_dir(machine, generation) / "manifest").read_text(), re.MULTILINE)
    return str(line)


def test_shorter_lease_ends_the_next_generation(slow_machine: Machine) -> None:
    """Regression: a lease that was shortened between two generations ends the second one when it is not renewed."""
    host = started(slow_machine, lease_s=300)
    host.stop(ME, 1, GRACE_S)
    start_briefly(host, ME, 2, slow_machine.launch(lease_s=BRIEF_LEASE_S))

    wait_until(lambda: not slow_machine.alive(), what="the end of everything")
    reply = host.status()
    assert (2, ProcessState.DEAD, "lease-expired") == (reply.generation, reply.state, reply.exit_reason)


def test_longer_lease_lets_the_next_generation_live(slow_machine: Machine) -> None:
    """Regression: a lease that was too short and is longer now keeps the second generation alive past the first's."""
    host = started(slow_machine, lease_s=SHORT_LEASE_S)
    wait_until(lambda: not slow_machine.alive(), what="the end of everything")
    host.start(ME, 2, slow_machine.launch(lease_s=300))

    wait_until(
        lambda: (host.status().uptime_s or 0) > 2 * SHORT_LEASE_S, what="a life longer than twice the first lease"
    )
    assert host.status().is_running


def test_lost_record_does_not_outlive_the_lease(machine: Machine) -> None:
    """A process whose record was removed still ends with its lease."""
    started(machine, lease_s=SHORT_LEASE_S)
    (generation_dir(machine) / "java").unlink()

    wait_until(lambda: not machine.alive(), what="the end of everything")


def test_stop_on_a_full_disk_ends_the_process(slow_machine: Machine) -> None:
    """A disk on which nothing can be written does not keep MirrorMaker alive; that it is not on record is said."""
    started(slow_machine)
    full = ScriptMirrorHost("shop", FullDisk(slow_machine), str(slow_machine.home))

    with pytest.raises(Refused, match="could not be recorded"):
        full.stop(ME, 1, GRACE_S)
    wait_until(lambda: not slow_machine.alive(), what="the end of everything")


def test_start_on_a_full_disk_starts_nothing(slow_machine: Machine) -> None:
    """A start that cannot write its records starts nothing and leaves no secret."""
    ScriptMirrorHost("shop", LocalTransport(slow_machine), str(slow_machine.home)).reserve(ME)
    full = ScriptMirrorHost("shop", FullDisk(slow_machine), str(slow_machine.home))

    with pytest.raises(Refused, match="cannot write"):
        full.start(ME, 1, slow_machine.launch())
    assert [] == slow_machine.alive()
    assert not generation_dir(slow_machine).exists()


@pytest.mark.parametrize("point", ["before_record", "after_record"])
def test_start_cut_short_leaves_no_secret_behind_a_stop(machine: Machine, point: str) -> None:
    """Secrets of a start that died before it started anything go with the stop that the teardown sends."""
    (machine.home / "failpoints-allowed").touch()
    host = ScriptMirrorHost("shop", LocalTransport(machine), str(machine.home))
    dying = LocalTransport(machine, environment={"KAFKA_MIGRATION_FAILPOINT": point})
    host.reserve(ME)
    with pytest.raises((OutcomeUnknown, MirrorFailed)):
        ScriptMirrorHost("shop", dying, str(machine.home)).start(ME, 1, machine.launch())
    assert (generation_dir(machine) / "secrets").exists()

    assert not host.stop(ME, 1, GRACE_S).is_running

    assert not (generation_dir(machine) / "secrets").exists()


def test_launch_that_is_late_is_dead_and_stays_so(slow_machine: Machine) -> None:
    """What did not come to life in time was not stopped by anybody, and does not start when it comes after all."""
    host = ScriptMirrorHost("shop", LocalTransport(slow_machine), str(slow_machine.home))
    host.reserve(ME)
    setsid = slow_machine.bin / "setsid"
    setsid.unlink(missing_ok=True)
    setsid.write_text("#!/bin/sh\nexit 0\n")
    setsid.chmod(0o755)
    with pytest.raises(MirrorFailed) as error:
        host.start(ME, 1, slow_machine.launch())
    found = host.status()
    come_late(slow_machine)

    assert {Code.MIRROR_DEAD} == codes(error)
    assert (1, ProcessState.DEAD, "ended") == (found.generation, found.state, found.exit_reason)
    assert (found.state, found.exit_reason) == (host.status().state, host.status().exit_reason)
    assert not (generation_dir(slow_machine) / "java").exists()
    with pytest.raises(Refused) as again:
        host.start(ME, 1, slow_machine.launch())
    assert {Code.GENERATION_STOPPED} == codes(again)


def come_late(machine: Machine) -> None:
    """Run generation 1's supervisor as its start would have, and wait for its end."""
    words = (generation_dir(machine) / "supervise", "supervise", "shop", "1", machine.java_home / "bin" / "java")
    marks = {"KAFKA_MIGRATION_ID": "shop/1", "KAFKA_MIGRATION_HOME": str(machine.home)}
    environment = {**machine.environment(), **marks}
    done = subprocess.run(["sh", *words], env=environment, start_new_session=True, check=False, timeout=180)

    assert -signal.SIGKILL == done.returncode


def test_death_before_the_next_start_stays_a_death(machine: Machine) -> None:
    """A start that fails before it is on record does not make the dead generation before it a stopped one."""
    host = started(machine)
    os.kill(host.status().pid or 0, signal.SIGKILL)
    wait_until(lambda: host.status().exit_code is not None, what="the record of the end")
    launch = machine.launch()
    with pytest.raises(Refused):
        host.start(ME, 2, replace(launch, files={**launch.files, "manifest": ""}))

    assert (1, ProcessState.DEAD, "ended") == (
        host.status().generation,
        host.status().state,
        host.status().exit_reason,
    )


def test_failpoint_needs_its_flag(machine: Machine) -> None:
    """Without the flag file in the base folder the variable for failpoints does nothing."""
    transport = LocalTransport(machine, environment={"KAFKA_MIGRATION_FAILPOINT": "before_reply"})

    assert ME == ScriptMirrorHost("shop", transport, str(machine.home)).reserve(ME).holder


def test_reply_cut_off_is_resolved_by_asking(machine: Machine) -> None:
    """A start that dies right before its reply is found again by the next try, as the same process."""
    (machine.home / "failpoints-allowed").touch()
    host = ScriptMirrorHost("shop", LocalTransport(machine), str(machine.home))
    host.reserve(ME)
    dying = LocalTransport(machine, environment={"KAFKA_MIGRATION_FAILPOINT": "before_reply"})
    with pytest.raises(OutcomeUnknown):
        ScriptMirrorHost("shop", dying, str(machine.home)).start(ME, 1, machine.launch())
    pid = host.status().pid

    assert (True, pid) == (host.start(ME, 1, machine.launch()).adopted, pid)
