"""Mutated calls of the forced command: each is answered by one reply, runs nothing of the caller and leaves nothing."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
from pathlib import Path

import pytest

from kafka_migration.core.mirror.host import HostProbe, ProbeSubject
from kafka_migration.core.mirror.mirrorctl_protocol import (
    HostRequest,
    encode,
    launch_variables,
    probe_variables,
    render_request,
)
from kafka_migration.engines.launching import render_properties
from tests.contract.client_settings import HOSTILE_LINES, packages_properties
from tests.contract.local_host import SCRIPT, Machine
from tests.contract.process_contract import ME
from tests.waiting import wait_until

pytestmark = pytest.mark.live

# Each would leave a file HACKED, if it was run.
RUN = (
    "$(touch HACKED)",
    "`touch HACKED`",
    "; touch HACKED;",
    "'; touch HACKED; '",
    "\n touch HACKED\n",
    "|touch HACKED|",
    "\\0047;touch HACKED;\\0047",
    "\\0044(touch HACKED)",
    "${x:=$(touch HACKED)}",
    "a[$(touch HACKED)]",
    "&touch HACKED&",
)
NOISE = (
    "\0",
    "\r",
    "\t",
    "\\",
    "\\c",
    "\\0",
    "\\0000",
    "'",
    '"',
    "*",
    "?",
    "..",
    "/",
    "../../x",
    "-",
    "=",
    "\xff",
    "%s",
    "9" * 30,
)
VALUES = (
    "",
    "-1",
    "0",
    "1",
    "101",
    "08",
    "1e9",
    "@GENERATION_DIR@/../../HACKED",
    "--help",
    "@/etc/passwd",
    "x" * 2_000,
)
VERBS = ("reserve", "release", "renew", "status", "stop", "logs", "clean", "fingerprint", "probe", "start", "guard")
# What a machine may hold after calls; all else was left behind.
KEPT = re.compile(
    r"[a-z0-9][a-z0-9-]*(/(reservation|generation|(stopped|barred)-\d+|(lock|probing-(host|clusters))\.\d+|journal(\.1)?|gen-\d+(/("
    r"manifest|supervise|alarms|log4j2?\.properties|(console|mirrormaker|supervisor)\.log|supervisor|watcher|java|lease"
    r"|exit|killed))?))?"
)


def requests(machine: Machine) -> list[HostRequest]:
    """Return good requests of every kind."""
    homes = str(machine.kafka_home), str(machine.java_home)
    settings = [render_properties(properties) for properties in packages_properties()]
    sides = [{"source": text, "target": settings[0]} for text in settings]
    probes = [HostProbe(ProbeSubject.CLUSTERS, *homes, properties=each, topics=("a", "b")) for each in sides]
    probes += [HostProbe(ProbeSubject.HOST, names=("localhost", "no.invalid"))]
    known = {"HOME": str(machine.home), "HOLDER": ME}
    launch = {**known, **launch_variables(machine.launch("exit"))}
    asked = [HostRequest("probe", "shop", (str(probe.subject),), probe_variables(probe)) for probe in probes]
    asked += [HostRequest(verb, "shop", (), known) for verb in ("reserve", "release", "status", "fingerprint")]
    asked += [HostRequest("stop", "shop", ("last", "0"), known), HostRequest("logs", "shop", ("last", "9"), known)]
    return [*asked, HostRequest("clean", "shop", ("1",), known), HostRequest("start", "shop", ("1", "60"), launch)]


def mutated(request: HostRequest, chance: random.Random) -> tuple[str, bytes]:
    """Return command and stdin of a request that is changed in one to three ways."""
    command, stdin = render_request(request, "exit 9")
    lines = stdin.split("\n")
    for _ in range(chance.randint(1, 3)):
        if chance.randrange(8) == 0:
            words = command.split(" ")
            words[chance.randrange(len(words))] = chance.choice((*RUN, *NOISE, *VALUES, *VERBS))
            command = " ".join(words)
        else:
            place = chance.randrange(len(lines))
            lines[place : place + 1] = _changed(lines[place], chance)
            lines = lines or [""]
    return command.replace("\0", ""), "\n".join(lines).encode("utf-8", "surrogateescape")


def _changed(line: str, chance: random.Random) -> list[str]:
    """Return the lines that replace a line."""
    at = chance.randrange(len(line) + 1)
    piece = chance.choice((*RUN, *NOISE, encode(chance.choice(HOSTILE_LINES))))
    name = line.partition("=")[0]
    ways: tuple[list[str], ...] = (
        [line[:at] + piece + line[at:]],
        [line, line],
        [piece, line],
        [f"MIRRORCTL_HOLDER={piece}", line],
        [],
        [f"{name}='{chance.choice((*VALUES, piece))}'"],
        [f"MIRRORCTL_{piece}='x'"],
        [line.replace("MIRRORCTL_", chance.choice(("", "PATH", "mirrorctl_", "MIRRORCTL_SELF")))],
        [line[:at]],
    )
    return chance.choice(ways)


def left(machine: Machine) -> list[str]:
    """Return what a machine should not hold: other files, logins, and what a caller's text would have made."""
    root = machine.home.parent
    hacked = [str(path) for path in root.rglob("*HACKED*")]
    memory = [str(path) for path in (root / "memory").iterdir()]
    below = (path.relative_to(machine.home).as_posix() for path in machine.home.rglob("*"))
    return [*hacked, *memory, *(name for name in below if not KEPT.fullmatch(name))]


def answer(machine: Machine, command: str, stdin: bytes, folder: Path) -> subprocess.CompletedProcess[bytes]:
    """Call mirrorctl as sshd would."""
    environment = {
        **os.environ,
        **machine.environment(),
        "KAFKA_MIGRATION_HOME": str(machine.home),
        "KAFKA_HOME": str(machine.kafka_home),
        "JAVA_HOME": str(machine.java_home),
        "SSH_ORIGINAL_COMMAND": command,
    }
    call = ["sh", str(SCRIPT), "forced"]
    return subprocess.run(call, input=stdin, env=environment, capture_output=True, cwd=folder, timeout=60, check=False)


@pytest.mark.parametrize("calls", [60, pytest.param(1200, marks=pytest.mark.campaign)])
def test_mutated_calls_run_and_leave_nothing(slow_machine: Machine, tmp_path: Path, calls: int) -> None:
    """Each call prints one reply, whatever the caller changed, and no text of it is run."""
    chance = random.Random(calls)
    good = requests(slow_machine)
    codes = set()
    for number in range(calls):
        command, stdin = mutated(chance.choice(good), chance)
        done = answer(slow_machine, command, stdin, tmp_path)
        found = re.findall(rb"^@@mirrorctl (.*)@@$", done.stdout, re.MULTILINE)

        assert 1 == len(found), (number, command, stdin, done)
        assert done.returncode in {0, 3}, (number, command, stdin, done)
        codes.add(json.loads(found[0].decode(errors="replace"))["code"])
    assert {"", "HOST_REFUSED"} <= codes
    wait_until(lambda: not slow_machine.alive() and not left(slow_machine), what="the end of all that was started")
