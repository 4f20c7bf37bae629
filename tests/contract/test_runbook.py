"""The runbook's commands for the MirrorMaker host, as a person pastes them, against the real mirrorctl."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_migration.adapters.host.mirrorctl_host import ScriptMirrorHost
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.mirror.host import HostReply
from kafka_migration.core.mirror.mirror_process import ProcessState
from kafka_migration.core.mirror.mirrorctl_protocol import parse_reply
from tests.contract.local_host import SCRIPT, ForcedTransport, LocalTransport, Machine

pytestmark = pytest.mark.unit

ROOT = Path(__file__).parents[2]
BLOCKS: list[str] = re.findall(
    r"^ *```sh\n(.*?)^ *```", (ROOT / "docs" / "runbook.md").read_text(), re.MULTILINE | re.DOTALL
)
# The holder that the page shows.
HOLDER = "kafka_migration__shop/manual__2030-01-01T00:00:00+00:00#1"

# What stands for `ssh host command`, by the installation of mirrorctl: what sshd would do on the machine.
SSH = {
    "none": '#!/bin/sh\nshift\nexec env -i PATH={path} HOME={home} KAFKA_MIGRATION_HOME={home} sh -c "$*"\n',
    "forced": "#!/bin/sh\nshift\nexec env -i PATH={path} HOME={home} KAFKA_MIGRATION_HOME={home} KAFKA_HOME={kafka} "
    'JAVA_HOME={java} SSH_ORIGINAL_COMMAND="$*" sh {script} forced\n',
}
TRANSPORTS: dict[str, type[LocalTransport]] = {"none": LocalTransport, "forced": ForcedTransport}

Paste = Callable[[str], str]


def block(text: str) -> str:
    """The one block of the page that holds this text."""
    (found,) = (each for each in BLOCKS if text in each)
    return found


ASK, STOP = block("mirrorctl status shop"), block("mirrorctl stop shop")
# The command that `kafka-migration explain MIRROR_NOT_STOPPED` and the manual show.
(LOOK,) = re.findall(r"`(ps -ww -eo [^`]*)`", Code.MIRROR_NOT_STOPPED.more)


@pytest.fixture(params=SSH)
def installation(request: pytest.FixtureRequest) -> str:
    """How mirrorctl came to the host."""
    return str(request.param)


@pytest.fixture
def paste(machine: Machine, tmp_path: Path, installation: str) -> Paste:
    """A person's shell in the project's folder, whose `ssh` leads to the machine."""
    program = tmp_path / "client" / "ssh"
    program.parent.mkdir()
    program.write_text(
        SSH[installation].format(
            path=machine.path, home=machine.home, kafka=machine.kafka_home, java=machine.java_home, script=SCRIPT
        )
    )
    program.chmod(0o755)
    # Regression: where the environment tells a terminal's width, `ps` cut the line before the name of the folder.
    environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}", "COLUMNS": "80"}
    return lambda text: (
        subprocess.run(
            ["sh", "-c", text], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        ).stdout
    )


@pytest.fixture
def host(machine: Machine, installation: str) -> ScriptMirrorHost:
    """The same machine, as Airflow speaks to it, with a MirrorMaker that runs."""
    # The machine ends, after the test, what lives below its base folder.
    host = ScriptMirrorHost("shop", TRANSPORTS[installation](machine), str(machine.home))
    host.reserve(HOLDER)
    host.start(HOLDER, 1, machine.launch())
    return host


def replies(output: str) -> list[HostReply]:
    """The replies in an output, in order."""
    return [parse_reply(line) for line in output.splitlines() if line.startswith("@@mirrorctl")]


def test_host_of_which_nothing_is_known_is_asked(paste: Paste) -> None:
    """Where nothing was ever started the page's command says so."""
    (reply,) = replies(paste(ASK))

    assert (True, ProcessState.NONE, "") == (reply.ok, reply.state, reply.holder)


def test_a_mirrormaker_is_found_and_stopped_by_hand(paste: Paste, host: ScriptMirrorHost, machine: Machine) -> None:
    """The page's commands tell what runs and whose it is, and end it under that name."""
    assert machine.alive()
    seen, ended = replies(paste(ASK + STOP))

    assert (ProcessState.RUNNING, HOLDER, 1) == (seen.state, seen.holder, seen.generation)
    assert (True, ProcessState.STOPPED) == (ended.ok, ended.state)
    assert [] == machine.alive()


def test_a_mirrormaker_is_found_among_the_processes(paste: Paste, host: ScriptMirrorHost, machine: Machine) -> None:
    """Its line names the pid and the folder of the generation."""
    lines = [line for line in paste(LOOK).splitlines() if str(machine.home) in line]

    assert str(host.status().pid) in {line.split()[0] for line in lines if "supervise" not in line}
    assert all(f"{machine.home}/shop/gen-1" in line for line in lines)
