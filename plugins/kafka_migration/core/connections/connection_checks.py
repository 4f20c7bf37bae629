"""Checks of a Kafka connection before any client is created from it.

Pure rules on the settings as Airflow stores them. In this order: the form of each setting, the mechanism, settings that
contradict each other, disabled protections.
"""

from __future__ import annotations

import difflib
import math
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

from kafka_migration.core.connections.client_settings import (
    HOST_NAME_CHECK,
    KERBEROS,
    KERBEROS_FEATURE,
    LOGIN_SETTINGS,
    MECHANISMS,
    OAUTH,
    OAUTH_CALLBACK,
    OAUTH_ENDPOINT,
    PROTOCOLS,
    REFUSED,
    SETTINGS,
    UNSUPPORTED_MECHANISMS,
    VERIFICATION,
    Form,
)
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.migration.settings import Insecurity
from kafka_migration.core.text.secret_forms import HIDDEN, has_secret_form

Config = Mapping[str, object]

_SERVER = re.compile(r"(\[[0-9A-Fa-f:.]+(%\w+)?\]|[A-Za-z0-9._-]+):([0-9]{1,5})")
_MAX_PORT = 65_535
_MAX_SHOWN = 80
_TRUE, _FALSE = {"true", "t", "1"}, {"false", "f", "0"}
_LOGIN = ("sasl.mechanism", "sasl.mechanisms", *LOGIN_SETTINGS)
# A principal has a name, perhaps a host, and a realm. No text that JAAS or a shell would read.
_PATTERNS: Mapping[Form, re.Pattern[str]] = {
    "principal": re.compile(r"[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)?@[A-Za-z0-9._-]+"),
    "path": re.compile(r"(/[A-Za-z0-9._@+-]{1,255})+"),
    # It becomes a Java option of MirrorMaker: no comma, query or login.
    "https address": re.compile(r"https://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~-]{1,255})*/?"),
    "token method": re.compile("oidc"),
    "token extensions": re.compile(
        r"[A-Za-z]{1,100}=[A-Za-z0-9._:/-]{1,1000}(,[A-Za-z]{1,100}=[A-Za-z0-9._:/-]{1,1000})*"
    ),
}
_TLS = ("ssl.ca.pem", "ssl.certificate.pem", "ssl.key.pem", "ssl.key.password")


class _Problem(NamedTuple):
    """A problem with a connection; it never shows a value that may be a secret."""

    found: str
    expected: str
    remedy: str = "Correct the extra of the Airflow connection."
    code: Code = Code.CONNECTION_INVALID


def connection_findings(
    connection: str,
    config: Config,
    allowed: Collection[Insecurity],
    has_feature: Callable[[str], bool],
    token_endpoints: Collection[str] = (),
) -> tuple[Finding, ...]:
    """Return the findings that prevent creating a client from these settings.

    `allowed` are the protections that the migration file allows to be disabled. `has_feature` returns whether
    Airflow's Kafka client was built with a feature of librdkafka. `token_endpoints` are the addresses from which
    clients may fetch OAuth tokens.
    """
    problems = list(_form_problems(config))
    if not problems:
        problems = [
            *_mechanism_problems(config, has_feature),
            *(list(_login_problems(config)) or _endpoint_problems(config, token_endpoints)),
            *_tls_problems(config),
            *(_insecure(each) for each in insecurities(config) if each not in allowed),
        ]
    return tuple(_finding(connection, problem) for problem in problems)


def insecure_findings(connection: str, config: Config) -> tuple[Finding, ...]:
    """Return one finding for each protection that these settings disable, allowed or not."""
    return tuple(_finding(connection, _insecure(each)) for each in insecurities(config))


def insecurities(config: Config) -> tuple[Insecurity, ...]:
    """Return the protections that the settings disable."""
    found = []
    if protocol_of(config) == "SASL_PLAINTEXT":
        found.append(Insecurity.SASL_PLAINTEXT)
    if _text(config, HOST_NAME_CHECK).lower() == "none":
        found.append(Insecurity.NO_HOST_NAME_CHECK)
    return tuple(found)


def protocol_of(config: Config) -> str:
    """Return the security protocol in Java's spelling; Kafka's default if there is none."""
    return _text(config, "security.protocol").upper() or "PLAINTEXT"


def mechanism_of(config: Config) -> str:
    """Return the SASL mechanism; empty if none is named."""
    return _text(config, "sasl.mechanism") or _text(config, "sasl.mechanisms")


def _text(config: Config, name: str) -> str:
    return as_text(config.get(name)) or ""


def _finding(connection: str, problem: _Problem) -> Finding:
    return Finding(problem.code, f"connection {connection}", problem.found, problem.expected, problem.remedy)


def _form_problems(config: Config) -> Iterator[_Problem]:
    unknown = [problem for name in config for problem in _name_problems(name)]
    yield from unknown
    for name, value in config.items():
        if name in SETTINGS:
            yield from _value_problems(name, value)
    # A missing setting may be given under an unknown name.
    if "bootstrap.servers" not in config and not unknown:
        yield _Problem("no setting bootstrap.servers", 'a text such as "broker1:9092,broker2:9092"')


def _name_problems(name: str) -> Iterator[_Problem]:
    if name in REFUSED:
        yield _Problem(f"setting {name}: {REFUSED[name]}", "no such setting", "Remove it from the extra.")
    elif name not in SETTINGS:
        near = difflib.get_close_matches(name.strip().lower(), sorted(SETTINGS), n=1, cutoff=0.6)
        hint = f"Did you mean {near[0]}?" if near else "Remove it, or use an accepted setting instead."
        accepted = 'an accepted setting (the page "Installation", section "Kafka, source and target")'
        yield _Problem(f"unknown setting {_shown(name)}", accepted, hint)


def _value_problems(name: str, value: object) -> Iterator[_Problem]:
    text = as_text(value)
    if text is None:
        yield _Problem(f"setting {name}: {_kind(value)}", _EXPECTED[SETTINGS[name].form])
    else:
        yield from _text_problems(name, SETTINGS[name].form, text)


def as_text(value: object) -> str | None:
    """Return a setting's value as text for the client; `None` if it is not a text, a number or a boolean."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)) and math.isfinite(value):
        return str(value)
    return value if isinstance(value, str) else None


_EXPECTED: Mapping[Form, str] = {
    "text": "a text, a number, or true or false",
    "number": "a number",
    "truth": "true or false",
    "certificates": "a text with certificates in PEM (-----BEGIN CERTIFICATE----- …)",
    "private key": "a text with a private key in PEM (-----BEGIN PRIVATE KEY----- …)",
    "principal": "a principal with its realm, such as migration@EXAMPLE.COM",
    "path": "an absolute path, such as /etc/security/keytabs/migration.keytab",
    "https address": "an address such as https://login.example.com/oauth2/token",
    "token method": "oidc: the client fetches the tokens itself",
    "token extensions": "names and values, such as logicalCluster=lkc-1,identityPoolId=pool-2",
}


def _kind(value: object) -> str:
    """Return the JSON type of a value; the value itself may be a secret."""
    if value is None:
        return "null"
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else "a number that is not finite"


def _text_problems(name: str, form: Form, value: str) -> Iterator[_Problem]:
    is_pem = form in {"certificates", "private key"}
    if bad := _control_character(value, but="\r\n\t" if is_pem else ""):
        hint = "a text without control characters; a line break at its end often comes from a file"
        yield _Problem(f"setting {name}: the character U+{ord(bad):04X}", hint)
    elif not value.strip():
        yield _Problem(f"setting {name}: an empty text", f"{_EXPECTED[form]}, or no such setting")
    elif is_pem:
        yield from _pem_problems(name, form, value)
    elif form == "number" and not re.fullmatch(r"-?[0-9]{1,18}(\.[0-9]{1,9})?", value):
        yield _Problem(f"setting {name}: not a number", _EXPECTED[form])
    elif form == "truth" and value.lower() not in _TRUE | _FALSE:
        yield _Problem(f"setting {name}: neither true nor false", _EXPECTED[form])
    elif form in _PATTERNS and _PATTERNS[form].fullmatch(value) is None:
        yield _Problem(f"setting {name}: {_shown_if_harmless(form, value)}", _EXPECTED[form])
    else:
        yield from _choice_problems(name, value)


def _shown_if_harmless(form: Form, value: str) -> str:
    """Return a value as it may be shown: an address may contain a login, and other texts may be put in its place."""
    is_harmless = form in {"principal", "path"} or (form == "https address" and not set(value) & set("@?#"))
    return _shown(value) if is_harmless else "a value that does not have this form"


def _control_character(value: str, but: str) -> str:
    """Return the first character that a setting must not contain; lone surrogates cannot be encoded."""
    return next((c for c in value if c not in but and unicodedata.category(c) in {"Cc", "Cs"}), "")


def _pem_problems(name: str, form: Form, value: str) -> Iterator[_Problem]:
    label = "CERTIFICATE" if form == "certificates" else "PRIVATE KEY"
    if re.search(r"-----BEGIN [A-Z0-9 ]{0,40}" + label + "-----", value) is None:
        yield _Problem(f"setting {name}: no PEM block {label}", _EXPECTED[form])
    elif "\\n" in value or "\n" not in value.strip():
        hint = "PEM with real line breaks; in JSON each one is written as \\n"
        yield _Problem(f"setting {name}: PEM without line breaks", hint)


def _choice_problems(name: str, value: str) -> Iterator[_Problem]:
    if name == "bootstrap.servers":
        yield from _server_problems(value)
    elif name == "security.protocol" and value.upper() not in PROTOCOLS:
        yield _Problem(f"setting {name}: {_shown(value)}", f"one of {', '.join(PROTOCOLS)}", _near(value, PROTOCOLS))
    elif name == HOST_NAME_CHECK and value.lower() not in {"https", "none"}:
        yield _Problem(f"setting {name}: {_shown(value)}", "https (the default) or none")
    elif name == VERIFICATION and value.lower() in _FALSE:
        yield _Problem(
            f"setting {name}: false",
            "true, because Java clients (MirrorMaker and Spark) cannot disable it",
            "Put the CA certificate, or the brokers' self-signed certificate, in ssl.ca.pem.",
        )


def _server_problems(value: str) -> Iterator[_Problem]:
    for server in (part.strip() for part in value.split(",")):
        match = _SERVER.fullmatch(server)
        if match is None or not 0 < int(match[3]) <= _MAX_PORT:
            # A value with an @ may contain a login.
            shown = "a value with an @" if "@" in server else _shown(server)
            yield _Problem(f"setting bootstrap.servers: {shown}", "host:port, separated by commas")


def _mechanism_problems(config: Config, has_feature: Callable[[str], bool]) -> Iterator[_Problem]:
    names = {_text(config, name) for name in ("sasl.mechanism", "sasl.mechanisms")} - {""}
    if len(names) > 1:
        yield _Problem("different values for sasl.mechanism and sasl.mechanisms", "only one of the two settings")
    elif (mechanism := mechanism_of(config)) == KERBEROS:
        if not has_feature(KERBEROS_FEATURE):
            yield _without_kerberos()
    elif mechanism in UNSUPPORTED_MECHANISMS:
        why, instead = UNSUPPORTED_MECHANISMS[mechanism]
        yield _Problem(f"setting sasl.mechanism: {mechanism}; {why}", f"one of {', '.join(MECHANISMS)}", instead)
    elif mechanism and mechanism not in MECHANISMS:
        expected = f"one of {', '.join(MECHANISMS)}"
        yield _Problem(f"setting sasl.mechanism: {_shown(mechanism)}", expected, _near(mechanism, MECHANISMS))


def _without_kerberos() -> _Problem:
    return _Problem(
        f"setting sasl.mechanism: {KERBEROS}",
        "a Kafka client with Kerberos in Airflow's Python; the packages on PyPI have none",
        'Install confluent-kafka with Kerberos on every worker and the triggerer (the page "Installation", section '
        '"Kerberos"), or use SCRAM or a client certificate.',
        Code.KAFKA_CLIENT_WITHOUT_KERBEROS,
    )


def _login_problems(config: Config) -> Iterator[_Problem]:
    protocol, given = protocol_of(config), [name for name in _LOGIN if name in config]
    if not protocol.startswith("SASL_"):
        if given:
            yield _Problem(
                f"{', '.join(given)} with {_protocol_words(config)}: the login would not be used",
                "security.protocol SASL_SSL",
                "Set security.protocol to SASL_SSL, or remove the login.",
            )
        return
    mechanism = mechanism_of(config)
    if not mechanism:
        yield _Problem(f"security.protocol {protocol} without sasl.mechanism", f"one of {', '.join(MECHANISMS)}")
    elif mechanism in MECHANISMS:
        yield from _needs_problems(config, mechanism)


def _needs_problems(config: Config, mechanism: str) -> Iterator[_Problem]:
    needs, used = MECHANISMS[mechanism].needs, MECHANISMS[mechanism].settings
    given = [name for name in LOGIN_SETTINGS if name in config]
    # Instead of these settings, a function may return the tokens. Airflow's provider adds one for some services.
    by_function = mechanism == OAUTH and (OAUTH_CALLBACK in config or not given)
    missing = [name for name in needs if name not in given]
    if missing and not by_function:
        yield _Problem(f"sasl.mechanism {mechanism} without {' and '.join(missing)}", " and ".join(needs))
    if unused := [name for name in given if by_function or name not in used]:
        by = OAUTH_CALLBACK if by_function else mechanism
        yield _Problem(f"{', '.join(unused)}, which {by} does not use", "no such setting")


def _endpoint_problems(config: Config, allowed: Collection[str]) -> Iterator[_Problem]:
    endpoint = _text(config, OAUTH_ENDPOINT)
    if endpoint and endpoint not in allowed:
        yield _Problem(
            f"setting {OAUTH_ENDPOINT}: {_shown(endpoint)}",
            f"one of {', '.join(sorted(allowed))}" if allowed else "an address that Airflow's configuration allows",
            "Correct the address. If it is right, add it to token_endpoints in section [kafka_migration] of Airflow's "
            "configuration.",
            Code.TOKEN_ENDPOINT_NOT_ALLOWED,
        )


def _protocol_words(config: Config) -> str:
    return f"security.protocol {protocol_of(config)}" if "security.protocol" in config else "no security.protocol"


def _tls_problems(config: Config) -> Iterator[_Problem]:
    given = [name for name in _TLS if name in config]
    if given and not protocol_of(config).endswith("SSL"):
        yield _Problem(
            f"{', '.join(given)} with {_protocol_words(config)}: nothing would be encrypted",
            "security.protocol SSL or SASL_SSL",
            "Set security.protocol, or remove the TLS settings.",
        )
    pair = [name for name in ("ssl.certificate.pem", "ssl.key.pem") if name in config]
    if len(pair) == 1:
        yield _Problem(f"only {pair[0]}", "both ssl.certificate.pem and ssl.key.pem, or neither")
    key, has_password = _text(config, "ssl.key.pem"), "ssl.key.password" in config
    if "ENCRYPTED" in key and not has_password:
        yield _Problem("an encrypted ssl.key.pem without ssl.key.password", "its password, or an unencrypted key")
    elif has_password and "ENCRYPTED" not in key:
        yield _Problem("ssl.key.password without an encrypted ssl.key.pem", "both, or no password")


def _insecure(each: Insecurity) -> _Problem:
    found, expected = _GIVEN_UP[each]
    return _Problem(
        found,
        expected,
        f"Correct the connection, or allow this in the migration file with `insecure: [{each}]` in the cluster's "
        'section (the page "Installation", section "Kafka, source and target").',
        Code.CONNECTION_INSECURE,
    )


_GIVEN_UP: Mapping[Insecurity, tuple[str, str]] = {
    Insecurity.SASL_PLAINTEXT: ("security.protocol SASL_PLAINTEXT: login and records are not encrypted", "SASL_SSL"),
    Insecurity.NO_HOST_NAME_CHECK: (
        f"{HOST_NAME_CHECK} none: any host with a trusted certificate can pose as a broker",
        "https (the default)",
    ),
}


def _near(value: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(value.strip().upper(), known, n=1, cutoff=0.5)
    return f"Did you mean {near[0]}?" if near else "Correct the extra of the Airflow connection."


def _shown(value: str) -> str:
    if has_secret_form(value):
        return HIDDEN
    shown = ascii(value)
    return shown if len(shown) <= _MAX_SHOWN else f"{shown[: _MAX_SHOWN - 1]}…"
