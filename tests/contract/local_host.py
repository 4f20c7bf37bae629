"""The real mirrorctl on this machine: a transport without SSH, and a stand-in for Java.

The stand-in is a shell script that lives, logs and dies as asked; it copies nothing. What is real is all of
mirrorctl, its supervisor, its processes and its files.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from kafka_migration.adapters.host.mirrorctl_host import ScriptMirrorHost, mirrorctl_text
from kafka_migration.core.findings.errors import MirrorFailed
from kafka_migration.core.mirror.host import MirrorLaunch
from kafka_migration.engines.launching import LOG4J, LOG4J2
from kafka_migration.engines.mirrormaker1 import QUIET_GOODBYE
from tests.programs import installed
from tests.waiting import wait_until


def start_briefly(host: ScriptMirrorHost, holder: str, generation: int, launch: MirrorLaunch) -> None:
    """Start a process whose lease may end before the start has answered; then the start calls it dead."""
    with suppress(MirrorFailed):
        host.start(holder, generation, launch)


def _installed() -> Path:
    """Return mirrorctl as a file, as on a host with a forced command; it is removed at the end of the process."""
    folder = Path(tempfile.mkdtemp(prefix="mirrorctl-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    script = folder / "mirrorctl"
    script.write_text(mirrorctl_text())
    script.chmod(0o755)
    folder.chmod(0o755)
    return script


SCRIPT = _installed()
SHELLS = ("dash", "bash", "busybox")
LEASE_S = 300
# Short, and longer than a start takes on a busy machine.
SHORT_LEASE_S = 10
# So short that the lease may end during the start: see `start_briefly`.
BRIEF_LEASE_S = 3

MAIN_CLASS = "org.apache.kafka.connect.mirror.MirrorMaker"

JAVA_STAND_IN = """\
#!/bin/sh
dir=
for word in "$@"; do
    case $word in
        -Dmirror.log.dir=*) dir=${word#*=} ;;
        @*) set -- "$@" "$(cat "${word#@}")" && echo "argument file <$(cat "${word#@}")>" ;;
    esac
    printf '%s\\n' "argument <$word>"
done
case "$*" in
    *ClusterProbe*)
        for folder; do :; done
        cat "$folder"/topics "$folder"/secrets/source.properties "$folder"/secrets/target.properties
        case "$(cat "$folder"/secrets/source.properties)" in
            *fails*) echo "Caused by: org.apache.kafka.common.errors.TimeoutException: late" >&2; exit 1 ;;
            *hangs*) while :; do sleep 0.2; done ;;
            *slow*) sleep 0.5 ;;
            *loud*) while :; do echo "0123456789012345678901234567890123456789012345678901234567890123"; done ;;
        esac
        exit 0
        ;;
esac
case "$*" in
    *--stand-in=ignore-term*) trap '' TERM ;;
    *--stand-in=exit*) echo "Error: no main class"; exit 1 ;;
    *) trap 'echo "Kafka MirrorMaker stopped." >>"$dir/mirrormaker.log"; exit 143' TERM ;;
esac
echo "started" >>"$dir/mirrormaker.log"
while :; do sleep 0.2; done
"""


@dataclass(frozen=True)
class Machine:
    """A base folder, a PATH with one kind of shell as `sh`, and a Kafka and Java home of stand-ins."""

    home: Path
    bin: Path
    kafka_home: Path
    java_home: Path
    path: str

    @classmethod
    def build(cls, root: Path, shell: str) -> Machine:
        """Build it below `root`."""
        program = installed(shell)
        machine = cls(root / "home", root / "bin", root / "kafka", root / "jdk", "")
        for folder in (
            machine.home,
            root / "memory",
            machine.bin,
            machine.kafka_home / "libs",
            machine.java_home / "bin",
        ):
            folder.mkdir(parents=True)
        machine.home.chmod(0o700)
        (machine.kafka_home / "libs" / "kafka-clients-3.9.1.jar").touch()
        (machine.java_home / "release").write_text('IMPLEMENTOR="Nobody"\nJAVA_VERSION="17.0.1"\n')
        java = machine.java_home / "bin" / "java"
        java.write_text(JAVA_STAND_IN)
        java.chmod(0o755)
        return cls(machine.home, machine.bin, machine.kafka_home, machine.java_home, _fill(machine.bin, program))

    def launch(self, behaviour: str = "serve", lease_s: int = LEASE_S) -> MirrorLaunch:
        """A launch of the stand-in."""
        return MirrorLaunch(
            main_class=MAIN_CLASS,
            arguments=("@GENERATION_DIR@/mm2.properties", "--clusters", "new", f"--stand-in={behaviour}"),
            files={
                "mm2.properties": "dir=@GENERATION_DIR@\n",
                "log4j.properties": LOG4J + QUIET_GOODBYE,
                "log4j2.properties": LOG4J2,
                "secrets/a.b": "canary",
            },
            java_options=("-Xmx64m", "-Dmirror.log.dir=@GENERATION_DIR@"),
            kafka_home=str(self.kafka_home),
            java_home=str(self.java_home),
            lease_s=lease_s,
        )

    def log(self, line: str, generation: int = 1) -> None:
        """Add a line to a generation's log, as MirrorMaker would."""
        with (self.home / "shop" / f"gen-{generation}" / "mirrormaker.log").open("a") as log:
            log.write(f"{line}\n")

    def environment(self) -> dict[str, str]:
        """What a login shell of this machine would have."""
        memory = self.home.parent / "memory"
        return {"PATH": self.path, "HOME": str(self.home), "KAFKA_MIGRATION_MEMORY": str(memory)}

    @property
    def has_getent(self) -> bool:
        """Whether the machine can look up names; BusyBox has no getent."""
        return shutil.which("getent", path=self.path) is not None

    def shown(self, *names: str) -> list[bytes]:
        """Return what the system shows of the living processes; one that ends meanwhile shows nothing."""
        found: list[bytes] = []
        for path in (Path(f"/proc/{pid}/{name}") for pid in self.alive() for name in names):
            with suppress(FileNotFoundError, ProcessLookupError):
                found.append(path.read_bytes())
        return found

    def alive(self, marker: str = "") -> list[int]:
        """The living processes that mirrorctl started below the base folder, by the marker it gives them."""
        wanted = f"KAFKA_MIGRATION_HOME={self.home}\0".encode()
        return [pid for pid, environ in _environments() if wanted in environ and marker.encode() in environ]

    def end_all(self) -> None:
        """Leave nobody behind: kill, by pid, what a test left, and see it gone."""
        for pid in self.alive():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        wait_until(lambda: not self.alive(), what="the end of all processes")


def _fill(folder: Path, program: str) -> str:
    """Fill a PATH: BusyBox gets nothing but its own applets, another shell stands in front as `sh`."""
    if Path(program).name != "busybox":
        (folder / "sh").symlink_to(program)
        return f"{folder}:/usr/local/bin:/usr/bin:/bin"
    for applet in subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout.split():
        (folder / applet).symlink_to(program)
    return str(folder)


def _environments() -> list[tuple[int, bytes]]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                found.append((int(folder.name), (folder / "environ").read_bytes()))
            except OSError:
                continue
    return found


class LocalTransport:
    """Runs the command as sshd would: by the login shell, in the home folder's environment.

    `noise` is shell text that the login runs before; `environment` is added to the machine's.
    """

    def __init__(self, machine: Machine, noise: str = "", environment: Mapping[str, str] | None = None) -> None:
        self._machine = machine
        self._noise = noise
        self._environment = dict(environment or {})

    def __call__(self, command: str, stdin: str, timeout_s: float) -> tuple[int, str, str]:
        """See `Transport`."""
        done = subprocess.run(
            ["sh", "-c", f"{self._noise}{command}"],
            input=stdin.encode(),
            capture_output=True,
            timeout=timeout_s,
            cwd=self._machine.home,
            env={**self._machine.environment(), **self._environment},
            check=False,
        )
        return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")

    def close(self) -> None:
        """Nothing is kept open."""


class ForcedTransport(LocalTransport):
    """Runs mirrorctl as sshd would, where it is the forced command of the key; the host names its own folders."""

    def __init__(self, machine: Machine) -> None:
        folders = {
            "KAFKA_MIGRATION_HOME": str(machine.home),
            "KAFKA_HOME": str(machine.kafka_home),
            "JAVA_HOME": str(machine.java_home),
        }
        super().__init__(machine, environment=folders)

    def __call__(self, command: str, stdin: str, timeout_s: float) -> tuple[int, str, str]:
        """See `Transport`."""
        self._environment["SSH_ORIGINAL_COMMAND"] = command
        return super().__call__(f"sh {SCRIPT} forced", stdin, timeout_s)
