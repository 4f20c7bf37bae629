"""What a secured cluster offers: one listener per way to log in, and the settings of a connection for each."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Literal, get_args

from sandbox.data.clients import client_config
from sandbox.kafka import Listener, plain_login
from sandbox.parts import HOST
from sandbox.private import write_private
from sandbox.security.authority import Authority, Credentials
from sandbox.security.kdc import USER, KerberosLogin
from sandbox.security.tokens import TokenServer

Way = Literal["tls", "mtls", "plain", "scram-sha-256", "scram-sha-512", "oauthbearer", "kerberos"]
# Kerberos needs a server and another Python client, so only its own tests use it.
WAYS: tuple[Way, ...] = tuple(way for way in get_args(Way) if way != "kerberos")
# One listener serves both kinds of SCRAM.
LISTENERS = ("tls", "mtls", "plain", "scram", "oauthbearer", "kerberos")
# The server that gives tokens has a port too.
PORTS = (*LISTENERS, "tokens")
# The only broker of a cluster (`node.id`).
BROKER_ID = "1"
SCRAM = ("scram-sha-256", "scram-sha-512")
# Clients without a login: those of the sandbox, on its listener without encryption.
AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}


@dataclass
class Security:
    """The certificates and the login of one cluster, in files below its folder; `ports` are those of `PORTS`.

    Without a Kerberos server there is no listener for Kerberos.
    """

    folder: Path
    ports: Mapping[str, int]
    authority: Authority = field(default_factory=Authority, repr=False)
    password: str = field(default_factory=lambda: secrets.token_urlsafe(16), repr=False)
    kerberos: KerberosLogin | None = None

    @cached_property
    def tokens(self) -> TokenServer:
        """The server that gives OAuth tokens to the user; it does not run yet."""
        return TokenServer(self.folder / "tokens", self.ports["tokens"], USER)

    def listeners(self) -> tuple[Listener, ...]:
        """Write the broker's certificate and the keys of tokens; return the listeners, in the order of `LISTENERS`."""
        tls = self.tls_properties("broker", self.authority.issue("broker", hosts=self._hosts()))
        self.tokens.write_keys()
        scram = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
        own: dict[str, tuple[str, dict[str, str]]] = {
            "tls": ("SSL", {}),
            "mtls": ("SSL", {"ssl.client.auth": "required"}),
            "plain": ("SASL_SSL", plain_login(USER, self.password)),
            "scram": (
                "SASL_SSL",
                {
                    "sasl.enabled.mechanisms": ",".join(SCRAM).upper(),
                    **{f"{mechanism}.sasl.jaas.config": scram for mechanism in SCRAM},
                },
            ),
            "oauthbearer": ("SASL_SSL", self.tokens.broker_login()),
        }
        made = [
            Listener(name, self.ports[name], protocol, {**tls, **properties})
            for name, (protocol, properties) in own.items()
        ]
        if self.kerberos:
            properties, host = {**tls, **self.kerberos.of_broker()}, self.kerberos.brokers.broker_host
            made.append(Listener("kerberos", self.ports["kerberos"], "SASL_SSL", properties, host))
        return tuple(made)

    def tls_properties(self, name: str, credentials: Credentials) -> dict[str, str]:
        """Write a broker's certificate under this name; return the properties of a listener that uses it."""
        return {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": self._file(f"{name}.pem", credentials.key + credentials.certificate),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": self._file("ca.pem", self.authority.certificate),
        }

    def connection(self, way: Way) -> dict[str, str]:
        """Return the settings of a connection, by librdkafka's names, that works in this way."""
        settings = {"bootstrap.servers": self.address(way), "ssl.ca.pem": self.authority.certificate}
        if way in {"tls", "mtls"}:
            return {**settings, "security.protocol": "SSL", **(self._own_certificate() if way == "mtls" else {})}
        if self.kerberos and way == "kerberos":
            return {**settings, "security.protocol": "SASL_SSL", **self.kerberos.of_client()}
        if way == "oauthbearer":
            return {**settings, "security.protocol": "SASL_SSL", **self.tokens.client_login()}
        login = {"sasl.mechanism": way.upper(), "sasl.username": USER, "sasl.password": self.password}
        return {**settings, "security.protocol": "SASL_SSL", **login}

    def address(self, way: Way) -> str:
        """Return `host:port` of the listener for a way."""
        host = self.kerberos.brokers.broker_host if self.kerberos and way == "kerberos" else HOST
        return f"{host}:{self.ports['scram' if way in SCRAM else way]}"

    def principal(self, way: Way) -> str:
        """Return the broker's name for the user that connects in this way."""
        return {"tls": "User:ANONYMOUS", "mtls": f"User:CN={USER}"}.get(way, f"User:{USER}")

    def create_users(self, bootstrap: str) -> None:
        """Create the SCRAM login on a running cluster."""
        from confluent_kafka.admin import (
            AdminClient,
            ScramCredentialInfo,
            ScramMechanism,
            UserScramCredentialUpsertion,
        )

        # A client that is not kept ends its open calls. A request may name a user only once.
        admin = AdminClient(client_config(bootstrap))
        for kind in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
            change = UserScramCredentialUpsertion(USER, ScramCredentialInfo(kind, 4096), self.password.encode())
            for future in admin.alter_user_scram_credentials([change]).values():
                future.result(60)

    def change_password(self, bootstrap: str, password: str = "") -> None:
        """Give the user of SCRAM another password, by default a random one; connections that exist stay."""
        self.password = password or secrets.token_urlsafe(16)
        self.create_users(bootstrap)

    def change_certificate(self, bootstrap: str, listener: str, ends: datetime | None = None) -> str:
        """Let a listener of a running broker show another certificate soon, and return it.

        Connections that exist stay.
        """
        from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

        # Kafka loads a file again only under another name.
        name = f"broker-{secrets.token_hex(4)}"
        credentials = self.authority.issue("broker", hosts=self._hosts(), ends=ends)
        location = self._file(f"{name}.pem", credentials.key + credentials.certificate)
        entry = ConfigEntry(f"listener.name.{listener}.ssl.keystore.location", location)
        entry.incremental_operation = AlterConfigOpType.SET
        admin = AdminClient(client_config(bootstrap))
        broker = ConfigResource(ResourceType.BROKER, BROKER_ID, incremental_configs=[entry])
        for future in admin.incremental_alter_configs([broker]).values():
            future.result(60)
        return credentials.certificate

    def allow_everything(self, bootstrap: str) -> None:
        """Grant all rights to the users of all ways on a running cluster."""
        from confluent_kafka.admin import (
            AclBinding,
            AclOperation,
            AclPermissionType,
            AdminClient,
            ResourcePatternType,
            ResourceType,
        )

        pattern, allow = ResourcePatternType.LITERAL, AclPermissionType.ALLOW
        kinds = {ResourceType.TOPIC: "*", ResourceType.GROUP: "*", ResourceType.TRANSACTIONAL_ID: "*"}
        acls = [
            AclBinding(kind, name, pattern, principal, "*", AclOperation.ALL, allow)
            for principal in {self.principal(way) for way in get_args(Way)}
            for kind, name in {**kinds, ResourceType.BROKER: "kafka-cluster"}.items()
        ]
        admin = AdminClient(client_config(bootstrap))
        for future in admin.create_acls(acls).values():
            future.result(60)

    def _hosts(self) -> tuple[str, ...]:
        return (HOST, *((self.kerberos.brokers.broker_host,) if self.kerberos else ()))

    def _own_certificate(self) -> dict[str, str]:
        return client_certificate(self.authority.issue(USER))

    def _file(self, name: str, text: str) -> str:
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / name
        write_private(path, text)
        return str(path)


def token_endpoints(securities: Iterable[Security]) -> str:
    """Return the value of Airflow's setting `token_endpoints` that allows the servers of these clusters."""
    return ",".join(security.tokens.url for security in securities)


def client_certificate(own: Credentials) -> dict[str, str]:
    """Return the settings of a connection that shows this certificate."""
    return {"ssl.certificate.pem": own.certificate, "ssl.key.pem": own.key}
