"""The settings that a Kafka connection may have, with their forms, secrets and Java counterparts; problems with them.

A connection uses librdkafka's names. A setting that is not in this table is refused before a client is created,
because some settings make librdkafka load code, run commands, read files or call addresses.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.text.secret_forms import HIDDEN, has_secret_form
from kafka_migration.core.text.shortened import sentence

Form = Literal[
    "text",
    "addresses",
    "number",
    "truth",
    "certificates",
    "private key",
    "principal",
    "path",
    "https address",
    "token method",
    "token extensions",
]
InJava = Literal["same", "built", "left", "none"]


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting: the form of its value, and its translation for MirrorMaker and Spark.

    `in_java`: `same` keeps the name; `built` means that other properties are built from it; `left` is dropped because
    it only tunes librdkafka; `none` has no counterpart, so the connection is refused for Java clients.
    """

    form: Form = "text"
    in_java: InJava = "left"
    is_secret: bool = False


PLAIN, SCRAM_256, SCRAM_512 = "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"
KERBEROS = "GSSAPI"
KERBEROS_SERVICE = "sasl.kerberos.service.name"
OAUTH = "OAUTHBEARER"
OAUTH_METHOD = "sasl.oauthbearer.method"
OAUTH_ENDPOINT = "sasl.oauthbearer.token.endpoint.url"
OAUTH_CALLBACK = "oauth_cb"
# Mechanisms that are known and not supported: the reason, and what to use instead.
UNSUPPORTED_MECHANISMS: Mapping[str, tuple[str, str]] = {
    "AWS_MSK_IAM": (
        "it needs a library of AWS in Airflow, MirrorMaker and Spark",
        "Enable SASL/SCRAM or mutual TLS on the MSK cluster, and use SCRAM-SHA-512 or a client certificate.",
    ),
}
# librdkafka's default; Java has none.
DEFAULT_KERBEROS_SERVICE = "kafka"
# With 0, librdkafka never runs `kinit`: the ticket comes from outside of Airflow (ADR 0027).
KERBEROS_RELOGIN = "sasl.kerberos.min.time.before.relogin"
WITHOUT_KINIT = {KERBEROS_RELOGIN: 0}
# librdkafka fetches the tokens itself (client credentials of OpenID Connect). The packages on PyPI know the trust store
# of Red Hat only; `probe` finds those of other systems. It must not be set beside `https.ca.pem`.
WITH_OIDC = {OAUTH_METHOD: "oidc"}
WITH_SYSTEM_TRUST = {"https.ca.location": "probe"}
# librdkafka's name for its Kerberos feature; the packages on PyPI are built without it.
KERBEROS_FEATURE = "sasl_gssapi"

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
HOST_NAME_CHECK = "ssl.endpoint.identification.algorithm"
VERIFICATION = "enable.ssl.certificate.verification"

_NUMBERS = (
    "api.version.fallback.ms",
    "api.version.request.timeout.ms",
    "auto.commit.interval.ms",
    "broker.address.ttl",
    "connections.max.idle.ms",
    "fetch.error.backoff.ms",
    "fetch.max.bytes",
    "fetch.message.max.bytes",
    "fetch.min.bytes",
    "fetch.queue.backoff.ms",
    "fetch.wait.max.ms",
    "heartbeat.interval.ms",
    "log_level",
    "max.in.flight",
    "max.in.flight.requests.per.connection",
    "max.partition.fetch.bytes",
    "max.poll.interval.ms",
    "message.max.bytes",
    "metadata.max.age.ms",
    "queued.max.messages.kbytes",
    "queued.min.messages",
    "receive.message.max.bytes",
    "reconnect.backoff.max.ms",
    "reconnect.backoff.ms",
    "request.timeout.ms",
    "retries",
    "retry.backoff.max.ms",
    "retry.backoff.ms",
    "session.timeout.ms",
    "socket.blocking.max.ms",
    "socket.connection.setup.timeout.ms",
    "socket.max.fails",
    "socket.receive.buffer.bytes",
    "socket.send.buffer.bytes",
    "socket.timeout.ms",
    "statistics.interval.ms",
    "topic.metadata.propagation.max.ms",
    "topic.metadata.refresh.fast.interval.ms",
    "topic.metadata.refresh.interval.ms",
)
_TRUTHS = (
    "allow.auto.create.topics",
    "api.version.request",
    "check.crcs",
    "enable.auto.commit",
    "enable.auto.offset.store",
    "enable.partition.eof",
    "enable.random.seed",
    "log.connection.close",
    "log.thread.name",
    "socket.keepalive.enable",
    "socket.nagle.disable",
    "topic.metadata.refresh.sparse",
    VERIFICATION,
)
_TEXTS = (
    "auto.offset.reset",
    "broker.address.family",
    "broker.version.fallback",
    "client.dns.lookup",
    "client.id",
    "group.id",
    "group.instance.id",
    "isolation.level",
    "metadata.recovery.strategy",
    "partition.assignment.strategy",
    # Functions by their paths; Airflow's provider accepts those in its `callback_allowlist`.
    "error_cb",
    "stats_cb",
    "throttle_cb",
)
SETTINGS: Mapping[str, Setting] = {
    **dict.fromkeys(_NUMBERS, Setting("number")),
    **dict.fromkeys(_TRUTHS, Setting("truth")),
    **dict.fromkeys(_TEXTS, Setting()),
    "bootstrap.servers": Setting("addresses", "same"),
    "client.rack": Setting(in_java="same"),
    "security.protocol": Setting(in_java="built"),
    "sasl.mechanism": Setting(in_java="built"),
    "sasl.mechanisms": Setting(in_java="built"),
    "sasl.username": Setting(in_java="built"),
    "sasl.password": Setting(in_java="built", is_secret=True),
    "sasl.kerberos.principal": Setting("principal", "built"),
    "sasl.kerberos.keytab": Setting("path", "built"),
    KERBEROS_SERVICE: Setting(in_java="built"),
    # Refused in a connection, and set by this package.
    KERBEROS_RELOGIN: Setting("number"),
    "sasl.oauthbearer.client.id": Setting(in_java="built"),
    "sasl.oauthbearer.client.secret": Setting(in_java="built", is_secret=True),
    OAUTH_ENDPOINT: Setting("https address", "built"),
    "sasl.oauthbearer.scope": Setting(in_java="built"),
    "sasl.oauthbearer.extensions": Setting("token extensions", "built"),
    OAUTH_METHOD: Setting("token method", "built"),
    "https.ca.pem": Setting("certificates", "built"),
    # Refused in a connection, and set by this package.
    "https.ca.location": Setting(),
    "sasl.oauthbearer.config": Setting(in_java="none", is_secret=True),
    OAUTH_CALLBACK: Setting(in_java="none"),
    "ssl.ca.pem": Setting("certificates", "built"),
    "ssl.certificate.pem": Setting("certificates", "built"),
    "ssl.key.pem": Setting("private key", "built", is_secret=True),
    "ssl.key.password": Setting(in_java="built", is_secret=True),
    HOST_NAME_CHECK: Setting(in_java="built"),
}

_INLINE = "it reads a file on the Airflow machine, which MirrorMaker and Spark do not have"
_CODE = "it loads code into Airflow"
_OIDC = "it makes Airflow read a file or call an address that is not allowed"
# Why some settings of librdkafka are refused. Other settings that are not in `SETTINGS` are unneeded or unknown.
REFUSED: Mapping[str, str] = {
    "plugin.library.paths": _CODE,
    "ssl.engine.location": _CODE,
    "ssl.engine.id": _CODE,
    "ssl.providers": _CODE,
    "sasl.kerberos.kinit.cmd": "it runs a command on the Airflow machine",
    KERBEROS_RELOGIN: "Airflow never renews a ticket; use kinit or k5start outside of it",
    "ssl.ca.location": f"{_INLINE}; use ssl.ca.pem instead",
    "ssl.certificate.location": f"{_INLINE}; use ssl.certificate.pem instead",
    "ssl.key.location": f"{_INLINE}; use ssl.key.pem instead",
    "ssl.keystore.location": f"{_INLINE}; use ssl.key.pem and ssl.certificate.pem instead",
    "ssl.keystore.password": "key stores are files; use ssl.key.pem and ssl.certificate.pem instead",
    "ssl.crl.location": _INLINE,
    "ssl.ca.certificate.stores": "it is for Windows only; use ssl.ca.pem instead",
    "https.ca.location": f"{_INLINE}; use https.ca.pem instead",
    "sasl.oauthbearer.assertion.private.key.file": _OIDC,
    "sasl.oauthbearer.assertion.file": _OIDC,
    "sasl.oauthbearer.assertion.jwt.template.file": _OIDC,
    "sasl.oauthbearer.grant.type": "only client credentials are supported",
    "sasl.oauthbearer.metadata.authentication.type": _OIDC,
    "sasl.jaas.config": "it is a Java setting; use sasl.mechanism, sasl.username and sasl.password instead",
    "metadata.broker.list": "it is an old name of bootstrap.servers and would override it",
    "ssl.truststore.location": "it is a Java setting; use ssl.ca.pem instead",
    "debug": "it makes the client log its requests, including logins",
}


Config = Mapping[str, object]

IN_EXTRA = "in the extra of the Airflow connection"
_MAX_SHOWN = 80
_NO_CLIENT = "No Kafka client is created from this connection, so nothing can read or write the cluster."


class Problem(NamedTuple):
    """A problem with a connection; it never shows a value that may be a secret.

    `says` continues a sentence that begins with the name of the connection.
    """

    says: str
    found: str
    expected: str
    remedy: str
    matters: str = _NO_CLIENT
    code: Code = Code.CONNECTION_INVALID

    def finding(self, connection: str) -> Finding:
        """Return the problem as a finding about the connection."""
        return Finding(
            self.code,
            f"connection {connection}",
            self.found,
            self.expected,
            self.remedy,
            happened=sentence(f"The connection {connection} {self.says}"),
            matters=self.matters,
        )


def of_value(name: str, seen: str, expected: str, hint: str = "", found: str = "") -> Problem:
    """Return the problem of the value of a setting; a hint is a sentence after the remedy.

    `seen` is what the value is, in a sentence, and `found` the same as data, if it differs.
    """
    remedy = " ".join(filter(None, (f"Set {name} to {expected} {IN_EXTRA}.", hint)))
    return Problem(f"has the setting {name} with {seen}", f"setting {name}: {found or seen}", expected, remedy)


def of_settings(found: str, expected: str, remedy: str) -> Problem:
    """Return the problem of settings that do not fit together."""
    return Problem(f"has {found}", found, expected, remedy)


def as_text(value: object) -> str | None:
    """Return a setting's value as text for the client; `None` if it is not a text, a number or a boolean."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)) and math.isfinite(value):
        return str(value)
    return value if isinstance(value, str) else None


def text_of(config: Config, name: str) -> str:
    """Return a setting as text; empty if it is missing or has no text."""
    return as_text(config.get(name)) or ""


def shown(value: str) -> str:
    """Return a value as a finding may show it: short, on one line, and hidden if it looks like a secret."""
    if has_secret_form(value):
        return HIDDEN
    text = ascii(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 1]}…"
