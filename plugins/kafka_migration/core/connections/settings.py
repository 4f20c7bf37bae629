"""The settings that a Kafka connection may have: the one table of their forms, secrets and Java counterparts.

A connection holds librdkafka's names. Whatever is not in this table is refused before a client is made, because
librdkafka would load code, run commands or read files and addresses for some of its settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Form = Literal["text", "number", "truth", "certificates", "private key"]
InJava = Literal["same", "built", "left", "none"]


@dataclass(frozen=True, slots=True)
class Setting:
    """What is known of a setting: the form of its value, and what becomes of it for MirrorMaker and Spark.

    `in_java`: it keeps its name, other properties are built from it, it is left out because it only tunes librdkafka,
    or there is none, so that the connection is refused where a Java client needs it.
    """

    form: Form = "text"
    in_java: InJava = "left"
    is_secret: bool = False


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A way to log in: the settings that it needs, and the login module of Java clients (empty: none yet)."""

    needs: tuple[str, ...] = ()
    login_module: str = ""


_USER_AND_PASSWORD = ("sasl.username", "sasl.password")
_SCRAM = Mechanism(_USER_AND_PASSWORD, "org.apache.kafka.common.security.scram.ScramLoginModule")
MECHANISMS: Mapping[str, Mechanism] = {
    "PLAIN": Mechanism(_USER_AND_PASSWORD, "org.apache.kafka.common.security.plain.PlainLoginModule"),
    "SCRAM-SHA-256": _SCRAM,
    "SCRAM-SHA-512": _SCRAM,
    "OAUTHBEARER": Mechanism(),
}
KERBEROS = "GSSAPI"
# What librdkafka calls its part that speaks Kerberos; the packages on PyPI are built without it.
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
    # Functions by their paths; Airflow's provider takes those that its `callback_allowlist` names.
    "error_cb",
    "stats_cb",
    "throttle_cb",
)
SETTINGS: Mapping[str, Setting] = {
    **dict.fromkeys(_NUMBERS, Setting("number")),
    **dict.fromkeys(_TRUTHS, Setting("truth")),
    **dict.fromkeys(_TEXTS, Setting()),
    "bootstrap.servers": Setting(in_java="same"),
    "client.rack": Setting(in_java="same"),
    "security.protocol": Setting(in_java="built"),
    "sasl.mechanism": Setting(in_java="built"),
    "sasl.mechanisms": Setting(in_java="built"),
    "sasl.username": Setting(in_java="built"),
    "sasl.password": Setting(in_java="built", is_secret=True),
    "sasl.oauthbearer.config": Setting(in_java="none", is_secret=True),
    "oauth_cb": Setting(in_java="none"),
    "ssl.ca.pem": Setting("certificates", "built"),
    "ssl.certificate.pem": Setting("certificates", "built"),
    "ssl.key.pem": Setting("private key", "built", is_secret=True),
    "ssl.key.password": Setting(in_java="built", is_secret=True),
    HOST_NAME_CHECK: Setting(in_java="built"),
}

_INLINE = "it reads a file of the machine that runs Airflow, which MirrorMaker and Spark do not have"
_CODE = "it loads code into Airflow"
_OIDC = "it makes Airflow call an address or read a file"
# Why settings are refused that librdkafka has; the others are not needed, or not known.
REFUSED: Mapping[str, str] = {
    "plugin.library.paths": _CODE,
    "ssl.engine.location": _CODE,
    "ssl.engine.id": _CODE,
    "ssl.providers": _CODE,
    "sasl.kerberos.kinit.cmd": "it runs a command on the machine that runs Airflow",
    "ssl.ca.location": f"{_INLINE}; give the text in ssl.ca.pem",
    "ssl.certificate.location": f"{_INLINE}; give the text in ssl.certificate.pem",
    "ssl.key.location": f"{_INLINE}; give the text in ssl.key.pem",
    "ssl.keystore.location": f"{_INLINE}; give the texts in ssl.key.pem and ssl.certificate.pem",
    "ssl.keystore.password": "key stores are files; give the texts in ssl.key.pem and ssl.certificate.pem",
    "ssl.crl.location": _INLINE,
    "ssl.ca.certificate.stores": "it is for Windows; give the text in ssl.ca.pem",
    "https.ca.location": _OIDC,
    "sasl.oauthbearer.token.endpoint.url": _OIDC,
    "sasl.oauthbearer.assertion.private.key.file": _OIDC,
    "sasl.oauthbearer.assertion.file": _OIDC,
    "sasl.oauthbearer.assertion.jwt.template.file": _OIDC,
    "sasl.oauthbearer.method": "OAUTHBEARER takes its tokens from a function only (oauth_cb)",
    "sasl.jaas.config": "it is Java's; give sasl.mechanism, sasl.username and sasl.password",
    "metadata.broker.list": "it is an old name of bootstrap.servers, and would replace that",
    "debug": "it makes the client write what it sends, logins included",
}
