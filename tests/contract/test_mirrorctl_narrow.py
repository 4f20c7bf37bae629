"""What a key that may call mirrorctl, and nothing else, cannot make of it: other tools, other files, endless lists."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_migration.adapters.mirror_host import ScriptMirrorHost, mirrorctl_text
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.mirror.host import HostProbe
from kafka_migration.core.mirror.mirrorctl_protocol import HostRequest, parse_reply, probe_variables, render_request
from tests.contract.host_contract import GRACE_S, ME, codes
from tests.contract.local_host import CLIENT_PROPERTIES, ForcedTransport, LocalTransport, Machine
from tests.contract.test_mirrorctl_faults import generation_dir

pytestmark = pytest.mark.live

OTHER_TOOLS = (
    "org.apache.kafka.tools.JmxTool",
    "org.apache.kafka.tools.ProducerPerformance",
    "org.apache.kafka.tools.ConsoleProducer",
    "org.apache.kafka.tools.ConsoleConsumer",
    "org.apache.kafka.tools.GetOffsetShell",
    "org.apache.kafka.tools.LogDirsCommand",
    "org.apache.kafka.tools.TransactionsCommand2",
    "org.apache.kafka.tools.TransactionsCommand$Other",
    "org.apache.kafka.tools.transactionscommand",
    " org.apache.kafka.tools.TransactionsCommand",
    "org.apache.kafka.connect.mirror.MirrorMaker",
    "kafka.admin.ConfigCommand",
    "kafka.tools.MirrorMaker",
    "@/etc/passwd",
    "-jar",
    "",
)
# Which argument, counted from 1, is changed to what.
OTHER_ARGUMENTS = (
    (1, "--bootstrap-servers"),
    (1, "--bootstrap-server|--command-config"),
    (2, ""),
    (2, "--help"),
    (2, "a:1;id"),
    (2, "a:1\n--x"),
    (2, "$(id)"),
    (2, "@/etc/passwd"),
    (3, "--broker"),
    (4, "/etc/passwd"),
    (4, "@GENERATION_DIR@/../gen-1/secrets/x"),
    (5, "abort"),
    (5, "hanging"),
    (6, "--broker-id"),
    (7, ""),
    (7, "--all"),
    (7, "a b"),
    (7, "a/b"),
    (7, "@file"),
    (8, "--start-offset"),
    (9, ""),
    (9, "-1"),
    (9, "0x1"),
    (9, "1 2"),
    (9, "99999999999"),
)
OTHER_LINES = (
    "config.providers = file",
    "config.providers.file.class = org.apache.kafka.common.config.provider.FileConfigProvider",
    "config.providers=file",
    "config.providers: file",
    "config.providers file",
    " config.providers = file",
    "config\\u002eproviders = file",
    "\\",
    "# a comment",
    "",
    'sasl.jaas.config = com.sun.security.auth.module.JndiLoginModule required user.provider.url="ldap://127.0.0.1/x";',
    "sasl.jaas.config = com.sun.security.auth.module.LdapLoginModule required;",
    "sasl.jaas.config = /**/com.sun.security.auth.module.JndiLoginModule required;",
    "sasl.jaas.config = org.apache.kafka.common.security.plain.PlainLoginModuleX required;",
    'sasl.jaas.config = org.apache.kafka.common.security.plain.PlainLoginModule required x="\\',
    "sasl.login.callback.handler.class = a.B",
    "sasl.oauthbearer.token.endpoint.url = file:///etc/passwd",
    "sasl.mechanism = a b",
    "security.protocol = PLAINTEXT, x",
    "security.providers = a.B",
    "metric.reporters = org.apache.kafka.common.metrics.JmxReporter",
    "interceptor.classes = a.B",
    "ssl.engine.factory.class = a.B",
    "ssl.truststore.location = /etc/passwd",
    "ssl.keystore.location = /etc/passwd",
    "ssl.truststore.type = JKS",
    "ssl.key.password = x\rconfig.providers = file",
    "ssl.key.password = x\fy",
    "ssl.key.password = ü",
    "client.rack = \\",
    "bootstrap.servers = a:1;b",
    "bootstrap.servers = ",
)


def refusal(machine: Machine, probe: HostProbe, **variables: str) -> str:
    """Why a probe is refused by the forced command; nothing of it is left, and no Java was started."""
    changed = {**probe_variables(probe), **variables}
    command, stdin = render_request(HostRequest("probe", "shop", ("20",), changed), mirrorctl_text())
    reply = parse_reply(ForcedTransport(machine)(command, stdin, 60)[1])
    assert Code.HOST_REFUSED == reply.code
    assert not reply.log
    assert [] == list(machine.home.glob("shop/probe-*"))
    return reply.message


def test_probe_runs_no_other_tool(slow_machine: Machine) -> None:
    """Any class but one is refused, with the arguments of the attack or with good ones."""
    good = slow_machine.probe()
    jmx = ("--jmx-url", "service:jmx:rmi:///jndi/ldap://127.0.0.1:1/x")
    performance = ("--topic", "x", "--payload-file", "/etc/passwd", "--producer.config", "@GENERATION_DIR@/x")

    for main_class in OTHER_TOOLS:
        for arguments in (good.arguments, jmx, performance):
            message = refusal(slow_machine, replace(good, main_class=main_class, arguments=arguments))
            assert "is not allowed; a probe runs only" in message


def test_probe_takes_one_form_of_arguments(slow_machine: Machine) -> None:
    """Each argument has its place and its form; one more, or one less, is refused as well."""
    good = slow_machine.probe()
    for number, word in OTHER_ARGUMENTS:
        changed = list(good.arguments)
        changed[number - 1] = word
        assert refusal(slow_machine, replace(good, arguments=tuple(changed)))
    assert refusal(slow_machine, replace(good, arguments=good.arguments[:-1]))
    assert refusal(slow_machine, replace(good, arguments=(*good.arguments, "--verbose")))
    assert refusal(slow_machine, good, JAVA_OPTIONS="1", JAVA_OPTION_1="-Xmx1g")
    assert refusal(slow_machine, good, ALARMS="1", ALARM_1="x")
    assert refusal(slow_machine, replace(good, files={}))
    assert refusal(slow_machine, replace(good, files={"other.properties": ""}))
    assert refusal(slow_machine, replace(good, files={**good.files, "secrets/x": ""}))


def test_probe_takes_a_login_and_nothing_else(slow_machine: Machine) -> None:
    """The client's file may hold address and login; what loads classes or reads files is refused, unshown."""
    good = slow_machine.probe()
    for line in OTHER_LINES:
        for text in (f"{line}\n{CLIENT_PROPERTIES}", f"{CLIENT_PROPERTIES}{line}\n"):
            message = refusal(slow_machine, replace(good, files={"client.properties": text}))
            assert "client.properties has a line that is not allowed" in message
            assert "canary" not in message


@pytest.mark.parametrize("count", ["FILES", "JAVA_OPTIONS", "ARGUMENTS", "ALARMS"])
@pytest.mark.parametrize("transport", [LocalTransport, ForcedTransport])
def test_counts_are_bounded(machine: Machine, count: str, transport: type[LocalTransport]) -> None:
    """A list that is said to be endless is refused, not counted."""
    for number in ("101", "999999999"):
        variables = {"HOME": str(machine.home), "HOLDER": ME, count: number}
        command, stdin = render_request(HostRequest("reserve", "shop", (), variables), mirrorctl_text())
        reply = parse_reply(transport(machine)(command, stdin, 60)[1])

        assert (Code.HOST_REFUSED, f"{count} is more than 100") == (reply.code, reply.message)


@pytest.mark.parametrize("words", ["start shop 1 604801", "stop shop 1 3601", "logs shop last 10001", "probe shop 601"])
def test_times_and_lengths_are_bounded(machine: Machine, words: str) -> None:
    """A lease of years, or a tool that runs for ever, is refused."""
    _, stdout, _ = ForcedTransport(machine)(f"mirrorctl {words}", "MIRRORCTL_HOLDER='me'\nMIRRORCTL_ENCODED='1'\n", 60)

    assert "is more than" in parse_reply(stdout).message


def test_request_of_endless_lines_is_refused(machine: Machine) -> None:
    """A request has so many lines; the rest is not waited for."""
    stdin = "MIRRORCTL_HOLDER='me'\n" * 2000

    _, stdout, _ = ForcedTransport(machine)("mirrorctl status shop", stdin, 60)

    assert "more than 1000 lines" in parse_reply(stdout).message


@pytest.mark.parametrize(
    "name",
    ["java/x", "manifest/x", "supervise/x", "exit/a/b", "x.log/y", "a.args", "log4j.properties/x", "lease.tmp.1"],
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
    for folder, mode in ((slow_machine.home, 0o770), (slow_machine.home, 0o707), (slow_machine.home / "shop", 0o720)):
        usual = folder.stat().st_mode
        folder.chmod(mode)
        acts: tuple[Callable[[], object], ...] = (
            lambda: host.reserve(ME),
            lambda: host.clean(ME, 1),
            lambda: host.probe(slow_machine.probe()),
        )
        for act in acts:
            with pytest.raises(Refused, match="is writable by others") as error:
                act()
            assert {Code.HOST_REFUSED} == codes(error)
        assert host.status().is_running
        folder.chmod(usual)
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
