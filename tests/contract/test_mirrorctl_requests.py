"""mirrorctl refuses what it cannot do, and a request is carried out whole or not at all."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

import kafka_migration
from kafka_migration.adapters.host.mirrorctl_host import ScriptMirrorHost, mirrorctl_text
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.mirror.mirrorctl_protocol import HostRequest, parse_reply, render_request
from tests.contract.local_host import MAIN_CLASS, SCRIPT, ForcedTransport, LocalTransport, Machine
from tests.contract.process_contract import ME, codes
from tests.present import present
from tests.programs import installed

pytestmark = pytest.mark.live

OTHER_LOG_LINES = (
    "log4j.appender.file.File=/etc/passwd",
    "log4j.appender.file=org.apache.log4j.FileAppender",
    "log4j.appender.other=org.apache.log4j.net.SocketAppender",
    "log4j.rootLogger=INFO, file, other",
    "log4j.logger.kafka=INFO, other",
    "log4j.logger.kafka=INFO\\",
    "log4j.logger.kafka=INFO\rlog4j.appender.file.File=/etc/passwd",
    " log4j.appender.file.File=/etc/passwd",
    "log4j.appender.file.File:/etc/passwd",
    "log4j.appender.file.layout.ConversionPattern=ssh-ed25519 AAAA",
    "log4j\\u002eappender.file.File=/etc/passwd",
    "# \fx",
    "ü",
)
OTHER_LOG2_LINES = (
    "appender.file.fileName=/etc/passwd",
    "appender.file.fileName=${sys:mirror.log.dir}/../mirrormaker.log",
    "appender.file.filePattern=/etc/cron.d/%i",
    "appender.file.type=File",
    "appender.other.type=Socket",
    "appenders=file, other",
    "rootLogger.appenderRef.other.ref=other",
    "rootLogger.level=INFO\\",
    "rootLogger.level=INFO\rappender.file.fileName=/etc/passwd",
    "rootLogger=INFO, file, other",
    "appender.file.layout.pattern=ssh-ed25519 AAAA",
    "appender.file.layout.pattern=${env:HOME}",
    "logger.kafka.name=kafka",
    "logger.kafka.level=OFF",
    "rootLogger.level=OFF",
    "shutdownHook=enable",
    "packages=org.example",
    "property.x=y",
    "script.a.type=Script",
    "appender.file.file\\u004eame=/etc/passwd",
    " shutdownHook=enable",
    "ü",
)
LOGGING = {"log4j.properties": OTHER_LOG_LINES, "log4j2.properties": OTHER_LOG2_LINES}


@pytest.mark.parametrize(
    ("missing", "code"),
    [("java_home", Code.JAVA_MISSING), ("kafka_home", Code.MM_BINARY_NOT_FOUND)],
)
def test_missing_tool_is_named(machine: Machine, host: ScriptMirrorHost, missing: str, code: Code) -> None:
    """A host without Java or Kafka refuses before anything is started, and names what it looked for."""
    host.reserve(ME)

    with pytest.raises(Refused, match="/nowhere") as error:
        host.start(ME, 1, replace(machine.launch(), **{missing: "/nowhere"}))  # type: ignore[arg-type]
    assert {code} == codes(error)
    assert 0 == host.status().generation


@pytest.mark.parametrize("name", LOGGING)
@pytest.mark.parametrize("transport", [LocalTransport, ForcedTransport])
def test_log_goes_nowhere_else(any_machine: Machine, transport: type[LocalTransport], name: str) -> None:
    """A logging configuration with any line but the known ones could log into any file; nothing is started with it."""
    host = ScriptMirrorHost("shop", transport(any_machine), str(any_machine.home))
    host.reserve(ME)
    launch = any_machine.launch()
    known = launch.files[name]
    for line in LOGGING[name]:
        files = {**launch.files, name: f"{known}{line}\n{known}"}

        with pytest.raises(Refused, match=rf"{re.escape(name)} has a line") as error:
            host.start(ME, 1, replace(launch, files=files))
        assert {Code.HOST_REFUSED} == codes(error)
    assert 0 == host.status().generation
    assert not (any_machine.home / "shop" / "gen-1").exists()


def test_setsid_is_needed(tmp_path: Path) -> None:
    """Without setsid nothing is started that could not be ended as a group."""
    machine = Machine.build(tmp_path, "busybox")
    (machine.bin / "setsid").unlink()
    host = ScriptMirrorHost("shop", LocalTransport(machine), str(machine.home))
    host.reserve(ME)

    with pytest.raises(Refused, match="setsid") as error:
        host.start(ME, 1, machine.launch())
    assert {Code.HOST_TOOL_MISSING} == codes(error)


@pytest.mark.parametrize("home", ["relative", "/with space", "/with'quote", "/with:colon"])
def test_base_folder_must_be_plain(machine: Machine, home: str) -> None:
    """A base folder that would break a class path or a configuration is refused."""
    with pytest.raises(Refused, match="base folder"):
        ScriptMirrorHost("shop", LocalTransport(machine), home).status()


@pytest.mark.parametrize(
    "words",
    [
        "",
        "status",
        "status Shop",
        "status ../shop",
        "status shop extra",
        "stop shop -1 5",
        "stop shop 01 5",
        "erase shop",
        "renew shop x",
    ],
)
def test_bad_words_are_refused_on_the_host_too(machine: Machine, words: str) -> None:
    """Verbs, names and numbers are checked on the host as well, and a refusal is a reply like any other."""
    done = subprocess.run(
        ["sh", "-s", "--", *words.split()],
        input=f"MIRRORCTL_HOLDER=x\n{mirrorctl_text()}",
        env=machine.environment(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert (3, "HOST_REFUSED") == (done.returncode, parse_reply(done.stdout).code)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99, 0.9999])
def test_request_cut_short_does_nothing(machine: Machine, share: float) -> None:
    """A request whose connection breaks while it is sent is not carried out in part."""
    command, stdin = render_request(
        HostRequest("reserve", "shop", (), {"HOME": str(machine.home), "HOLDER": ME}), mirrorctl_text()
    )
    LocalTransport(machine)(command, stdin[: int(len(stdin) * share)], 30)

    assert not (machine.home / "shop").exists()


def test_installed_script_needs_no_text_on_stdin(machine: Machine) -> None:
    """Installed as a file, mirrorctl supervises from its own copy."""
    launch = f"MIRRORCTL_HOME='{machine.home}' MIRRORCTL_HOLDER=me MIRRORCTL_MAIN_CLASS={MAIN_CLASS}"
    call = f"{launch} MIRRORCTL_KAFKA_HOME={machine.kafka_home} MIRRORCTL_JAVA_HOME={machine.java_home} sh {SCRIPT}"

    outputs = [
        subprocess.run(["sh", "-c", f"{call} {words}"], capture_output=True, text=True, check=False).stdout
        for words in ("reserve shop", "start shop 1 300", "stop shop last 20")
    ]

    assert [True, True, True] == [parse_reply(output).ok for output in outputs]


def test_script_is_what_a_shell_joins() -> None:
    """The text that is sent is what `cat` makes of the sections, as the documentation installs it; each can be read."""
    sections = Path(kafka_migration.__file__).parent / "host" / "mirrorctl"

    joined = subprocess.run(["sh", "-c", 'cat "$1"/*.sh', "sh", sections], capture_output=True, text=True, check=True)

    assert joined.stdout == mirrorctl_text()
    assert [] == [file.name for file in sections.glob("*.sh") if file.read_text().count("\n") > 400]


def test_shellcheck_finds_nothing() -> None:
    """The script is clean for shellcheck."""
    done = subprocess.run([installed("shellcheck"), "-s", "sh", SCRIPT], capture_output=True, text=True, check=False)

    assert "" == done.stdout


def test_reply_is_one_line_of_json(machine: Machine) -> None:
    """A reply is one framed line, so that a person and a program can both find it."""
    command, stdin = render_request(
        HostRequest("reserve", "shop", (), {"HOME": str(machine.home), "HOLDER": 'it\'s "me" \\ $(x) ü'}),
        mirrorctl_text(),
    )
    _, stdout, stderr = LocalTransport(machine)(command, stdin, 30)

    lines = [line for line in stdout.splitlines() if line]
    assert 1 == len(lines)
    assert json.loads(present(re.fullmatch(r"@@mirrorctl (.*)@@", lines[0]))[1])["ok"]
    assert "" == stderr
