"""`up`, `down`, `status` and `steps`: a sandbox in the background, owned by a detached supervisor process."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from sandbox import shell
from sandbox.errors import SandboxError
from sandbox.folder import Folder
from sandbox.health import dead_parts, troubles
from sandbox.interrupts import ASKING, Interrupts
from sandbox.jars import PROJECT
from sandbox.processes import POLL_S, Process, is_alive, send
from sandbox.sandbox import Sandbox, say
from sandbox.state import SandboxState

UP_TIMEOUT_S = 600
DOWN_TIMEOUT_S = 180
SUPERVISOR_LOG = "supervisor.log"
ROUNDS = 3
SETTLING_S = 120
STEPS = """
Next:
  {airflow}
  . {env}  in a shell of its own: `airflow` and `kafka-migration` then work on this sandbox
      airflow dags trigger kafka_migration__demo --conf '{{"mode": "sync"}}'
      kafka-migration status demo
      kafka-migration waves --source demo_source --target demo_target
      airflow dags unpause kafka_nightly_sync__clicks
  make down  stops everything"""


def up(root: Path, flags: Sequence[str]) -> int:
    """Start `supervise` with these flags in the background, return once it answers; 1 if it does not start."""
    folder = Folder(root.resolve())
    if folder.is_locked():
        say(f"The sandbox is already running (in {folder.root}).")
        _restart_dead_parts(folder)
        return status(root)
    log = folder.root / SUPERVISOR_LOG
    interrupts = Interrupts()
    interrupts.install()
    supervisor = _start_supervisor(folder.root, log, flags)
    try:
        _follow(supervisor, log, folder.state_file)
    except BaseException:
        _end(supervisor)
        raise
    finally:
        interrupts.restore()
    if supervisor.poll() is not None:
        say("The sandbox did not start. None of its processes is running.")
        return 1
    print_state(SandboxState.load(folder.state_file))
    return 0


def down(root: Path) -> int:
    """Stop all processes of the sandbox in this root; succeeds if nothing runs."""
    folder = Folder(root.resolve())
    owner = folder.owner()
    if not owner:
        say("No sandbox is running.")
        return 0
    if folder.is_locked() and owner.supervisor:
        send(owner.supervisor, signal.SIGTERM)
        _wait_for_end(owner.supervisor)
    survivors = {process.pid for process in folder.end_leftovers()}
    say("The sandbox is stopped." if not survivors else f"These processes do not end: {survivors}")
    return 1 if survivors else 0


def status(root: Path) -> int:
    """Print the status: 0 if all parts run and answer, 1 if one does not, 3 if there is no sandbox."""
    folder = Folder(root.resolve())
    if not folder.is_locked():
        say("No sandbox is running.")
        return 3
    try:
        state = SandboxState.load(folder.state_file)
    except FileNotFoundError:
        say("The sandbox is starting or stopping.")
        return 1
    found = troubles(state)
    print_state(state)
    for name in state.pids:
        say(f"  {name:<14} {found.get(name, 'runs')}")
    if found:
        say(f"NOT WELL: {', '.join(found)}. `make up` restarts dead parts; `make down` and `make up` start afresh.")
    return 1 if found else 0


def steps(root: Path) -> int:
    """Print the next steps for a running sandbox; 3 if there is none."""
    folder = Folder(root.resolve())
    try:
        state = SandboxState.load(folder.state_file)
    except FileNotFoundError:
        say("No sandbox is running.")
        return 3
    login = f"log in as {state.airflow_user} with the password above, and trigger demo · migrate"
    airflow = f"{state.airflow_url}  {login}" if state.airflow_url else "(Airflow is not started)"
    say(STEPS.format(env=_shown(folder.root / shell.FILE_NAME), airflow=airflow))
    return 0


def supervise(sandbox: Sandbox) -> int:
    """Own the parts of a sandbox until a signal arrives; `up` runs this in the background."""
    with sandbox:
        while True:
            signal.pause()


def print_state(state: SandboxState) -> None:
    """Print addresses, logins and folders."""
    say(
        f"Airflow   {state.airflow_url or 'not started'}   user {state.airflow_user}, password {state.airflow_password}"
    )
    say(f"Source    {state.source_bootstrap}")
    say(f"Target    {state.target_bootstrap}")
    for url in state.connect_urls.values():
        say(f"Connect   {url}")
    say(f"Host      ssh -p {state.ssh_port} -i {state.ssh_key_file} {state.ssh_user}@{state.ssh_host}")
    say(f"Logs      {state.logs}")
    say(f"Evidence  {state.evidence_root}")


def _shown(path: Path) -> Path:
    """Return a path relative to the project's folder."""
    return path.relative_to(PROJECT) if path.is_relative_to(PROJECT) else path


def _restart_dead_parts(folder: Folder) -> None:
    """Ask the owner to restart dead parts until none is dead; repeated, because a dead part may stop others."""
    for number in range(ROUNDS):
        owner = folder.owner()
        if not folder.state_file.exists() or not owner or not owner.supervisor:
            return
        dead = dead_parts(SandboxState.load(folder.state_file))
        if not dead and number:
            _wait_until_well(folder)
        if not dead:
            return
        say(f"Restarting: {', '.join(dead)}")
        before = folder.state_file.stat().st_mtime_ns
        send(owner.supervisor, ASKING)
        _wait_for_new_state(folder, owner.supervisor, before)


def _wait_until_well(folder: Folder) -> None:
    """Return once every part answers or the time is over: Airflow reports the health of its parts with a delay."""
    deadline = time.monotonic() + SETTLING_S
    while folder.state_file.exists() and time.monotonic() < deadline:
        if not troubles(SandboxState.load(folder.state_file)):
            return
        time.sleep(POLL_S)


def _wait_for_new_state(folder: Folder, supervisor: Process, before: int) -> None:
    deadline = time.monotonic() + UP_TIMEOUT_S
    while is_alive(supervisor) and folder.state_file.exists() and folder.state_file.stat().st_mtime_ns == before:
        if time.monotonic() > deadline:
            raise SandboxError(f"no part was restarted within {UP_TIMEOUT_S} s; see {folder.root / SUPERVISOR_LOG}")
        time.sleep(POLL_S)


def _start_supervisor(root: Path, log: Path, flags: Sequence[str]) -> subprocess.Popen[bytes]:
    root.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        return subprocess.Popen(
            (sys.executable, "-m", "sandbox", "supervise", "--root", str(root), *flags),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=PROJECT,
            start_new_session=True,
        )


def _follow(supervisor: subprocess.Popen[bytes], log: Path, state_file: Path) -> None:
    """Print the supervisor's lines until it is ready or has ended."""
    deadline = time.monotonic() + UP_TIMEOUT_S
    with log.open() as lines:
        while True:
            is_over = supervisor.poll() is not None or _is_ready(state_file, supervisor.pid)
            for line in lines.readlines():
                print(line, end="", flush=True)
            if is_over:
                return
            if time.monotonic() > deadline:
                raise SandboxError(f"the sandbox was not ready after {UP_TIMEOUT_S} s; see {log}")
            time.sleep(POLL_S)


def _is_ready(state_file: Path, supervisor_pid: int) -> bool:
    try:
        return SandboxState.load(state_file).supervisor_pid == supervisor_pid
    except FileNotFoundError:
        return False


def _end(supervisor: subprocess.Popen[bytes]) -> None:
    supervisor.terminate()
    try:
        supervisor.wait(DOWN_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        supervisor.kill()


def _wait_for_end(supervisor: Process) -> None:
    deadline = time.monotonic() + DOWN_TIMEOUT_S
    while is_alive(supervisor):
        if time.monotonic() > deadline:
            send(supervisor, signal.SIGKILL)
        time.sleep(POLL_S)
