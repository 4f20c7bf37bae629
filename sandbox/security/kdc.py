"""A Kerberos server (MIT's) on loopback with its realms, their principals, and keytabs."""

from __future__ import annotations

import secrets
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox.environment import program
from sandbox.errors import SandboxError
from sandbox.parts import HOST, PartSpec

SERVICE = "kafka"
USER = "migration"
_READY = "commencing operation"


@dataclass(frozen=True)
class Realm:
    """A realm, and the host name of the brokers in it: a service's principal has a host name, and an address is none.

    `*.localhost` resolves to loopback with Debian's `libnss-myhostname`.
    """

    name: str = "SANDBOX.TEST"
    broker_host: str = "localhost"

    @property
    def service(self) -> str:
        """The principal of the brokers."""
        return f"{SERVICE}/{self.broker_host}@{self.name}"

    def principal(self, name: str) -> str:
        """Return the principal of a name."""
        return f"{name}@{self.name}"


ONE_REALM = Realm()


@dataclass(frozen=True)
class Kdc:
    """A Kerberos server below a folder; its tools need Debian's `krb5-kdc`, `krb5-admin-server` and `krb5-user`.

    One process serves all realms. Each realm trusts the first one.
    """

    folder: Path
    port: int
    realms: tuple[Realm, ...] = (ONE_REALM,)

    @property
    def config(self) -> Path:
        """The `krb5.conf` of clients and brokers."""
        return self.folder / "krb5.conf"

    @property
    def java_option(self) -> str:
        """The option with which a JVM uses these realms."""
        return f"-Djava.security.krb5.conf={self.config}"

    def prepare(self) -> None:
        """Create each realm's database, and keytabs of its brokers and of the user.

        Raises:
            SandboxError: a Kerberos tool refused; the text is its output.
        """
        self.folder.mkdir(parents=True)
        self.config.write_text(self._client_config())
        self._own_config.write_text(self._server_config())
        for realm in self.realms:
            self._run("kdb5_util", "create", "-r", realm.name, "-s", "-P", secrets.token_urlsafe(16))
            for principal in (realm.service, realm.principal(USER)):
                self._admin(realm, f"addprinc -randkey {principal}")
                self._admin(realm, f"ktadd -k {self.keytab(principal)} {principal}")
        for realm in self.realms[1:]:
            self._trust_first(realm)

    def part(self, logs: Path) -> PartSpec:
        """Return the server as a part."""
        realms = [word for realm in self.realms for word in ("-r", realm.name)]
        command = (program("krb5kdc"), "-n", *realms)
        return PartSpec("kdc", command, self.environment(), logs / "kdc.log", lambda _: _READY in self._own_log())

    def keytab(self, principal: str) -> Path:
        """Return the keytab of a principal."""
        return self.folder / f"{principal.replace('/', '-')}.keytab"

    def stranger(self, folder: Path) -> Path:
        """Return a keytab, in this folder, of a principal that the server does not know any more."""
        realm = self.realms[0]
        keytab, name = folder / "stranger.keytab", realm.principal(f"stranger-{secrets.token_hex(4)}")
        for command in (f"addprinc -randkey {name}", f"ktadd -k {keytab} {name}", f"delprinc -force {name}"):
            self._admin(realm, command)
        return keytab

    def outdated(self, folder: Path) -> Path:
        """Return a keytab, in this folder, of a principal that has another key by now."""
        realm = self.realms[0]
        keytab, name = folder / "outdated.keytab", realm.principal(f"outdated-{secrets.token_hex(4)}")
        for command in (f"addprinc -randkey {name}", f"ktadd -k {keytab} {name}", f"cpw -randkey {name}"):
            self._admin(realm, command)
        return keytab

    def tickets(self, folder: Path, lifetime_s: int) -> Path:
        """Return a cache, in this folder, with a ticket of the user that ends after this time."""
        cache, user = folder / "tickets", self.realms[0].principal(USER)
        self._run("kinit", "-l", f"{lifetime_s}s", "-k", "-t", str(self.keytab(user)), "-c", str(cache), user)
        return cache

    def has_ended(self, cache: Path) -> bool:
        """Whether the ticket in a cache has ended."""
        command = (program("klist"), "-s", "-c", str(cache))
        return subprocess.run(command, env=self.environment(), check=False).returncode != 0

    def environment(self, principal: str = "") -> dict[str, str]:
        """Return the variables of a client; with a principal it gets its tickets from that principal's keytab."""
        own = {"KRB5_CONFIG": str(self.config), "KRB5_KDC_PROFILE": str(self._own_config)}
        ticket = {
            "KRB5_CLIENT_KTNAME": f"FILE:{self.keytab(principal)}",
            "KRB5CCNAME": f"FILE:{self.folder / principal}.cache",
        }
        return {**own, **(ticket if principal else {})}

    def environments(self, home: Path, *realms: Realm) -> dict[str, str]:
        """Return the variables of a client that has a user in each realm; each host gets the ticket of its realm.

        Writes a keytab with the keys of all users, and `.k5identity`, into the client's home.
        """
        keytab, users = home / "users.keytab", {realm: realm.principal(USER) for realm in realms}
        for realm, user in users.items():
            self._admin(realm, f"ktadd -norandkey -k {keytab} {user}")
        lines = (f"{user} host={realm.broker_host}" for realm, user in users.items())
        (home / ".k5identity").write_text("".join(f"{line}\n" for line in lines))
        (home / "tickets").mkdir()
        return {
            **self.environment(),
            "HOME": str(home),
            "KRB5_CLIENT_KTNAME": f"FILE:{keytab}",
            "KRB5CCNAME": f"DIR:{home / 'tickets'}",
        }

    @property
    def _own_config(self) -> Path:
        return self.folder / "kdc.conf"

    def _own_log(self) -> str:
        path = self.folder / "krb5kdc.log"
        return path.read_text() if path.exists() else ""

    def _client_config(self) -> str:
        realms = "".join(f" {realm.name} = {{\n  kdc = {HOST}:{self.port}\n }}\n" for realm in self.realms)
        hosts = "".join(f" {realm.broker_host} = {realm.name}\n" for realm in self.realms)
        return f"""[libdefaults]
 default_realm = {self.realms[0].name}
 dns_lookup_kdc = false
 dns_lookup_realm = false
 dns_canonicalize_hostname = false
 rdns = false
 udp_preference_limit = 1
[realms]
{realms}[domain_realm]
{hosts}[logging]
 kdc = FILE:{self.folder / "krb5kdc.log"}
"""

    def _server_config(self) -> str:
        realms = "".join(
            f""" {realm.name} = {{
  database_name = {self.folder / realm.name}.principal
  key_stash_file = {self.folder / realm.name}.stash
  max_life = 1h
 }}
"""
            for realm in self.realms
        )
        return f"""[kdcdefaults]
 kdc_listen = {HOST}:{self.port}
 kdc_tcp_listen = {HOST}:{self.port}
[realms]
{realms}"""

    def _trust_first(self, realm: Realm) -> None:
        """Let users of the first realm get tickets for the services of another one: both know one key."""
        key, principal = secrets.token_urlsafe(16), f"krbtgt/{realm.name}@{self.realms[0].name}"
        for each in (self.realms[0], realm):
            self._admin(each, f"addprinc -pw {key} {principal}")

    def _admin(self, realm: Realm, command: str) -> None:
        self._run("kadmin.local", "-r", realm.name, "-q", command)

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


@dataclass(frozen=True)
class KerberosLogin:
    """How the brokers of a cluster and the user of its connection log in: the brokers' realm, and the user's."""

    kdc: Kdc
    brokers: Realm = ONE_REALM
    users: Realm = ONE_REALM

    @property
    def principal(self) -> str:
        """The user's principal."""
        return self.users.principal(USER)

    def of_broker(self) -> Mapping[str, str]:
        """Return the properties of a listener on which clients log in with Kerberos."""
        module, service = "com.sun.security.auth.module.Krb5LoginModule", self.brokers.service
        rules = [f"RULE:[1:$1@$0](.*@{realm.name.replace('.', '[.]')})s/@.*//" for realm in self.kdc.realms]
        return {
            "sasl.enabled.mechanisms": "GSSAPI",
            "sasl.kerberos.service.name": SERVICE,
            "sasl.kerberos.principal.to.local.rules": ",".join([*rules, "DEFAULT"]),
            "gssapi.sasl.jaas.config": f"{module} required useKeyTab=true storeKey=true "
            f'keyTab="{self.kdc.keytab(service)}" principal="{service}";',
        }

    def of_client(self) -> dict[str, str]:
        """Return the login of a connection."""
        return {
            "sasl.mechanism": "GSSAPI",
            "sasl.kerberos.principal": self.principal,
            "sasl.kerberos.keytab": str(self.kdc.keytab(self.principal)),
        }
