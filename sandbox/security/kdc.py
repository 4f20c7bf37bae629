"""A Kerberos server (MIT's) on loopback with one realm, its principals, and their keytabs."""

from __future__ import annotations

import secrets
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox.environment import program
from sandbox.errors import SandboxError
from sandbox.parts import HOST, PartSpec

REALM = "SANDBOX.TEST"
# Brokers are reached under this name: a service's principal has a host name, and an address is none.
BROKER_HOST = "localhost"
SERVICE = "kafka"
_READY = "commencing operation"


@dataclass(frozen=True)
class Kdc:
    """A Kerberos server below a folder; its tools need Debian's `krb5-kdc`, `krb5-admin-server` and `krb5-user`."""

    folder: Path
    port: int

    @property
    def config(self) -> Path:
        """The `krb5.conf` of clients and brokers."""
        return self.folder / "krb5.conf"

    @property
    def java_option(self) -> str:
        """The option with which a JVM uses this realm."""
        return f"-Djava.security.krb5.conf={self.config}"

    def prepare(self, *names: str) -> None:
        """Create the realm's database, and a principal with a keytab for each name.

        Raises:
            SandboxError: a Kerberos tool refused; the text is its output.
        """
        self.folder.mkdir(parents=True)
        self.config.write_text(self._client_config())
        self._own_config.write_text(self._server_config())
        self._run("kdb5_util", "create", "-r", REALM, "-s", "-P", secrets.token_urlsafe(16))
        for name in names:
            self._run("kadmin.local", "-r", REALM, "-q", f"addprinc -randkey {name}@{REALM}")
            self._run("kadmin.local", "-r", REALM, "-q", f"ktadd -k {self.keytab(name)} {name}@{REALM}")

    def part(self, logs: Path) -> PartSpec:
        """Return the server as a part."""
        command = (program("krb5kdc"), "-n", "-r", REALM)
        return PartSpec("kdc", command, self.environment(), logs / "kdc.log", lambda _: _READY in self._own_log())

    def keytab(self, name: str) -> Path:
        """Return the keytab of a principal."""
        return self.folder / f"{name.replace('/', '-')}.keytab"

    def stranger(self, folder: Path) -> Path:
        """Return a keytab, in this folder, of a principal that the server does not know any more."""
        keytab, name = folder / "stranger.keytab", f"stranger-{secrets.token_hex(4)}@{REALM}"
        for command in (f"addprinc -randkey {name}", f"ktadd -k {keytab} {name}", f"delprinc -force {name}"):
            self._run("kadmin.local", "-r", REALM, "-q", command)
        return keytab

    def environment(self, name: str = "") -> dict[str, str]:
        """Return the variables of a client; with a name it gets its tickets from that principal's keytab."""
        own = {"KRB5_CONFIG": str(self.config), "KRB5_KDC_PROFILE": str(self._own_config)}
        ticket = {
            "KRB5_CLIENT_KTNAME": f"FILE:{self.keytab(name)}",
            "KRB5CCNAME": f"FILE:{self.folder / name.replace('/', '-')}.cache",
        }
        return {**own, **(ticket if name else {})}

    def broker_login(self) -> Mapping[str, str]:
        """Return the properties of a listener on which clients log in with Kerberos."""
        principal = f"{SERVICE}/{BROKER_HOST}"
        module = "com.sun.security.auth.module.Krb5LoginModule"
        return {
            "sasl.enabled.mechanisms": "GSSAPI",
            "sasl.kerberos.service.name": SERVICE,
            "gssapi.sasl.jaas.config": f"{module} required useKeyTab=true storeKey=true "
            f'keyTab="{self.keytab(principal)}" principal="{principal}@{REALM}";',
        }

    def client_login(self, name: str) -> dict[str, str]:
        """Return the login of a connection."""
        return {
            "sasl.mechanism": "GSSAPI",
            "sasl.kerberos.principal": f"{name}@{REALM}",
            "sasl.kerberos.keytab": str(self.keytab(name)),
        }

    @property
    def _own_config(self) -> Path:
        return self.folder / "kdc.conf"

    def _own_log(self) -> str:
        path = self.folder / "krb5kdc.log"
        return path.read_text() if path.exists() else ""

    def _client_config(self) -> str:
        return f"""[libdefaults]
 default_realm = {REALM}
 dns_lookup_kdc = false
 dns_lookup_realm = false
 dns_canonicalize_hostname = false
 rdns = false
 udp_preference_limit = 1
[realms]
 {REALM} = {{
  kdc = {HOST}:{self.port}
 }}
[logging]
 kdc = FILE:{self.folder / "krb5kdc.log"}
"""

    def _server_config(self) -> str:
        return f"""[kdcdefaults]
 kdc_listen = {HOST}:{self.port}
 kdc_tcp_listen = {HOST}:{self.port}
[realms]
 {REALM} = {{
  database_name = {self.folder / "principal"}
  key_stash_file = {self.folder / "stash"}
  max_life = 1h
 }}
"""

    def _run(self, tool: str, *arguments: str) -> None:
        done = subprocess.run(
            (program(tool), *arguments),
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        # `kadmin.local` ends with 0 also when it refuses a command.
        if done.returncode != 0 or "while" in done.stderr:
            raise SandboxError(f"{tool} failed:\n{done.stdout}{done.stderr}")
