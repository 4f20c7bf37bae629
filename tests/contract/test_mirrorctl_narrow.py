"""What a key that may call mirrorctl, and nothing else, cannot make of it: other tools, other files, endless lists."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_migration.adapters.host.mirrorctl_host import ScriptMirrorHost, mirrorctl_text
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.mirror.mirrorctl_protocol import HostRequest, parse_reply, render_request
from tests.contract.local_host import ForcedTransport, LocalTransport, Machine
from tests.contract.process_contract import GRACE_S, ME, codes
from tests.contract.test_mirrorctl_faults import generation_dir

pytestmark = pytest.mark.live


@pytest.mark.parametrize("count", ["FILES", "JAVA_OPTIONS", "ARGUMENTS", "ALARMS"])
@pytest.mark.parametrize("transport", [LocalTransport, ForcedTransport])
def test_counts_are_bounded(machine: Machine, count: str, transport: type[LocalTransport]) -> None:
    """A list that is said to be endless is refused, not counted."""
    for number in ("101", "999999999"):
        variables = {"HOME": str(machine.home), "HOLDER": ME, count: number}
        command, stdin = render_request(HostRequest("reserve", "shop", (), variables), mirrorctl_text())
        reply = parse_reply(transport(machine)(command, stdin, 60)[1])

        assert (Code.HOST_REFUSED, f"{count} is more than 100") == (reply.code, reply.message)


@pytest.mark.parametrize("words", ["start shop 1 604801", "stop shop 1 3601", "logs shop last 10001"])
def test_times_and_lengths_are_bounded(machine: Machine, words: str) -> None:
    """A lease of years, or a log without end, is refused."""
    _, stdout, _ = ForcedTransport(machine)(f"mirrorctl {words}", "MIRRORCTL_HOLDER='me'\nMIRRORCTL_ENCODED='1'\n", 60)

    assert "is more than" in parse_reply(stdout).message


def test_request_of_endless_lines_is_refused(machine: Machine) -> None:
    """A request has so many lines; the rest is not waited for."""
    stdin = "MIRRORCTL_HOLDER='me'\n" * 2000

    _, stdout, _ = ForcedTransport(machine)("mirrorctl status shop", stdin, 60)

    assert "more than 1000 lines" in parse_reply(stdout).message


@pytest.mark.parametrize(
    "name",
    [
        "java/x",
        "manifest/x",
        "supervise/x",
        "exit/a/b",
        "x.log/y",
        "a.args",
        "log4j.properties/x",
        "log4j2.properties/x",
        "lease.tmp.1",
    ],
)
def test_records_are_no_folders(machine: Machine, name: str) -> None:
    """A file of a launch takes no record's place, not even as a folder."""
    host = ScriptMirrorHost("shop", LocalTransport(machine), str(machine.home))
    host.reserve(ME)
    launch = machine.launch()

    with pytest.raises(Refused, match="is reserved") as error:
        host.start(ME, 1, replace(launch, files={**launch.files, name: "x"}))
    assert {Code.HOST_REFUSED} == codes(error)
    assert 0 == host.status().generation


def test_writable_base_folder_is_refused(slow_machine: Machine) -> None:
    """Where others may write, nothing is reserved or started; what runs can still be stopped."""
    host = ScriptMirrorHost("shop", LocalTransport(slow_machine), str(slow_machine.home))
    host.reserve(ME)
    host.start(ME, 1, slow_machine.launch())
    for mode in (0o770, 0o707):
        slow_machine.home.chmod(mode)
        acts: tuple[Callable[[], object], ...] = (lambda: host.reserve(ME), lambda: host.clean(ME, 1))
        for act in acts:
            with pytest.raises(Refused, match="is writable by others") as error:
                act()
            assert {Code.HOST_REFUSED} == codes(error)
        assert host.status().is_running
    slow_machine.home.chmod(0o777)

    assert not host.stop(ME, 1, GRACE_S).is_running
    with pytest.raises(Refused, match="is writable by others"):
        host.start(ME, 2, slow_machine.launch())


def test_folder_above_that_everybody_may_change_is_refused(machine: Machine) -> None:
    """Who may rename the base folder could put another in its place; a sticky folder such as /tmp forbids that."""
    above = machine.home / "above"
    (above / "base").mkdir(parents=True)
    (above / "base").chmod(0o700)
    host = ScriptMirrorHost("shop", LocalTransport(machine), str(above / "base"))

    above.chmod(0o777)
    with pytest.raises(Refused, match="above is writable by all users"):
        host.reserve(ME)
    above.chmod(0o1777)
    assert host.reserve(ME).ok


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give folders away")
@pytest.mark.parametrize("part", ["base", "above"])
def test_base_folder_of_another_is_refused(machine: Machine, part: str) -> None:
    """A base folder, or one above it, that belongs to another user is refused."""
    (machine.home / "above" / "base").mkdir(parents=True)
    folder = machine.home / "above" / ("base" if part == "base" else "")
    os.chown(folder, 12345, 12345)
    host = ScriptMirrorHost("shop", LocalTransport(machine), str(machine.home / "above" / "base"))

    with pytest.raises(Refused, match="belongs to user id 12345") as error:
        host.reserve(ME)
    assert {Code.HOST_REFUSED} == codes(error)


def test_base_folder_is_made_for_its_user_alone(machine: Machine) -> None:
    """A base folder that is not there yet is made, and nobody else may look into it."""
    host = ScriptMirrorHost("shop", LocalTransport(machine), str(machine.home / "new" / "base"))

    assert host.reserve(ME).ok
    assert 0o700 == (machine.home / "new" / "base").stat().st_mode & 0o777


def test_shell_whose_printf_is_a_program_is_refused(tmp_path: Path) -> None:
    """Such a shell would show passwords in the process list, so nothing is done with it."""
    machine = Machine.build(tmp_path, "bash")
    (tmp_path / "no_printf").write_text("enable -n printf\n")
    (machine.bin / "sh").unlink()
    shell = f'#!{shutil.which("bash")}\nBASH_ENV={tmp_path}/no_printf exec {shutil.which("bash")} "$@"\n'
    (machine.bin / "sh").write_text(shell)
    (machine.bin / "sh").chmod(0o755)
    kind = subprocess.run(["sh", "-c", "command -v printf"], env=machine.environment(), capture_output=True, text=True)
    assert kind.stdout.startswith("/")

    with pytest.raises(Refused, match="no built-in printf") as error:
        ScriptMirrorHost("shop", LocalTransport(machine), str(machine.home)).reserve(ME)
    assert {Code.HOST_TOOL_MISSING} == codes(error)


def test_login_modules_that_load_code_are_forbidden(machine: Machine) -> None:
    """Every Java that mirrorctl starts forbids the login modules that ask an address for code."""
    host = ScriptMirrorHost("shop", LocalTransport(machine), str(machine.home))
    host.reserve(ME)
    host.start(ME, 1, machine.launch())

    console = (generation_dir(machine) / "console.log").read_text()
    forbidden = "com.sun.security.auth.module.JndiLoginModule,com.sun.security.auth.module.LdapLoginModule"
    assert f"argument <-Dorg.apache.kafka.disallowed.login.modules={forbidden}>" in console


def test_tokens_come_from_no_address_by_default(machine: Machine) -> None:
    """Without the option, Java may fetch OAuth tokens from no address, file or broker; the option comes later."""
    host = ScriptMirrorHost("shop", LocalTransport(machine), str(machine.home))
    allowed = "-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls"
    host.reserve(ME)
    host.start(ME, 1, replace(machine.launch(), java_options=(f"{allowed}=https://a/token",)))

    console = (generation_dir(machine) / "console.log").read_text()
    given = re.findall(rf"argument <{re.escape(allowed)}=(.*)>", console)
    assert ["none", "https://a/token"] == given
