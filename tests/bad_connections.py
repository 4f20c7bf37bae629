"""Kafka connections that are wrong: what stands in the extra, and what the one finding must name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from kafka_migration.airflow_adapters.airflow_connections import has_feature
from kafka_migration.core.connections.client_settings import KERBEROS_FEATURE

INVALID, INSECURE, KERBEROS = "CONNECTION_INVALID", "CONNECTION_INSECURE", "KAFKA_CLIENT_WITHOUT_KERBEROS"
KERBEROS_LOGIN = {
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "GSSAPI",
    "sasl.kerberos.principal": "me@EXAMPLE.COM",
    "sasl.kerberos.keytab": "/etc/me.keytab",
}
MISSING = "CONNECTION_MISSING"
# No finding may show it: it stands wherever a secret may stand.
CANARY = "CANARY-4711"
OAUTH_LOGIN = {
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "OAUTHBEARER",
    "sasl.oauthbearer.client.id": "me",
    "sasl.oauthbearer.client.secret": CANARY,
    "sasl.oauthbearer.token.endpoint.url": "https://169.254.169.254/token",
}
PLAIN = {"sasl.mechanism": "PLAIN", "sasl.username": "u", "sasl.password": CANARY}
LOGIN = {"security.protocol": "SASL_SSL", **PLAIN}
TLS = {"security.protocol": "SSL"}
NAME = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "broker")])


@cache
def key_pair(encrypted: bool = False) -> tuple[str, str]:
    """Return a key and its own certificate in PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    lock = serialization.BestAvailableEncryption(b"good") if encrypted else serialization.NoEncryption()
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, lock)
    now = datetime.now(UTC)
    made = x509.CertificateBuilder(NAME, NAME, key.public_key(), 1, now, now + timedelta(days=1))
    return pem.decode(), made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()


def other_key() -> str:
    """Return a key that belongs to no certificate."""
    key = ec.generate_private_key(ec.SECP256R1())
    pkcs8 = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, pkcs8, serialization.NoEncryption()).decode()


KEY, CERTIFICATE = key_pair()
LOCKED_KEY, LOCKED_CERTIFICATE = key_pair(encrypted=True)
BAD_PEM = f"-----BEGIN CERTIFICATE-----\n{CANARY}\n-----END CERTIFICATE-----\n"
BAD_KEY = f"-----BEGIN PRIVATE KEY-----\n{CANARY}\n-----END PRIVATE KEY-----\n"

# Without `bootstrap.servers` in a case, a good one is added; `None` leaves it out.
CASES: Mapping[str, tuple[dict[str, Any], str, str]] = {
    # The form of an address
    "no servers": ({"bootstrap.servers": None}, INVALID, "bootstrap.servers"),
    "a list of servers": ({"bootstrap.servers": ["a:1"]}, INVALID, "bootstrap.servers with a list"),
    "a number as server": ({"bootstrap.servers": 9092}, INVALID, "bootstrap.servers with '9092'"),
    "an object as server": ({"bootstrap.servers": {"host": "a"}}, INVALID, "bootstrap.servers with an object"),
    "no text of servers": ({"bootstrap.servers": ""}, INVALID, "bootstrap.servers with an empty text"),
    "blanks": ({"bootstrap.servers": "   "}, INVALID, "bootstrap.servers with an empty text"),
    "no port": ({"bootstrap.servers": "broker"}, INVALID, "bootstrap.servers with 'broker'"),
    "port 0": ({"bootstrap.servers": "a:0"}, INVALID, "bootstrap.servers with 'a:0'"),
    "port too high": ({"bootstrap.servers": "a:70000"}, INVALID, "bootstrap.servers with 'a:70000'"),
    "port of letters": ({"bootstrap.servers": "a:kafka"}, INVALID, "bootstrap.servers with 'a:kafka'"),
    "a protocol before": ({"bootstrap.servers": "PLAINTEXT://a:1"}, INVALID, "bootstrap.servers with 'PLAINTEXT"),
    "a web address": ({"bootstrap.servers": "https://a:443/x"}, INVALID, "bootstrap.servers with 'https"),
    "blanks between": ({"bootstrap.servers": "a:1 b:2"}, INVALID, "bootstrap.servers with 'a:1 b:2'"),
    "semicolons": ({"bootstrap.servers": "a:1;b:2"}, INVALID, "bootstrap.servers with 'a:1;b:2'"),
    "trailing comma": ({"bootstrap.servers": "a:1,"}, INVALID, "bootstrap.servers with ''"),
    "a login before": ({"bootstrap.servers": f"u:{CANARY}@a:1"}, INVALID, "bootstrap.servers with a value with an @"),
    "line break in servers": ({"bootstrap.servers": "a:1\n"}, INVALID, "bootstrap.servers with the character U+000A"),
    "bare IPv6": ({"bootstrap.servers": "::1:9092"}, INVALID, "bootstrap.servers with '::1:9092'"),
    # Names
    "a slip in a name": (
        {"bootstrap.server": "a:1", "bootstrap.servers": None},
        INVALID,
        "unknown setting 'bootstrap.server'",
    ),
    "underscores": ({"sasl_password": CANARY}, INVALID, "unknown setting 'sasl_password'"),
    "Java's name": ({"sasl.jaas.config": f'x required password="{CANARY}";'}, INVALID, "sasl.jaas.config"),
    "Java's trust store": ({"ssl.truststore.location": "/x"}, INVALID, "It is refused because it is a Java setting"),
    "a name of its own": ({"some.future.setting": "x"}, INVALID, "unknown setting 'some.future.setting'"),
    "an empty name": ({"": "x"}, INVALID, "unknown setting ''"),
    "a name with an escape": ({"\x1b]0;evil": "x"}, INVALID, "\\x1b]0;evil"),
    "the old name": ({"metadata.broker.list": "evil:1"}, INVALID, "metadata.broker.list"),
    # What would load code, run commands, read files or addresses
    "a plugin": ({"plugin.library.paths": "/tmp/evil.so"}, INVALID, "plugin.library.paths"),
    "an engine": ({"ssl.engine.location": "/tmp/evil.so"}, INVALID, "ssl.engine.location"),
    "a provider": ({"ssl.providers": "/tmp/evil"}, INVALID, "ssl.providers"),
    "a command": ({"sasl.kerberos.kinit.cmd": "touch /tmp/evil"}, INVALID, "sasl.kerberos.kinit.cmd"),
    "a file of authorities": ({**TLS, "ssl.ca.location": "/etc/shadow"}, INVALID, "ssl.ca.location"),
    "a file with a key": ({**TLS, "ssl.key.location": "/etc/shadow"}, INVALID, "ssl.key.location"),
    "a key store": ({**TLS, "ssl.keystore.location": "/etc/shadow"}, INVALID, "ssl.keystore.location"),
    "an address for tokens without encryption": (
        {**OAUTH_LOGIN, "sasl.oauthbearer.token.endpoint.url": "http://169.254.169.254/"},
        INVALID,
        "sasl.oauthbearer.token.endpoint.url with 'http://169.254.169.254/'",
    ),
    "a file for tokens": (
        {**OAUTH_LOGIN, "sasl.oauthbearer.token.endpoint.url": "file:///etc/shadow"},
        INVALID,
        "sasl.oauthbearer.token.endpoint.url with 'file",
    ),
    "two addresses for tokens": (
        {**OAUTH_LOGIN, "sasl.oauthbearer.token.endpoint.url": "https://a/token,file:///x"},
        INVALID,
        "sasl.oauthbearer.token.endpoint.url with 'https",
    ),
    "a login in the address for tokens": (
        {**OAUTH_LOGIN, "sasl.oauthbearer.token.endpoint.url": f"https://me:{CANARY}@a/token"},
        INVALID,
        "sasl.oauthbearer.token.endpoint.url with a value that does not",
    ),
    "a secret in the address for tokens": (
        {**OAUTH_LOGIN, "sasl.oauthbearer.token.endpoint.url": f"https://a/token?client_secret={CANARY}"},
        INVALID,
        "sasl.oauthbearer.token.endpoint.url with a value that does not",
    ),
    "an address for tokens that is not allowed": (
        OAUTH_LOGIN,
        "TOKEN_ENDPOINT_NOT_ALLOWED",
        "https://169.254.169.254/token",
    ),
    "a file of authorities for tokens": ({**OAUTH_LOGIN, "https.ca.location": "/x"}, INVALID, "https.ca.location"),
    "tokens without a signature": (
        {**OAUTH_LOGIN, "sasl.oauthbearer.method": "default"},
        INVALID,
        "sasl.oauthbearer.method with a value that does not",
    ),
    "an extension that ends JAAS": (
        {**OAUTH_LOGIN, "sasl.oauthbearer.extensions": 'a=b"; x'},
        INVALID,
        "sasl.oauthbearer.extensions",
    ),
    "OAuth without a secret": (
        {name: text for name, text in OAUTH_LOGIN.items() if not name.endswith("secret")},
        INVALID,
        "OAUTHBEARER and lacks sasl.oauthbearer.client.secret",
    ),
    "OAuth in the clear": ({**OAUTH_LOGIN, "security.protocol": "PLAINTEXT"}, INVALID, "would not be used"),
    "OAuth by a function and by an address": (
        {**OAUTH_LOGIN, "oauth_cb": "a.b"},
        INVALID,
        "which oauth_cb does not use",
    ),
    "a login of AWS": (
        {"security.protocol": "SASL_SSL", "sasl.mechanism": "AWS_MSK_IAM"},
        INVALID,
        "because it needs a library of AWS",
    ),
    "a function that is not allowed": ({"error_cb": "os.system"}, INVALID, "error_cb"),
    "debugging": ({"debug": "all"}, INVALID, "debug"),
    # Values
    "null": ({"client.id": None}, INVALID, "client.id with null"),
    "a list as value": ({"client.id": ["x"]}, INVALID, "client.id with a list"),
    "an object as value": ({**LOGIN, "sasl.password": {"x": CANARY}}, INVALID, "sasl.password with an object"),
    "not finite": ({"socket.timeout.ms": float("nan")}, INVALID, "socket.timeout.ms with a number that is not finite"),
    "a word as number": ({"socket.timeout.ms": "soon"}, INVALID, "socket.timeout.ms with a value that is no number"),
    "truth as number": ({"socket.timeout.ms": True}, INVALID, "socket.timeout.ms with a value that is no number"),
    "out of range": ({"socket.timeout.ms": -5}, INVALID, "socket.timeout.ms"),
    "neither true nor false": (
        {"socket.keepalive.enable": "perhaps"},
        INVALID,
        "socket.keepalive.enable with a value that is neither",
    ),
    "a choice that is none": ({"broker.address.family": "v5"}, INVALID, "broker.address.family"),
    "a line break at the end": (
        {**LOGIN, "sasl.password": f"{CANARY}\n"},
        INVALID,
        "sasl.password with the character U+000A",
    ),
    "a NUL": ({**LOGIN, "sasl.password": f"{CANARY}\0"}, INVALID, "sasl.password with the character U+0000"),
    # What Airflow itself cannot read, it does not show at all.
    "half a letter": ({"client.id": "\ud800"}, MISSING, "Airflow has no connection"),
    "an empty password": ({**LOGIN, "sasl.password": ""}, INVALID, "sasl.password with an empty text"),
    # Protocol and mechanism
    "a protocol that is none": ({"security.protocol": "TLS"}, INVALID, "security.protocol with 'TLS'"),
    "a mechanism in small letters": ({**LOGIN, "sasl.mechanism": "plain"}, INVALID, "sasl.mechanism with 'plain'"),
    "a slip in a mechanism": (
        {**LOGIN, "sasl.mechanism": "SCRAM-SHA512"},
        INVALID,
        "sasl.mechanism with 'SCRAM-SHA512'",
    ),
    "two mechanisms": ({**LOGIN, "sasl.mechanisms": "SCRAM-SHA-512"}, INVALID, "sasl.mechanism and sasl.mechanisms"),
    "Kerberos": (KERBEROS_LOGIN, KERBEROS, "GSSAPI"),
    "a realm without a name": ({**KERBEROS_LOGIN, "sasl.kerberos.principal": "@R"}, INVALID, "sasl.kerberos.principal"),
    "a principal that ends JAAS": (
        {**KERBEROS_LOGIN, "sasl.kerberos.principal": 'a@R" debug=true; x'},
        INVALID,
        "sasl.kerberos.principal",
    ),
    "a keytab without a folder": (
        {**KERBEROS_LOGIN, "sasl.kerberos.keytab": "me.keytab"},
        INVALID,
        "sasl.kerberos.keytab",
    ),
    "a ticket that Airflow renews": (
        {**KERBEROS_LOGIN, "sasl.kerberos.min.time.before.relogin": 60000},
        INVALID,
        "sasl.kerberos.min.time.before.relogin",
    ),
    "Kerberos without encryption or declaration": (
        {"sasl.kerberos.principal": "me@R"},
        INVALID,
        "sasl.kerberos.principal",
    ),
    "OAuth without tokens": (
        {"security.protocol": "SASL_SSL", "sasl.mechanism": "OAUTHBEARER"},
        INVALID,
        "OAUTHBEARER",
    ),
    # Contradictions
    "a login without protocol": (
        PLAIN,
        INVALID,
        "with no security.protocol",
    ),
    "a login over PLAINTEXT": ({**LOGIN, "security.protocol": "PLAINTEXT"}, INVALID, "security.protocol PLAINTEXT"),
    "a login over TLS alone": ({**LOGIN, "security.protocol": "ssl"}, INVALID, "security.protocol SSL"),
    "no mechanism": ({"security.protocol": "SASL_SSL"}, INVALID, "and no sasl.mechanism"),
    "no user": ({**TLS, **LOGIN, "sasl.username": None}, INVALID, "lacks sasl.username"),
    "no password": ({**LOGIN, "sasl.password": None}, INVALID, "lacks sasl.password"),
    "no login at all": (
        {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN"},
        INVALID,
        "lacks sasl.username and sasl.password",
    ),
    "TLS material without TLS": ({"ssl.ca.pem": CERTIFICATE}, INVALID, "nothing would be encrypted"),
    "a key alone": ({**TLS, "ssl.key.pem": KEY}, INVALID, "only ssl.key.pem"),
    "a certificate alone": ({**TLS, "ssl.certificate.pem": CERTIFICATE}, INVALID, "only ssl.certificate.pem"),
    "a locked key": (
        {**TLS, "ssl.key.pem": LOCKED_KEY, "ssl.certificate.pem": LOCKED_CERTIFICATE},
        INVALID,
        "without ssl.key.password",
    ),
    "a password for an open key": (
        {**TLS, "ssl.key.pem": KEY, "ssl.certificate.pem": CERTIFICATE, "ssl.key.password": CANARY},
        INVALID,
        "without an encrypted ssl.key.pem",
    ),
    # PEM
    "no PEM": ({**TLS, "ssl.ca.pem": "CA"}, INVALID, "ssl.ca.pem with no PEM block CERTIFICATE"),
    "a path as PEM": ({**TLS, "ssl.ca.pem": "/etc/ca.pem"}, INVALID, "ssl.ca.pem with no PEM block CERTIFICATE"),
    "PEM in one line": (
        {**TLS, "ssl.ca.pem": CERTIFICATE.replace("\n", "\\n")},
        INVALID,
        "ssl.ca.pem with PEM without",
    ),
    "a key as certificate": ({**TLS, "ssl.ca.pem": KEY}, INVALID, "ssl.ca.pem with no PEM block CERTIFICATE"),
    "broken PEM": ({**TLS, "ssl.ca.pem": BAD_PEM}, INVALID, "setting ssl.ca.pem"),
    "a broken key": (
        {**TLS, "ssl.key.pem": BAD_KEY, "ssl.certificate.pem": CERTIFICATE},
        INVALID,
        "setting ssl.key.pem",
    ),
    "another's key": ({**TLS, "ssl.key.pem": other_key(), "ssl.certificate.pem": CERTIFICATE}, INVALID, "key"),
    "a wrong password": (
        {**TLS, "ssl.key.pem": LOCKED_KEY, "ssl.certificate.pem": LOCKED_CERTIFICATE, "ssl.key.password": CANARY},
        INVALID,
        "setting ssl.key.pem",
    ),
    # Protections that are given up
    "SASL in the clear": ({**LOGIN, "security.protocol": "SASL_PLAINTEXT"}, INSECURE, "SASL_PLAINTEXT"),
    "no look at the name": ({**TLS, "ssl.endpoint.identification.algorithm": "none"}, INSECURE, "none"),
    "no look at the name, in capitals": ({**TLS, "ssl.endpoint.identification.algorithm": "NONE"}, INSECURE, "none"),
    "a check of names that is none": (
        {**TLS, "ssl.endpoint.identification.algorithm": "http"},
        INVALID,
        "ssl.endpoint.identification.algorithm with 'http'",
    ),
    "no verification": ({**TLS, "enable.ssl.certificate.verification": False}, INVALID, "verification with false"),
    "no verification, as text": (
        {**TLS, "enable.ssl.certificate.verification": "False"},
        INVALID,
        "verification with false",
    ),
    "no verification, as number": (
        {**TLS, "enable.ssl.certificate.verification": 0},
        INVALID,
        "verification with false",
    ),
}
# What is left out of a case's own settings by giving none: the login's parts above.
_LEFT_OUT = {"bootstrap.servers", "sasl.username", "sasl.password"}
# What is no object of settings at all, as Airflow's variable for a connection has it.
TEXTS: Mapping[str, tuple[str, str, str]] = {
    "no JSON": (json.dumps({"conn_type": "kafka", "extra": "{oops"}), INVALID, "an extra that is not valid JSON"),
    "a list": (json.dumps({"conn_type": "kafka", "extra": "[1]"}), INVALID, "an extra that is not a JSON object"),
    "no extra": (json.dumps({"conn_type": "kafka"}), INVALID, "no setting bootstrap.servers"),
    "nested": (json.dumps({"conn_type": "kafka", "extra": "[" * 9_999}), MISSING, "Airflow has no connection"),
    "a name twice": (
        json.dumps({"conn_type": "kafka", "extra": '{"client.id":"a","client.id":"b"}'}),
        INVALID,
        "setting 'client.id' twice",
    ),
    "another type": (json.dumps({"conn_type": "ssh"}), INVALID, "type ssh"),
}


def connection_text(case: str, address: str) -> tuple[str, str, str]:
    """Return a case as Airflow's variable of a connection, with the code and the text of its finding."""
    if case in TEXTS:
        return TEXTS[case]
    settings, code, named = CASES[case]
    wanted = {"bootstrap.servers": address, **settings}
    extra = {name: value for name, value in wanted.items() if value is not None or name not in _LEFT_OUT}
    return json.dumps({"conn_type": "kafka", "extra": json.dumps(extra)}), code, named


# A client that was built with Kerberos can use this one.
USABLE = {"Kerberos"} if has_feature(KERBEROS_FEATURE) else set()
ALL = tuple(case for case in (*CASES, *TEXTS) if case not in USABLE)
