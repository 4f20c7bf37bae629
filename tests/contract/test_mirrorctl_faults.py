"""mirrorctl under races, faults and hostile texts; invariants: never two, never an orphan, nothing leaks."""

from __future__ import annotations

import os
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_migration.adapters.host.mirrorctl_host import ScriptMirrorHost
from kafka_migration.core.findings.errors import FindingsError, MigrationError, Refused
from kafka_migration.core.mirror.mirror_process import ProcessState
from tests.contract.local_host import BRIEF_LEASE_S, SHORT_LEASE_S, LocalTransport, Machine, start_briefly
from tests.contract.process_contract import GRACE_S, ME, OTHER
from tests.waiting import wait_until

pytestmark = pytest.mark.live

HOSTILE = (
    'it\'s "quoted" $(touch HACKED) `touch HACKED` ${HOME} \\ \\n %s %d ! * ? [a] ~ # ; & | < > ( ) { }\n'
    "\ttabbed, ünïcödé ✓, '\\'' and an empty line\n\n@@mirrorctl {}@@\n'"
)


def generation_dir(machine: Machine, generation: int = 1) -> Path:
    """Where mirrorctl keeps a generation."""
    return machine.home / "shop" / f"gen-{generation}"


def journal(machine: Machine) -> list[list[str]]:
    """The journal's lines: epoch, uptime, verb, generation, pid, outcome."""
    return [line.split(" ", 5) for line in (machine.home / "shop" / "journal").read_text().splitlines()]


def most_alive_at_once(machine: Machine) -> int:
    """The greatest number of JVMs that lived at the same time, by the journal."""
    alive: set[str] = set()
    most = 0
    for *_, pid, outcome in journal(machine):
        if outcome == "java-started":
            alive.add(pid)
        elif outcome.startswith("java-ended") or outcome == "stopped":
            alive.discard(pid)
        elif outcome.startswith("leftovers-killed"):
            alive -= set(outcome.split()[1:])
        most = max(most, len(alive))
    return most


def supervisor_pid(machine: Machine) -> int:
    """The supervisor of generation 1."""
    return int((generation_dir(machine) / "supervisor").read_text().split()[0])


def test_hostile_texts_arrive_as_they_are(any_machine: Machine) -> None:
    """Holder, arguments, options and files with every special character arrive byte for byte, nothing is run."""
    host = ScriptMirrorHost("shop", LocalTransport(any_machine), str(any_machine.home))
    holder = HOSTILE.replace("\n", " ").strip()
    launch = any_machine.launch()
    launch = replace(launch, arguments=(*launch.arguments, HOSTILE), files={**launch.files, "secrets/x.y": HOSTILE})

    reserved = host.reserve(holder)
    host.start(holder, 1, launch)
    log = host.logs(1, 200).log

    assert holder == reserved.holder
    assert HOSTILE.encode() == (generation_dir(any_machine) / "secrets" / "x.y").read_bytes()
    console = (generation_dir(any_machine) / "console.log").read_bytes()
    assert f"argument <{HOSTILE}>\n".encode() in console
    assert "started" in log
    assert [] == list(any_machine.home.rglob("HACKED"))


def test_log_bytes_are_escaped(machine: Machine, host: ScriptMirrorHost) -> None:
    """Quotes, backslashes, tabs, control characters and broken UTF-8 in a log leave the reply readable."""
    host.reserve(ME)
    host.start(ME, 1, machine.launch())
    (generation_dir(machine) / "mirrormaker.log").write_bytes(b'a "b" c\\d\te\x1bf\x00g\xffh \xc3\xbc\r\nlast')

    assert 'a "b" c\\d\tefg\ufffdh ü\nlast\n' in host.logs(1, 2).log


def test_noisy_login_is_survived(machine: Machine) -> None:
    """What a login prints before the reply, without a newline even, does not hide it."""
    host = ScriptMirrorHost("shop", LocalTransport(machine, noise="printf 'Welcome to {host}@@'; "), str(machine.home))

    assert ME == host.reserve(ME).holder


def test_twenty_starts_at_once_make_one_process(machine: Machine, host: ScriptMirrorHost) -> None:
    """Of many starts at the same time one starts, the others adopt or find the lock held; never are there two."""
    host.reserve(ME)

    def start(_: int) -> str:
        try:
            reply = ScriptMirrorHost("shop", LocalTransport(machine), str(machine.home)).start(ME, 1, machine.launch())
        except MigrationError as error:
            return str(error)
        return "adopted" if reply.adopted else "started"

    with ThreadPoolExecutor(20) as pool:
        results = list(pool.map(start, range(20)))

    assert 1 == results.count("started")
    assert all(r in {"started", "adopted"} or r.startswith("HOST_LOCKED") for r in results)
    assert 1 == most_alive_at_once(machine)
    assert 1 == len([line for line in journal(machine) if line[5] == "java-started"])


def test_starts_and_stops_at_once_leave_nothing(machine: Machine, host: ScriptMirrorHost) -> None:
    """However a start and a stop of one generation meet, nothing is alive after both and there were never two."""
    host.reserve(ME)
    for generation in range(1, 5):
        with ThreadPoolExecutor(2) as pool:
            start = pool.submit(host.start, ME, generation, machine.launch())
            stop = pool.submit(host.stop, ME, generation, GRACE_S)
            assert not stop.result().is_running
            error = start.exception()

        assert error is None or isinstance(error, FindingsError)
        assert not host.stop(ME, generation, GRACE_S).is_running
        assert [] == machine.alive()
    assert most_alive_at_once(machine) <= 1


def test_lock_of_a_dead_call_does_not_hold(machine: Machine, host: ScriptMirrorHost) -> None:
    """A lock left by a killed call, or from before a reboot, is free."""
    host.reserve(ME)
    lock = max((machine.home / "shop").glob("lock.*"), key=lambda path: int(path.suffix[1:]))
    pid, start, boot = lock.read_text().split()
    stale = (f"{pid} {start} {boot}", f"{os.getpid()} {start} {boot}", f"{os.getpid()} {_start_time()} other-boot")
    for owner in stale:
        lock = max((machine.home / "shop").glob("lock.*"), key=lambda path: int(path.suffix[1:]))
        lock.write_text(owner + "\n")

        assert ME == host.reserve(ME).holder


def test_lock_of_a_living_call_holds(machine: Machine, host: ScriptMirrorHost) -> None:
    """While another call works on the migration, a call gives up after a bounded time, with nothing done."""
    host.reserve(ME)
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    (machine.home / "shop" / "lock.1000").write_text(f"{os.getpid()} {_start_time()} {boot}\n")

    with pytest.raises(MigrationError, match="HOST_LOCKED"):
        host.release(ME)
    assert ME == host.status().holder


def _start_time() -> str:
    return Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]


def test_lease_ends_the_process(machine: Machine, host: ScriptMirrorHost) -> None:
    """A generation that nobody renews ends by itself, and the reason is on record."""
    host.reserve(ME)
    start_briefly(host, ME, 1, machine.launch(lease_s=BRIEF_LEASE_S))
    wait_until(lambda: host.status().exit_code is not None, what="the end of the lease")

    reply = host.status()

    assert (ProcessState.DEAD, "lease-expired", 143) == (reply.state, reply.exit_reason, reply.exit_code)
    wait_until(lambda: not machine.alive(), what="the end of the supervisor")


def test_lease_kills_what_ignores_term_even_without_supervisor(machine: Machine, host: ScriptMirrorHost) -> None:
    """The dead-man's switch works with the supervisor killed and TERM ignored; secrets are removed."""
    host.reserve(ME)
    host.start(ME, 1, machine.launch("ignore-term", lease_s=SHORT_LEASE_S))
    os.kill(supervisor_pid(machine), signal.SIGKILL)

    wait_until(lambda: not machine.alive(), what="the end of everything")

    reply = host.status()
    assert (ProcessState.DEAD, "lease-expired", None, True) == (
        reply.state,
        reply.exit_reason,
        reply.exit_code,
        reply.killed,
    )
    assert not (generation_dir(machine) / "secrets").exists()


def test_renewed_lease_holds(machine: Machine, host: ScriptMirrorHost) -> None:
    """A generation that is renewed in time outlives its first lease."""
    host.reserve(ME)
    host.start(ME, 1, machine.launch(lease_s=SHORT_LEASE_S))

    def outlived() -> bool:
        return (host.renew(ME, 1).uptime_s or 0) > 2 * SHORT_LEASE_S

    wait_until(outlived, what="a process older than its lease")

    assert host.status().is_running


def test_stranger_with_the_same_pid_is_nobody(machine: Machine, host: ScriptMirrorHost) -> None:
    """A process that got the recorded pid later is neither taken for ours nor killed."""
    host.reserve(ME)
    host.start(ME, 1, machine.launch())
    host.stop(ME, 1, GRACE_S)
    stranger = subprocess.Popen(["sleep", "600"])
    try:
        record = generation_dir(machine) / "java"
        _, start, boot, *rest = record.read_text().split()
        for faked in (start, _start_of(stranger.pid)):
            record.write_text(" ".join([str(stranger.pid), faked, boot, *rest]) + "\n")
            assert not host.status().is_running
            assert not host.stop(ME, 1, 1).is_running
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def _start_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]


def test_stopped_process_is_ended(machine: Machine, host: ScriptMirrorHost) -> None:
    """A process frozen by SIGSTOP, supervisor and all, is killed and gone."""
    host.reserve(ME)
    reply = host.start(ME, 1, machine.launch())
    assert reply.pid is not None
    os.kill(reply.pid, signal.SIGSTOP)
    os.kill(supervisor_pid(machine), signal.SIGSTOP)

    stopped = host.stop(ME, 1, 1)

    assert (ProcessState.STOPPED, True) == (stopped.state, stopped.killed)
    assert [] == machine.alive()


def test_orphan_is_found_and_ended(machine: Machine, host: ScriptMirrorHost) -> None:
    """With supervisor and records lost, stop still finds the process by its marker."""
    host.reserve(ME)
    host.start(ME, 1, machine.launch())
    os.kill(supervisor_pid(machine), signal.SIGKILL)
    (generation_dir(machine) / "java").unlink()

    assert not host.stop(ME, 1, GRACE_S).is_running
    assert [] == machine.alive()


def test_orphan_keeps_the_reservation(machine: Machine, host: ScriptMirrorHost) -> None:
    """With its records lost a process is alive all the same, and the reservation is not freed over it."""
    host.reserve(ME)
    host.start(ME, 1, machine.launch())
    os.kill(supervisor_pid(machine), signal.SIGKILL)
    (generation_dir(machine) / "java").unlink()

    with pytest.raises(Refused, match="ALREADY_RUNNING"):
        host.release(ME)
    host.stop(ME, 1, GRACE_S)
    assert not host.release(ME).holder


def test_stop_needs_no_reservation(machine: Machine, host: ScriptMirrorHost) -> None:
    """With the record of the reservation lost, stop still ends the process."""
    host.reserve(ME)
    host.start(ME, 1, machine.launch())
    (machine.home / "shop" / "reservation").unlink()

    assert ("", ProcessState.STOPPED) == (host.status().holder, host.stop(ME, 1, GRACE_S).state)
    assert [] == machine.alive()


def test_other_base_folder_is_left_alone(machine: Machine, host: ScriptMirrorHost, tmp_path: Path) -> None:
    """A migration of the same name below another base folder is another one."""
    other_machine = replace(machine, home=tmp_path / "other")
    other = ScriptMirrorHost("shop", LocalTransport(machine), str(other_machine.home))
    try:
        for each in (host, other):
            each.reserve(ME)
            each.start(ME, 1, machine.launch())
        host.stop(ME, 1, GRACE_S)

        assert other.status().is_running
    finally:
        other_machine.end_all()


def test_base_folder_has_one_spelling(machine: Machine, host: ScriptMirrorHost, tmp_path: Path) -> None:
    """A base folder reached by a link is the same folder, so the process in it is found and there is no second."""
    (tmp_path / "link").symlink_to(machine.home)
    linked = ScriptMirrorHost("shop", LocalTransport(machine), str(tmp_path / "link"))
    linked.reserve(ME)
    pid = linked.start(ME, 1, machine.launch()).pid

    assert pid == host.status().pid
    with pytest.raises(Refused, match=f"pid {pid}"):
        host.start(ME, 2, machine.launch())
    assert not linked.stop(ME, 1, GRACE_S).is_running


def test_secrets_are_private_and_removed(machine: Machine, host: ScriptMirrorHost) -> None:
    """Files are for their owner only, in no command line or environment, and gone after the end."""
    host.reserve(ME)
    host.start(ME, 1, machine.launch())
    folder = generation_dir(machine)
    modes = {path.stat().st_mode & 0o077 for path in [machine.home / "shop", *(machine.home / "shop").rglob("*")]}
    shown = machine.shown("cmdline", "environ")
    assert any(b"KAFKA_MIGRATION_ID=" in text for text in shown)
    host.stop(ME, 1, GRACE_S)

    assert {0} == modes
    assert not any(b"canary" in text or b"MIRRORCTL" in text for text in shown)
    assert not (folder / "secrets").exists()
    assert not (folder / "mm2.properties").exists()
    assert (folder / "log4j.properties").exists()
    assert (folder / "log4j2.properties").exists()


def test_secrets_go_when_the_process_dies(machine: Machine, host: ScriptMirrorHost) -> None:
    """A process that dies by itself takes its secrets along."""
    host.reserve(ME)
    reply = host.start(ME, 1, machine.launch())
    assert reply.pid is not None
    os.kill(reply.pid, signal.SIGKILL)

    wait_until(lambda: not (generation_dir(machine) / "secrets").exists(), what="the removal of secrets")


def test_take_over_is_in_the_journal(machine: Machine, host: ScriptMirrorHost) -> None:
    """Who took the reservation from whom stays on record."""
    host.reserve(ME)
    host.reserve(OTHER, take_over_from=ME)

    assert f"taken-over {ME} -> {OTHER}" == journal(machine)[-1][5]


def test_hang_up_does_not_reach_the_process(machine: Machine, host: ScriptMirrorHost) -> None:
    """The process leads a session of its own, so the end of the SSH session is not its business."""
    host.reserve(ME)
    pid = host.start(ME, 1, machine.launch()).pid
    assert pid is not None

    assert supervisor_pid(machine) == os.getsid(pid) == os.getpgid(pid)
