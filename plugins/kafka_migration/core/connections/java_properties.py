"""Translation of a Kafka connection (librdkafka settings) into Java client and Spark reader properties.

Airflow's `kafka` connection holds librdkafka names. MirrorMaker and Spark's Kafka source are Java clients. The
settings for addresses, login and encryption are translated; those that only tune librdkafka are dropped. A
setting that can be neither translated nor dropped is refused, because dropping it could mean an unencrypted
or unauthenticated connection.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from kafka_migration.core.connections.client_settings import (
    HOST_NAME_CHECK,
    SETTINGS,
    VERIFICATION,
    Problem,
    as_text,
    text_of,
)
from kafka_migration.core.connections.connection_checks import protocol_of
from kafka_migration.core.connections.mechanisms import MECHANISMS, mechanism_of
from kafka_migration.core.findings.errors import Finding, Refused

# The older key formats name the algorithm in the PEM label. PKCS#8 has it inside the key.
_OLD_KEY = re.compile("-----BEGIN (?:RSA|EC|DSA) PRIVATE KEY-----")


def java_properties(connection: str, config: Mapping[str, object]) -> dict[str, str]:
    """Return the Java client properties of a connection's librdkafka settings.

    TLS material must be given inline (`ssl.ca.pem`, `ssl.certificate.pem`, `ssl.key.pem`): files named in a
    connection need not exist on the MirrorMaker host or on Spark's executors. Raises `Refused` with one
    `CONNECTION_INVALID` finding per setting that cannot be translated.
    """
    settings = {name: as_text(value) or "" for name, value in config.items()}
    if findings := java_findings(connection, config):
        raise Refused(findings)
    properties = {name: settings[name] for name in sorted(settings) if SETTINGS[name].in_java == "same"}
    if "security.protocol" in settings:
        properties["security.protocol"] = protocol_of(settings)
    if HOST_NAME_CHECK in settings:
        # Java has no value `none`; it uses an empty text.
        properties[HOST_NAME_CHECK] = settings[HOST_NAME_CHECK].lower().replace("none", "")
    mechanism = mechanism_of(settings)
    login = MECHANISMS[mechanism].java(settings) if mechanism else {}
    return {**properties, **_tls(settings), **login}


def java_findings(connection: str, config: Mapping[str, object]) -> tuple[Finding, ...]:
    """Return one `CONNECTION_INVALID` finding for each setting that has no Java counterpart."""
    problems = [_untranslatable(name) for name in sorted(config) if not _translates(name, config[name])]
    mechanism = mechanism_of(config)
    if mechanism and (mechanism not in MECHANISMS or not MECHANISMS[mechanism].has_java(config)):
        problems.append(_untranslatable("sasl.mechanism", mechanism))
    if _OLD_KEY.search(text_of(config, "ssl.key.pem")):
        problems.append(_OLD_KEY_PROBLEM)
    problems += [_reference(name) for name in sorted(config) if _has_reference(name, config[name])]
    return tuple(problem.finding(connection) for problem in problems)


def spark_options(connection: str, config: Mapping[str, object]) -> dict[str, str]:
    """Return the options of Spark's Kafka reader: the Java properties, each with the prefix `kafka.`."""
    return {f"kafka.{name}": value for name, value in java_properties(connection, config).items()}


def _translates(name: str, value: object) -> bool:
    if name == VERIFICATION and (as_text(value) or "").lower() not in {"true", "t", "1"}:
        return False
    return name in SETTINGS and SETTINGS[name].in_java != "none"


def _has_reference(name: str, value: object) -> bool:
    return name in SETTINGS and SETTINGS[name].in_java != "left" and "${" in (as_text(value) or "")


def _untranslatable(name: str, value: str = "a value") -> Problem:
    translated = (
        "bootstrap.servers, security.protocol, SASL PLAIN, SCRAM, GSSAPI or OAUTHBEARER with a token endpoint, and TLS "
        "material given inline as *.pem"
    )
    return Problem(
        f"has the setting {name} ({value}), which Java clients cannot get",
        f"setting {name} ({value})",
        f"settings that also exist for Java clients: {translated}",
        f"Use settings that Java clients have, too: {translated}.",
        "MirrorMaker and Spark would connect otherwise than Airflow, perhaps without a login or encryption.",
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


def _reference(name: str) -> Problem:
    return Problem(
        f"has the setting {name} with a value that contains ${{",
        f"setting {name}: a value with ${{",
        "a value without ${; MirrorMaker reads it as a reference, and would put the content of a file, such as the "
        "other cluster's password, in its place",
        "Choose another value, for example another password.",
        "MirrorMaker reads it as a reference, and would put the content of a file, such as the other cluster's "
        "password, in its place.",
    )


_OLD_KEY_PROBLEM = Problem(
    "has an ssl.key.pem in PKCS#1 or SEC1",
    "setting ssl.key.pem: a key in PKCS#1 or SEC1, which Java cannot read",
    "a key in PKCS#8 (-----BEGIN PRIVATE KEY----- or -----BEGIN ENCRYPTED PRIVATE KEY-----)",
    "Convert it to PKCS#8: openssl pkcs8 -topk8 -in key.pem, with -nocrypt if it has no password.",
    "Java cannot read such a key, so MirrorMaker and Spark could not log in.",
)
