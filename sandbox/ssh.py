"""A real OpenSSH server on loopback: the MirrorMaker host."""

from __future__ import annotations

import getpass
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox.environment import SYSTEM_FOLDERS, java, program
from sandbox.jars import kafka_home
from sandbox.parts import HOST, PartSpec
from sandbox.processes import MARKER
from sandbox.shared_classes import kafka_options

PRIVILEGE_SEPARATION_FOLDER = Path("/run/sshd")
LOGIN_TIMEOUT_S = 15


def make_privilege_separation_folder() -> None:
    """Make the empty folder without which sshd as root refuses to start; another user's sshd needs none."""
    if os.geteuid() == 0:
        PRIVILEGE_SEPARATION_FOLDER.mkdir(mode=0o755, exist_ok=True)


@dataclass(frozen=True)
class SshHost:
    """An SSH server with its own host key and one client key; `mirror_home` is where `mirrorctl` keeps its files.

    `java_options` are those of every JVM that is started there.
    """

    folder: Path
    port: int
    mirror_home: Path
    java_options: tuple[str, ...] = ()

    @property
    def user(self) -> str:
        """The login: the user who runs the sandbox."""
        return getpass.getuser()

    @property
    def key_file(self) -> Path:
        """The client's private key."""
        return self.folder / "client_key"

    @property
    def memory(self) -> Path:
        """The folder of MirrorMaker's secrets while it runs."""
        return self.mirror_home.with_name("mirror-memory")

    @property
    def host_key(self) -> str:
        """The server's public key as `ssh-ed25519 AAAA…`, without the comment."""
        return " ".join((self.folder / "host_key.pub").read_text().split()[:2])

    @property
    def _home(self) -> Path:
        """The home of each session: the shell must not run the start-up files of the user's own home."""
        return self.folder / "home"

    def prepare(self, environment: Mapping[str, str]) -> None:
        """Make both key pairs, the client's known hosts and the server's configuration."""
        self.folder.mkdir(parents=True, mode=0o700)
        self._home.mkdir(mode=0o700)
        self.mirror_home.mkdir(mode=0o700, parents=True)
        self.memory.mkdir(mode=0o700)
        for name in ("host_key", "client_key"):
            _make_key(self.folder / name)
        (self.folder / "authorized_keys").write_text((self.folder / "client_key.pub").read_text())
        self._known_hosts.write_text(f"[{HOST}]:{self.port} {self.host_key}\n")
        self._config.write_text(self.configuration(environment))
        make_privilege_separation_folder()

    def part(self, environment: Mapping[str, str], logs: Path) -> PartSpec:
        """Return the server as the part `sshd`; ready means a login with strict host keys worked."""
        return PartSpec(
            name="sshd",
            command=(program("sshd"), "-D", "-e", "-f", str(self._config)),
            environment=environment,
            log=logs / "sshd.log",
            is_ready=lambda log: "Server listening on" in log and self.accepts_login(),
        )

    def configuration(self, environment: Mapping[str, str]) -> str:
        """Render `sshd_config`.

        SetEnv is one line because OpenSSH takes only the first one of several.
        """
        variables = " ".join(f'"{name}={value}"' for name, value in self._variables(environment).items())
        return f"""Port {self.port}
ListenAddress {HOST}
HostKey "{self.folder / "host_key"}"
AuthorizedKeysFile "{self.folder / "authorized_keys"}"
PidFile none
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
PrintMotd no
MaxStartups 100
LogLevel VERBOSE
Subsystem sftp internal-sftp
SetEnv {variables}
"""

    def client_command(self, *remote_command: str) -> tuple[str, ...]:
        """Return an `ssh` command line that accepts this host's key only and never asks."""
        options = {
            "BatchMode": "yes",
            "ConnectTimeout": "5",
            "IdentitiesOnly": "yes",
            "LogLevel": "ERROR",
            "StrictHostKeyChecking": "yes",
            "UserKnownHostsFile": f'"{self._known_hosts}"',
            "GlobalKnownHostsFile": "none",
        }
        flags = tuple(item for name, value in options.items() for item in ("-o", f"{name}={value}"))
        login = (*flags, "-i", str(self.key_file), "-p", str(self.port), f"{self.user}@{HOST}")
        return (program("ssh"), "-F", "none", *login, *remote_command)

    def accepts_login(self) -> bool:
        """True if a login works and the session knows its `KAFKA_MIGRATION_HOME`."""
        try:
            done = subprocess.run(
                self.client_command("printenv KAFKA_MIGRATION_HOME"),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=LOGIN_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return False
        return done.stdout.strip() == str(self.mirror_home)

    def _variables(self, environment: Mapping[str, str]) -> dict[str, str]:
        java_folder = str(Path(java(environment)).parent)
        java_options = (*kafka_options(), *self.java_options)
        return {
            "HOME": str(self._home),
            "PATH": os.pathsep.join(dict.fromkeys((java_folder, *SYSTEM_FOLDERS))),
            "KAFKA_HOME": str(kafka_home()),
            "KAFKA_MIGRATION_HOME": str(self.mirror_home),
            # Secrets stay below the sandbox's folder, which the next sandbox empties.
            "KAFKA_MIGRATION_MEMORY": str(self.memory),
            MARKER: environment[MARKER],
            **({"JAVA_TOOL_OPTIONS": " ".join(java_options)} if java_options else {}),
        }

    @property
    def _config(self) -> Path:
        return self.folder / "sshd_config"

    @property
    def _known_hosts(self) -> Path:
        return self.folder / "known_hosts"


def _make_key(path: Path) -> None:
    command = (program("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-C", "sandbox", "-f", str(path))
    subprocess.run(command, check=True, capture_output=True, timeout=30)
