"""The migration's folder is this user's alone, and requests, replies and records have a size."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_migration.adapters.host.mirrorctl_host import ScriptMirrorHost
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.mirror.mirrorctl_protocol import HostRequest, parse_reply, render_request
from tests.contract.local_host import SCRIPT, ForcedTransport, LocalTransport, Machine
from tests.contract.process_contract import GRACE_S, ME, codes
from tests.contract.test_mirrorctl_faults import generation_dir, journal
from tests.waiting import wait_until

pytestmark = pytest.mark.live

VERBS = (
    "reserve shop",
    "release shop",
    "start shop 1 60",
    "renew shop 1",
    "status shop",
    "stop shop last 0",
    "logs shop last 10",
    "clean shop 1",
    "fingerprint shop",
    "probe shop host",
)
MIB = 1024 * 1024


def linked(shop: Path) -> Path:
    """Put a link to a folder of the same user in the folder's place."""
    shop.rename(shop.with_name("elsewhere"))
    shop.symlink_to("elsewhere")
    return shop


def dangling(shop: Path) -> Path:
    """Put a link to nothing in the folder's place."""
    shop.rename(shop.with_name("kept"))
    shop.symlink_to("/nowhere")
    return shop


def writable(mode: int) -> Callable[[Path], Path]:
    """Return the act that lets others write to the folder."""

    def act(shop: Path) -> Path:
        shop.chmod(mode)
        return shop

    return act


def journal_is_a_link(shop: Path) -> Path:
    """Let the journal be a link to another file of the user."""
    (shop / "journal").unlink()
    (shop / "journal").symlink_to(shop.parent / "precious")
    return shop / "journal"


def file_is_writable(shop: Path) -> Path:
    """Let others write to a record."""
    (shop / "reservation").chmod(0o620)
    return shop / "reservation"


def generation_is_a_link(shop: Path) -> Path:
    """Let the folder of a generation be a link."""
    (shop / "gen-1").symlink_to("/etc")
    return shop / "gen-1"


def hidden_link(shop: Path) -> Path:
    """Let the file of a lock be a link."""
    (shop / ".lock.1").symlink_to(shop.parent / "precious")
    return shop / ".lock.1"


def belongs_to_another(shop: Path) -> Path:
    """Give the folder to another user."""
    os.chown(shop, 12345, 12345)
    return shop


def record_belongs_to_another(shop: Path) -> Path:
    """Give a record to another user."""
    os.chown(shop / "reservation", 12345, 12345)
    return shop / "reservation"


SPOILERS: tuple[Callable[[Path], Path], ...] = (
    linked,
    dangling,
    writable(0o770),
    writable(0o702),
    journal_is_a_link,
    file_is_writable,
    generation_is_a_link,
    hidden_link,
)
GIVEN_AWAY = (belongs_to_another, record_belongs_to_another) if os.geteuid() == 0 else ()


def tree(root: Path) -> dict[str, object]:
    """Return what is below a folder: the content of files and the targets of links."""
    paths = sorted(path for path in root.rglob("*") if path.is_symlink() or path.is_file())
    return {str(path): path.readlink() if path.is_symlink() else path.read_bytes() for path in paths}


@pytest.mark.parametrize("spoil", [*SPOILERS, *GIVEN_AWAY])
def test_every_verb_refuses_a_folder_of_others(any_machine: Machine, spoil: Callable[[Path], Path]) -> None:
    """A folder, or a record in it, that is a link, another user's or writable by others is not even read."""
    ScriptMirrorHost("shop", ForcedTransport(any_machine)).reserve(ME)
    (any_machine.home / "precious").write_text("precious")
    place = spoil(any_machine.home / "shop")
    before = tree(any_machine.home)
    for words in VERBS:
        request = f"MIRRORCTL_HOLDER='{ME}'\nMIRRORCTL_ENCODED='1'\n"
        reply = parse_reply(ForcedTransport(any_machine)(f"mirrorctl {words}", request, 30)[1])

        assert (Code.HOST_REFUSED, f"only this user may own and write to {place}") == (
            reply.code,
            reply.message.partition(",")[0],
        ), words
        assert "" == reply.holder
    assert before == tree(any_machine.home)


@pytest.mark.parametrize("behaviour", ["serve", "ignore-term"])
def test_stop_ends_what_runs_in_a_folder_of_others(slow_machine: Machine, behaviour: str) -> None:
    """MirrorMaker is ended by its markers, not by its records, and the reply says that this was not recorded."""
    host = ScriptMirrorHost("shop", LocalTransport(slow_machine), str(slow_machine.home))
    host.reserve(ME)
    host.start(ME, 1, slow_machine.launch(behaviour))
    (slow_machine.home / "precious").write_text("precious")
    with (generation_dir(slow_machine) / "manifest").open("a") as manifest:
        manifest.write("file=../../precious\n")
    (slow_machine.home / "shop").chmod(0o770)

    with pytest.raises(Refused, match="no process is alive, but this could not be recorded") as error:
        host.stop(ME, 1, 2)
    assert {Code.HOST_REFUSED} == codes(error)
    assert not slow_machine.alive()
    assert not list((slow_machine.home / "shop").glob("stopped-*"))
    assert "precious" == (slow_machine.home / "precious").read_text()


@pytest.mark.parametrize(
    ("stdin", "said"),
    [
        (b"MIRRORCTL_HOLDER='" + b"x" * 64 * MIB, "more than 8388608 bytes"),
        (b"x" * 64 * MIB, "more than 8388608 bytes"),
        (b"MIRRORCTL_HOLDER='" + b"x" * 9 * MIB + b"'\nMIRRORCTL_ENCODED='1'\n", "more than 8388608 bytes"),
        (b"\0" * 9 * MIB, "more than 8388608 bytes"),
        (b"\n" * 9 * MIB, "more than 1000 lines"),
        (b"a\n" * 9 * MIB, "more than 1000 lines"),
        (b"\n", "line 1 of the request"),
        (b"MIRRORCTL_HOLDER='a\0b'\nMIRRORCTL_ENCODED='1'\n", "is not encoded"),
        (b"MIRRORCTL_HOLDER='" + b"x" * 1001 + b"'\nMIRRORCTL_ENCODED='1'\n", "more than 1000 characters"),
        # A shell that searches a long text for its end takes hours.
        (
            b"MIRRORCTL_" + b"A" * 7 * MIB + b"='x'\nMIRRORCTL_ENCODED='1'\n",
            "line 1 of the request is not an assignment",
        ),
        (
            b"MIRRORCTL_A" + b"='" * 3 * MIB + b"x\nMIRRORCTL_ENCODED='1'\n",
            "line 1 of the request is not an assignment",
        ),
    ],
    ids=range(11),
)
def test_long_request_is_refused(any_machine: Machine, stdin: bytes, said: str) -> None:
    """No more of a request is read than a request may have, and a reply does not show it."""
    environment = {**any_machine.environment(), "SSH_ORIGINAL_COMMAND": "mirrorctl reserve shop"}
    done = subprocess.run(["sh", SCRIPT, "forced"], input=stdin, env=environment, capture_output=True, check=False)

    reply = parse_reply(done.stdout.decode())
    assert (3, Code.HOST_REFUSED, b"") == (done.returncode, reply.code, done.stderr)
    assert said in reply.message
    assert len(done.stdout) < 3_000
    assert not (any_machine.home / "shop").exists()


def test_request_without_end_is_refused(any_machine: Machine) -> None:
    """A request that does not end is read up to the limit, and not to its end."""
    environment = {**any_machine.environment(), "SSH_ORIGINAL_COMMAND": "mirrorctl status shop"}
    with Path("/dev/zero").open("rb") as endless:
        done = subprocess.run(
            ["sh", SCRIPT, "forced"], stdin=endless, env=environment, capture_output=True, timeout=60, check=False
        )

    assert "more than 8388608 bytes" in parse_reply(done.stdout.decode()).message


def test_largest_request_is_carried_out(any_machine: Machine) -> None:
    """A launch with the longest list of topics is within the limits, and arrives as it was sent."""
    host = ScriptMirrorHost("shop", ForcedTransport(any_machine))
    host.reserve(ME)
    topics = "|".join(f"{number:0>249}" for number in range(5_000))
    launch = any_machine.launch()
    launch = replace(launch, files={**launch.files, "topics.properties": topics})

    assert host.start(ME, 1, launch).is_running
    assert topics == (generation_dir(any_machine) / "topics.properties").read_text()


def test_message_is_bounded(machine: Machine) -> None:
    """A refusal that quotes the request quotes so much of it."""
    host = ScriptMirrorHost("shop", LocalTransport(machine), str(machine.home))
    host.reserve(ME)
    variables = {
        "HOME": str(machine.home),
        "HOLDER": ME,
        "MAIN_CLASS": "x" * MIB,
        "KAFKA_HOME": str(machine.kafka_home),
    }
    variables["JAVA_HOME"] = str(machine.java_home)
    request = render_request(HostRequest("start", "shop", ("1", "60"), variables), SCRIPT.read_text())
    reply = parse_reply(LocalTransport(machine)(*request, 30)[1])

    assert (Code.HOST_REFUSED, 1000) == (reply.code, len(reply.message))


def test_journal_makes_room(any_machine: Machine) -> None:
    """A full journal becomes journal.1; the events before and after are in the two files, and a third is dropped."""
    host = ScriptMirrorHost("shop", LocalTransport(any_machine), str(any_machine.home))
    host.reserve(ME)
    path = any_machine.home / "shop" / "journal"
    for full in ("first", "second"):
        with path.open("a") as file:
            file.write(f"1 1.0 start 1 - {full}{'x' * 2 * MIB}\n")
        host.release(ME)
        host.reserve(ME)

        previous = path.with_name("journal.1").read_text()
        assert f"- {full}x" in previous
        assert [f"released {ME}", f"reserved {ME}"] == [line[5] for line in journal(any_machine)]
    assert f"released {ME}" in previous
    assert "first" not in previous
    assert 2 == len(list(path.parent.glob("journal*")))


def test_output_of_supervisors_makes_room(slow_machine: Machine) -> None:
    """What supervisor and watcher print is bounded, with one previous file, and MirrorMaker runs on."""
    host = ScriptMirrorHost("shop", LocalTransport(slow_machine), str(slow_machine.home))
    host.reserve(ME)
    launch = slow_machine.launch(lease_s=59)
    host.start(ME, 1, launch)
    path = generation_dir(slow_machine) / "supervisor.log"
    with path.open("a") as file:
        file.write("x" * 2 * MIB)

    wait_until(lambda: path.stat().st_size == 0, what="the watcher's next look")
    assert 2 * MIB == path.with_name("supervisor.log.1").stat().st_size
    assert host.status().is_running
    host.stop(ME, 1, GRACE_S)


def test_addresses_are_bounded(machine: Machine) -> None:
    """Of the addresses that a name server gives for a name, so many are in the reply."""
    getent = machine.bin / "getent"
    getent.write_text("#!/bin/sh\nseq -f '10.0.%.0f.1 STREAM x' 1 60000\n")
    getent.chmod(0o755)
    request = "MIRRORCTL_NAMES='a b'\nMIRRORCTL_ENCODED='1'\n"
    reply = parse_reply(ForcedTransport(machine)("mirrorctl probe shop host", request, 30)[1])

    assert [52, 52] == [len(line.split()) for line in reply.facts["names"].splitlines()]
    assert len(json.dumps(reply.facts)) < 10_000
