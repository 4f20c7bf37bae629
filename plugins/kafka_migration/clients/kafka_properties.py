"""Translation of a Kafka connection (librdkafka settings) into Java client and Spark reader properties.

Airflow's `kafka` connection holds librdkafka names. MirrorMaker and Spark's Kafka source are Java clients, so
the settings that say *where* and *who* are translated; those that tune librdkafka itself are left behind. A
setting that can be neither translated nor left out is refused, because dropping it could mean an unencrypted
or unauthenticated connection.
"""

from __future__ import annotations

from collections.abc import Mapping

from kafka_migration.core.codes import Code
from kafka_migration.core.errors import Finding, Refused

_SAME_NAME = {"bootstrap.servers", "security.protocol", "client.rack"}
_LIBRDKAFKA_ONLY_PREFIXES = ("socket.", "log.", "topic.metadata.", "metadata.", "reconnect.", "statistics.")
_LIBRDKAFKA_ONLY = {
    "allow.auto.create.topics",
    "api.version.request",
    "auto.offset.reset",
    "broker.address.family",
    "client.id",
    "enable.auto.commit",
    "enable.partition.eof",
    "error_cb",
    "group.id",
    "isolation.level",
    "request.timeout.ms",
    "session.timeout.ms",
    "stats_cb",
    "throttle_cb",
}
_LOGIN_MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}
_TLS = {"ssl.ca.pem", "ssl.certificate.pem", "ssl.key.pem", "ssl.key.password"}
_SASL = {"sasl.mechanism", "sasl.mechanisms", "sasl.username", "sasl.password"}
_VERIFY = {"ssl.endpoint.identification.algorithm"}
SECRET_PROPERTIES = frozenset(
    {"sasl.jaas.config", "ssl.keystore.key", "ssl.key.password", "ssl.keystore.certificate.chain"}
)


def java_properties(connection: str, config: Mapping[str, object]) -> dict[str, str]:
    """Return the Java client properties of a connection's librdkafka settings.

    TLS material must be given inline (`ssl.ca.pem`, `ssl.certificate.pem`, `ssl.key.pem`): files named in a
    connection need not exist on the MirrorMaker host or on Spark's executors. Raises `Refused` with one
    `CONNECTION_INVALID` finding per setting that cannot be translated.
    """
    settings = {name: str(value) for name, value in config.items()}
    findings = [_untranslatable(connection, name) for name in sorted(settings) if not _translates(name)]
    mechanism = settings.get("sasl.mechanism", settings.get("sasl.mechanisms"))
    if mechanism is not None and mechanism not in _LOGIN_MODULES:
        findings.append(_untranslatable(connection, "sasl.mechanism", mechanism))
    if findings:
        raise Refused(findings)
    properties = {name: settings[name] for name in sorted(_SAME_NAME | _VERIFY) if name in settings}
    return {**properties, **_tls(settings), **_sasl(settings, mechanism)}


def spark_options(connection: str, config: Mapping[str, object]) -> dict[str, str]:
    """Return the options of Spark's Kafka reader: the Java properties, each with the prefix `kafka.`."""
    return {f"kafka.{name}": value for name, value in java_properties(connection, config).items()}


def _translates(name: str) -> bool:
    known = _SAME_NAME | _LIBRDKAFKA_ONLY | _TLS | _SASL | _VERIFY
    return name in known or name.startswith(_LIBRDKAFKA_ONLY_PREFIXES)


def _untranslatable(connection: str, name: str, shown: str = "a value") -> Finding:
    return Finding(
        Code.CONNECTION_INVALID,
        f"connection {connection}",
        f"setting {name} ({shown})",
        "settings that also exist for Java clients: bootstrap.servers, security.protocol, SASL PLAIN or SCRAM, "
        "and TLS material given inline as *.pem",
        "Write the setting in one of these forms; MirrorMaker and Spark would otherwise connect differently.",
    )


def _tls(settings: Mapping[str, str]) -> dict[str, str]:
    properties: dict[str, str] = {}
    if "ssl.ca.pem" in settings:
        properties |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": settings["ssl.ca.pem"]}
    if "ssl.key.pem" in settings:
        properties |= {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.key": settings["ssl.key.pem"],
            "ssl.keystore.certificate.chain": settings.get("ssl.certificate.pem", ""),
        }
    if "ssl.key.password" in settings:
        properties["ssl.key.password"] = settings["ssl.key.password"]
    return properties


def _sasl(settings: Mapping[str, str], mechanism: str | None) -> dict[str, str]:
    if mechanism is None:
        return {}
    user, password = (_jaas_quoted(settings.get(f"sasl.{part}", "")) for part in ("username", "password"))
    login = f"{_LOGIN_MODULES[mechanism]} required username={user} password={password};"
    return {"sasl.mechanism": mechanism, "sasl.jaas.config": login}


def _jaas_quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
