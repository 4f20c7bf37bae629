"""mirrorctl on a real disk that is full or read-only: MirrorMaker still ends, and a refusal has the reason."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from kafka_migration.adapters.host.mirrorctl_host import ScriptMirrorHost
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.mirror.mirror_process import ProcessState
from tests.contract.local_host import LocalTransport, Machine
from tests.contract.process_contract import GRACE_S, ME, codes
from tests.contract.test_mirrorctl_faults import generation_dir
from tests.waiting import wait_until

pytestmark = pytest.mark.live

FULL, READ_ONLY = "No space left on device", "Read-only file system"


def _mount(machine: Machine, options: str) -> bool:
    words = ["mount", "-t", "tmpfs", "-o", f"size=1m,mode=700,{options}", "tmpfs", str(machine.home)]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


@pytest.fixture
def small(slow_machine: Machine) -> Iterator[Machine]:
    """A machine whose base folder is a small disk of its own."""
    if not _mount(slow_machine, "rw"):
        pytest.skip("only root may mount a disk")
    yield slow_machine
    slow_machine.end_all()
    subprocess.run(["umount", "-l", str(slow_machine.home)], check=True)


def fill(machine: Machine) -> None:
    """Fill the disk."""
    with (machine.home / "ballast").open("wb", buffering=0) as file, suppress(OSError):
        while file.write(b"\0" * 512):
            pass


def make_read_only(machine: Machine) -> None:
    """Mount the disk again, without writing; the kernel refuses that while a process has a file open for writing."""
    assert _mount(machine, "remount,ro")


def started(machine: Machine, lease_s: int) -> ScriptMirrorHost:
    """A host with a living generation 1 whose lease has its watcher."""
    host = ScriptMirrorHost("shop", LocalTransport(machine), str(machine.home))
    host.reserve(ME)
    host.start(ME, 1, machine.launch(lease_s=lease_s))
    wait_until(lambda: (generation_dir(machine) / "watcher").exists(), what="the watcher's record")
    return host


def test_stop_works_on_a_full_disk(small: Machine) -> None:
    """The stop ends MirrorMaker, says why it could not be recorded, and the state is not running after that."""
    host = started(small, 300)
    fill(small)
    with pytest.raises(Refused, match=FULL) as error:
        host.stop(ME, 1, GRACE_S)

    assert {Code.HOST_REFUSED} == codes(error)
    assert "no process is alive" in str(error.value)
    assert ([], False) == (small.alive(), host.status().is_running)


def test_lease_works_on_a_full_disk(small: Machine) -> None:
    """A MirrorMaker whose lease is not renewed ends, also if its end cannot be recorded."""
    host = started(small, 4)
    fill(small)

    wait_until(lambda: not small.alive(), what="the end of everything")
    assert ProcessState.DEAD == host.status().state


def test_refused_renewal_has_the_reason(small: Machine) -> None:
    """A renewal that cannot be written is refused with the reason; MirrorMaker lives until its lease ends."""
    host = started(small, 300)
    fill(small)

    with pytest.raises(Refused, match=f"cannot write .*/lease: {FULL}"):
        host.renew(ME, 1)
    assert host.status().is_running


@pytest.mark.parametrize(("spoil", "reason"), [(fill, FULL), (make_read_only, READ_ONLY)])
@pytest.mark.parametrize("verb", ["reserve", "start"])
def test_refusal_has_the_reason(small: Machine, spoil: Callable[[Machine], None], reason: str, verb: str) -> None:
    """A verb that must write is refused with the system's reason, and starts nothing."""
    host = ScriptMirrorHost("shop", LocalTransport(small), str(small.home))
    if verb == "start":
        host.reserve(ME)
    spoil(small)
    with pytest.raises(Refused, match=f"cannot write .*: {reason}"):
        host.reserve(ME) if verb == "reserve" else host.start(ME, 1, small.launch())

    assert [] == small.alive()
