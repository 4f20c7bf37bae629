"""Secrets on the host are in memory, on a tmpfs, and every end of MirrorMaker removes them from there."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_migration.adapters.host.mirrorctl_host import ScriptMirrorHost
from kafka_migration.core.findings.errors import MirrorFailed, OutcomeUnknown
from tests.allowed_skips import lacks_root
from tests.contract.local_host import BRIEF_LEASE_S, LocalTransport, Machine, start_briefly
from tests.contract.process_contract import GRACE_S, ME
from tests.contract.test_mirrorctl_faults import generation_dir
from tests.waiting import wait_until

pytestmark = pytest.mark.live


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """A folder that the host's administrator names for secrets."""
    folder = tmp_path / "named"
    folder.mkdir()
    return folder


@pytest.fixture
def remembering(machine: Machine, memory: Path) -> ScriptMirrorHost:
    """The host with that folder."""
    return host_with(machine, KAFKA_MIGRATION_MEMORY=str(memory))


def host_with(machine: Machine, **environment: str) -> ScriptMirrorHost:
    """Return the host with variables in its environment."""
    return ScriptMirrorHost("shop", LocalTransport(machine, environment=environment), str(machine.home))


def test_secrets_are_in_memory(machine: Machine) -> None:
    """Without a setting they are in a private folder of /dev/shm, and reached through a link."""
    host = host_with(machine, KAFKA_MIGRATION_MEMORY="")
    host.reserve(ME)
    host.start(ME, 1, machine.launch())
    place = (generation_dir(machine) / "secrets").readlink()
    content, mode = (place / "a.b").read_text(), place.stat().st_mode & 0o777
    host.stop(ME, 1, GRACE_S)

    assert ("/dev/shm", "canary", 0o700) == (str(place.parent), content, mode)
    assert not place.exists()
    assert not (generation_dir(machine) / "secrets-place").exists()


def test_administrator_decides_where(machine: Machine, memory: Path, remembering: ScriptMirrorHost) -> None:
    """They are in the folder that the environment names; with `none` they are on the disk."""
    remembering.reserve(ME)
    remembering.start(ME, 1, machine.launch())
    places = list(memory.iterdir())
    remembering.stop(ME, 1, GRACE_S)
    host_with(machine, KAFKA_MIGRATION_MEMORY="none").start(ME, 2, machine.launch())

    assert 1 == len(places)
    assert not places[0].exists()
    assert (generation_dir(machine, 2) / "secrets" / "a.b").is_file()
    assert not (generation_dir(machine, 2) / "secrets").is_symlink()


@pytest.mark.parametrize("folder", ["/nowhere/at/all", "relative", "/dev/shm/a b", "/dev/null", "/dev/../dev/shm"])
def test_folder_that_cannot_be_used_is_not(machine: Machine, folder: str) -> None:
    """MirrorMaker starts all the same, with its secrets on the disk."""
    host = host_with(machine, KAFKA_MIGRATION_MEMORY=folder)
    host.reserve(ME)

    assert host.start(ME, 1, machine.launch()).is_running
    assert not (generation_dir(machine) / "secrets").is_symlink()
    assert "canary" == (generation_dir(machine) / "secrets" / "a.b").read_text()


@pytest.mark.skipif(lacks_root(), reason="only root can make a small tmpfs")
def test_full_memory_is_left(machine: Machine, memory: Path, remembering: ScriptMirrorHost) -> None:
    """If the secrets do not fit, they are all on the disk, and nothing is left in memory."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", str(memory)], check=True)
    try:
        remembering.reserve(ME)
        large = "x" * 20_000
        launch = machine.launch()
        files = {**launch.files, "secrets/large": large}
        assert remembering.start(ME, 1, replace(launch, files=files)).is_running
        left = list(memory.iterdir())
    finally:
        subprocess.run(["umount", "-l", str(memory)], check=True)
    secrets = generation_dir(machine) / "secrets"

    assert [] == left
    assert not secrets.is_symlink()
    assert ("canary", large) == ((secrets / "a.b").read_text(), (secrets / "large").read_text())
    assert 0o700 == secrets.stat().st_mode & 0o777


def test_folder_of_another_is_not_removed(machine: Machine, memory: Path, remembering: ScriptMirrorHost) -> None:
    """A folder of another user, made under the recorded name after a restart of the host, stays."""
    foreign = memory / "kafka-migration-shop-1-x"
    foreign.mkdir()
    remembering.reserve(ME)
    remembering.start(ME, 1, machine.launch())
    (generation_dir(machine) / "secrets-place").write_text(f"{foreign}\n")
    if os.geteuid() == 0:
        os.chown(foreign, 12345, 12345)
    else:
        foreign.rmdir()
        foreign.symlink_to(memory)
    remembering.stop(ME, 1, GRACE_S)

    assert foreign.exists()


def test_process_writes_no_core_dump(machine: Machine, remembering: ScriptMirrorHost) -> None:
    """The memory of a process that crashes is not written to a file, whatever the host's limit is."""
    remembering.reserve(ME)
    reply = remembering.start(ME, 1, machine.launch())
    limits = Path(f"/proc/{reply.pid}/limits").read_text()

    assert 0 == int(Path(f"/proc/{reply.pid}/coredump_filter").read_text(), 16)
    assert re.search(r"^Max core file size +0 +", limits, re.MULTILINE)


def test_nothing_is_left_when_the_process_dies(machine: Machine, memory: Path, remembering: ScriptMirrorHost) -> None:
    """The supervisor removes the secrets of a process that was killed."""
    remembering.reserve(ME)
    reply = remembering.start(ME, 1, machine.launch())
    assert reply.pid is not None
    os.kill(reply.pid, signal.SIGKILL)

    wait_until(lambda: not list(memory.iterdir()), what="the removal of the secrets")


def test_nothing_is_left_after_the_lease(machine: Machine, memory: Path, remembering: ScriptMirrorHost) -> None:
    """A lease that is not renewed ends the process, and the secrets go with it."""
    remembering.reserve(ME)
    start_briefly(remembering, ME, 1, machine.launch(lease_s=BRIEF_LEASE_S))

    wait_until(lambda: not list(memory.iterdir()), what="the removal of the secrets")
    wait_until(lambda: not remembering.status().is_running, what="the end of the process")
    assert "lease-expired" == remembering.status().exit_reason


def test_next_start_removes_what_a_kill_left(machine: Machine, memory: Path, remembering: ScriptMirrorHost) -> None:
    """If everything was killed at once, the next start removes the secrets before it writes its own."""
    remembering.reserve(ME)
    remembering.start(ME, 1, machine.launch())
    (left,) = memory.iterdir()
    machine.end_all()
    assert left.exists()

    remembering.start(ME, 2, machine.launch())

    (own,) = memory.iterdir()
    assert own != left


@pytest.mark.parametrize("point", ["before_record", "after_record"])
def test_next_start_removes_what_a_cut_start_left(machine: Machine, memory: Path, point: str) -> None:
    """A start that died half-way leaves secrets that the next start finds."""
    (machine.home / "failpoints-allowed").touch()
    named = {"KAFKA_MIGRATION_MEMORY": str(memory)}
    host = host_with(machine, **named)
    host.reserve(ME)
    with pytest.raises((OutcomeUnknown, MirrorFailed)):
        host_with(machine, **named, KAFKA_MIGRATION_FAILPOINT=point).start(ME, 1, machine.launch())
    (left,) = memory.iterdir()

    host.start(ME, 1 if point == "before_record" else 2, machine.launch())

    assert left not in memory.iterdir()


@pytest.mark.parametrize("place", ["{}/other", "{}/kafka-migration-other-1", "{}/kafka-migration-shop-/../other"])
def test_only_own_folders_are_removed(
    machine: Machine, memory: Path, remembering: ScriptMirrorHost, place: str
) -> None:
    """A record that names another folder than one of this migration removes nothing."""
    for name in ("other", "kafka-migration-other-1", "kafka-migration-shop-"):
        (memory / name).mkdir()
    remembering.reserve(ME)
    remembering.start(ME, 1, machine.launch())
    (generation_dir(machine) / "secrets-place").write_text(f"{place.format(memory)}\n")
    before = set(memory.iterdir())
    remembering.stop(ME, 1, GRACE_S)

    assert before == set(memory.iterdir())
