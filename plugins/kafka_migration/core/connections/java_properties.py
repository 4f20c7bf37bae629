"""Translation of a Kafka connection (librdkafka settings) into Java client and Spark reader properties.

Airflow's `kafka` connection holds librdkafka names. MirrorMaker and Spark's Kafka source are Java clients. The
settings for addresses, login and encryption are translated; those that only tune librdkafka are dropped. A
setting that can be neither translated nor dropped is refused, because dropping it could mean an unencrypted
or unauthenticated connection.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from kafka_migration.core.connections.client_settings import (
    DEFAULT_KERBEROS_SERVICE,
    HOST_NAME_CHECK,
    KERBEROS,
    KERBEROS_SERVICE,
    MECHANISMS,
    OAUTH,
    OAUTH_ENDPOINT,
    SETTINGS,
    VERIFICATION,
)
from kafka_migration.core.connections.connection_checks import as_text, mechanism_of, protocol_of
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused

# The older key formats name the algorithm in the PEM label. PKCS#8 has it inside the key.
_OLD_KEY = re.compile("-----BEGIN (?:RSA|EC|DSA) PRIVATE KEY-----")
SECRET_PROPERTIES = frozenset(
    {"sasl.jaas.config", "ssl.keystore.key", "ssl.key.password", "ssl.keystore.certificate.chain"}
)


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
    return {**properties, **_tls(settings), **_sasl(settings)}


def java_findings(connection: str, config: Mapping[str, object]) -> tuple[Finding, ...]:
    """Return one `CONNECTION_INVALID` finding for each setting that has no Java counterpart."""
    findings = [_untranslatable(connection, name) for name in sorted(config) if not _translates(name, config[name])]
    mechanism = mechanism_of(config)
    is_without_address = mechanism == OAUTH and OAUTH_ENDPOINT not in config
    if mechanism and (mechanism not in MECHANISMS or is_without_address):
        findings.append(_untranslatable(connection, "sasl.mechanism", mechanism))
    if _OLD_KEY.search(as_text(config.get("ssl.key.pem")) or ""):
        findings.append(_old_key(connection))
    findings += [_reference(connection, name) for name in sorted(config) if _has_reference(name, config[name])]
    return tuple(findings)


def spark_options(connection: str, config: Mapping[str, object]) -> dict[str, str]:
    """Return the options of Spark's Kafka reader: the Java properties, each with the prefix `kafka.`."""
    return {f"kafka.{name}": value for name, value in java_properties(connection, config).items()}


def _translates(name: str, value: object) -> bool:
    if name == VERIFICATION and (as_text(value) or "").lower() not in {"true", "t", "1"}:
        return False
    return name in SETTINGS and SETTINGS[name].in_java != "none"


def _has_reference(name: str, value: object) -> bool:
    return name in SETTINGS and SETTINGS[name].in_java != "left" and "${" in (as_text(value) or "")


def _untranslatable(connection: str, name: str, shown: str = "a value") -> Finding:
    return Finding(
        Code.CONNECTION_INVALID,
        f"connection {connection}",
        f"setting {name} ({shown})",
        "settings that also exist for Java clients: bootstrap.servers, security.protocol, SASL PLAIN, SCRAM, "
        "GSSAPI or OAUTHBEARER with a token endpoint, and TLS material given inline as *.pem",
        "Use one of these settings. Otherwise MirrorMaker and Spark would connect differently.",
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


def _sasl(settings: Mapping[str, str]) -> dict[str, str]:
    mechanism = mechanism_of(settings)
    if not mechanism:
        return {}
    if mechanism in _BUILT:
        return _BUILT[mechanism](settings)
    user, password = (settings.get(f"sasl.{part}", "") for part in ("username", "password"))
    return {
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": jaas_line(MECHANISMS[mechanism].login_module, user, password),
    }


def _kerberos(settings: Mapping[str, str]) -> dict[str, str]:
    """Return a login from a keytab on the machine of the client; it needs no ticket and asks nothing."""
    keytab, principal = (jaas_quoted(settings[f"sasl.kerberos.{part}"]) for part in ("keytab", "principal"))
    module = MECHANISMS[KERBEROS].login_module
    return {
        "sasl.mechanism": KERBEROS,
        KERBEROS_SERVICE: settings.get(KERBEROS_SERVICE, DEFAULT_KERBEROS_SERVICE),
        "sasl.jaas.config": f"{module} required useKeyTab=true storeKey=true doNotPrompt=true keyTab={keytab} "
        f"principal={principal};",
    }


def _oauth(settings: Mapping[str, str]) -> dict[str, str]:
    """Return a login whose tokens the client fetches; the login handler takes its TLS settings from the JAAS line."""
    options = {option: settings[name] for name, option in _OAUTH_OPTIONS.items() if name in settings}
    for extension in settings.get("sasl.oauthbearer.extensions", "").split(","):
        name, _, value = extension.partition("=")
        options |= {f"extension_{name}": value} if name else {}
    if "https.ca.pem" in settings:
        options |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": settings["https.ca.pem"]}
    words = " ".join(f"{name}={jaas_quoted(value)}" for name, value in options.items())
    return {
        "sasl.mechanism": OAUTH,
        "sasl.login.callback.handler.class": _OAUTH_HANDLER,
        OAUTH_ENDPOINT: settings[OAUTH_ENDPOINT],
        "sasl.jaas.config": f"{MECHANISMS[OAUTH].login_module} required {words};",
    }


# In Kafka 3.7 and later; earlier versions have it in another package.
_OAUTH_HANDLER = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"
_OAUTH_OPTIONS = {
    "sasl.oauthbearer.client.id": "clientId",
    "sasl.oauthbearer.client.secret": "clientSecret",
    "sasl.oauthbearer.scope": "scope",
}
_BUILT: Mapping[str, Callable[[Mapping[str, str]], dict[str, str]]] = {KERBEROS: _kerberos, OAUTH: _oauth}


def jaas_line(login_module: str, user: str, password: str) -> str:
    """Return the JAAS configuration line of a Java client."""
    return f"{login_module} required username={jaas_quoted(user)} password={jaas_quoted(password)};"


def jaas_quoted(text: str) -> str:
    """Return a text quoted for JAAS; a line break is written as an escape, because a JAAS text has one line."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\r", "").replace("\n", "\\n")
    return f'"{escaped}"'


def _reference(connection: str, name: str) -> Finding:
    return Finding(
        Code.CONNECTION_INVALID,
        f"connection {connection}",
        f"setting {name}: a value with ${{",
        "a value without ${; MirrorMaker reads it as a reference, and would put the content of a file, such as the "
        "other cluster's password, in its place",
        "Choose another value, for example another password.",
    )


def _old_key(connection: str) -> Finding:
    return Finding(
        Code.CONNECTION_INVALID,
        f"connection {connection}",
        "setting ssl.key.pem: a key in PKCS#1 or SEC1, which Java cannot read",
        "a key in PKCS#8 (-----BEGIN PRIVATE KEY----- or -----BEGIN ENCRYPTED PRIVATE KEY-----)",
        "Convert it: openssl pkcs8 -topk8 -in key.pem, with -nocrypt if it has no password.",
    )
