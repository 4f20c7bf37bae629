"""The Docker engine: the running one, or a temporary one that the test starts in its own folder."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sandbox.compose.commands import found, run
from sandbox.compose.failure import ComposeTestFailed, NotPossibleHere, cleaning_up
from sandbox.interrupts import Interrupts

ANSWER_S = 30
START_S = 60
STOP_S = 60
MOUNTS = Path("/proc/self/mountinfo")


@dataclass(frozen=True)
class Engine:
    """A running engine: the docker client, and the environment variables for its clients."""

    docker: str
    environment: Mapping[str, str]

    def run(self, *arguments: str, timeout_s: float = 120) -> str:
        """Return what `docker …` printed."""
        return run((self.docker, *arguments), timeout_s, environment=self.environment)

    def has_image(self, name: str) -> bool:
        """True if the engine has an image of this name."""
        return bool(self.run("images", "--quiet", name).strip())

    def image_bytes(self, name: str) -> int:
        """Return an image's size, including shared layers."""
        return int(self.run("image", "inspect", "--format", "{{.Size}}", name))


@contextmanager
def engine() -> Iterator[Engine]:
    """Yield the running engine; if there is none, start one and stop it afterwards.

    Raises:
        NotPossibleHere: there is none, and none can be started.
    """
    docker = found("docker")
    if docker is None:
        raise NotPossibleHere("docker is not installed. On Debian: apt-get install docker.io docker-compose")
    environment = _environment(os.environ)
    if _answers(docker, environment):
        yield Engine(docker, environment)
        return
    with _own_engine() as socket:
        yield Engine(docker, {**environment, "DOCKER_HOST": f"unix://{socket}"})


def _environment(caller: Mapping[str, str]) -> dict[str, str]:
    """Return the clients' environment: the classic builder, which every engine has; no other project's settings."""
    kept = {name: value for name, value in caller.items() if not name.startswith("COMPOSE_")}
    return {**kept, "COMPOSE_DOCKER_CLI_BUILD": "0", "DOCKER_BUILDKIT": "0"}


def _answers(docker: str, environment: Mapping[str, str]) -> bool:
    command = (docker, "version", "--format", "{{.Server.Version}}")
    try:
        done = subprocess.run(command, env=environment, capture_output=True, timeout=ANSWER_S, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


@contextmanager
def _own_engine() -> Iterator[Path]:
    """Run a dockerd with data, state and socket in one temporary folder; yield its socket."""
    dockerd = found("dockerd")
    if dockerd is None or os.geteuid() != 0:
        raise NotPossibleHere("No Docker engine answers. Start one, or run this as root where dockerd is installed.")
    folder = Path(tempfile.mkdtemp(prefix="kmc-"))  # short: sockets lie deep below it
    socket, log = folder / "sock", folder / "log"
    places = ("--data-root", folder / "data", "--exec-root", folder / "exec", "--pidfile", folder / "pid")
    print(f"No Docker engine answers: starting one in {folder}", flush=True)
    with log.open("wb") as output:
        # In its own session, because the test still needs the engine for its cleanup after Ctrl-C.
        process = subprocess.Popen(
            (dockerd, *map(str, places), "-H", f"unix://{socket}"), stdout=output, stderr=output, start_new_session=True
        )
    try:
        _wait_until_up(process, socket, log)
        yield socket
    finally:
        with Interrupts().ignored(), cleaning_up():
            _remove(process, folder)


def _wait_until_up(process: subprocess.Popen[bytes], socket: Path, log: Path) -> None:
    deadline = time.monotonic() + START_S
    while not (socket.exists() and "API listen on" in log.read_text(errors="replace")):
        if process.poll() is not None or time.monotonic() > deadline:
            tail = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
            raise NotPossibleHere(f"dockerd does not start:\n{tail}")
        time.sleep(0.5)


def _remove(process: subprocess.Popen[bytes], folder: Path) -> None:
    try:
        _stop(process)
    finally:
        with cleaning_up():
            _remove_folder(folder)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Stop dockerd, with KILL if necessary, and all processes of its process group."""
    process.terminate()
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_S)
        raise ComposeTestFailed(f"dockerd did not end within {STOP_S} s and was killed") from None


def _remove_folder(folder: Path) -> None:
    """Unmount everything below the folder and remove it.

    Raises:
        ComposeTestFailed: something remained; the text says what.
    """
    for place in mounts_below(folder, MOUNTS.read_text()):
        subprocess.run(("umount", place), capture_output=True, check=False)
    # A mounted folder may belong to another program, so its content is not touched.
    if not mounts_below(folder, MOUNTS.read_text()):
        shutil.rmtree(folder, ignore_errors=True)
    if remains := _remains(folder):
        raise ComposeTestFailed(f"not removed: {', '.join(map(str, remains))}")


def mounts_below(folder: Path, table: str) -> list[Path]:
    """Return the mount points below a folder, the deepest first, from the text of a `/proc/…/mountinfo`."""
    places = [Path(line.split()[4]) for line in table.splitlines()]
    return sorted((place for place in places if place.is_relative_to(folder)), key=lambda p: -len(p.parts))


def _remains(folder: Path) -> list[object]:
    """Return the folder if it is still there, its mount points, and the processes that name it."""
    mark = str(folder).encode()
    processes = [f"process {file.parent.name}" for file in Path("/proc").glob("[0-9]*/cmdline") if mark in _bytes(file)]
    return [*([folder] if folder.exists() else []), *mounts_below(folder, MOUNTS.read_text()), *processes]


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:  # the process has just ended
        return b""
