"""Checks of a Kafka connection before any client is created from it.

Pure rules on the settings as Airflow stores them. In this order: the form of each setting, the mechanism, settings that
contradict each other, disabled protections.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping

from kafka_migration.core.connections.client_settings import (
    HOST_NAME_CHECK,
    IN_EXTRA,
    PROTOCOLS,
    REFUSED,
    SETTINGS,
    UNSUPPORTED_MECHANISMS,
    VERIFICATION,
    Config,
    Form,
    Problem,
    as_text,
    of_settings,
    of_value,
    shown,
    text_of,
)
from kafka_migration.core.connections.mechanisms import LOGIN_SETTINGS, MECHANISMS, ClientAbilities, mechanism_of
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.migration.settings import Insecurity
from kafka_migration.core.text.shortened import capitalized

_SERVER = re.compile(r"(\[[0-9A-Fa-f:.]+(%\w+)?\]|[A-Za-z0-9._-]+):([0-9]{1,5})")
_MAX_PORT = 65_535
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
            *_mechanism_problems(config),
            *_login_problems(config, ClientAbilities(has_feature, token_endpoints)),
            *_tls_problems(config),
            *(_insecure(each) for each in insecurities(config) if each not in allowed),
        ]
    return tuple(problem.finding(connection) for problem in problems)


def insecure_findings(connection: str, config: Config) -> tuple[Finding, ...]:
    """Return one finding for each protection that these settings disable, allowed or not."""
    return tuple(_insecure(each).finding(connection) for each in insecurities(config))


def insecurities(config: Config) -> tuple[Insecurity, ...]:
    """Return the protections that the settings disable."""
    found = []
    if protocol_of(config) == "SASL_PLAINTEXT":
        found.append(Insecurity.SASL_PLAINTEXT)
    if text_of(config, HOST_NAME_CHECK).lower() == "none":
        found.append(Insecurity.NO_HOST_NAME_CHECK)
    return tuple(found)


def protocol_of(config: Config) -> str:
    """Return the security protocol in Java's spelling; Kafka's default if there is none."""
    return text_of(config, "security.protocol").upper() or "PLAINTEXT"


def _form_problems(config: Config) -> Iterator[Problem]:
    unknown = [problem for name in config for problem in _name_problems(name)]
    yield from unknown
    for name, value in config.items():
        if name in SETTINGS:
            yield from _value_problems(name, value)
    # A missing setting may be given under an unknown name.
    if "bootstrap.servers" not in config and not unknown:
        expected = 'a text such as "broker1:9092,broker2:9092"'
        yield Problem(
            "has no setting bootstrap.servers",
            "no setting bootstrap.servers",
            expected,
            f"Set bootstrap.servers to {expected} {IN_EXTRA}.",
        )


def _name_problems(name: str) -> Iterator[Problem]:
    if name in REFUSED:
        yield Problem(
            f"has the setting {name}, which this package does not accept",
            f"setting {name}: {REFUSED[name]}",
            "no such setting",
            f"Remove {name} from the extra of the Airflow connection.",
            f"It is refused because {REFUSED[name]}.",
        )
    elif name not in SETTINGS:
        near = difflib.get_close_matches(name.strip().lower(), sorted(SETTINGS), n=1, cutoff=0.6)
        yield Problem(
            f"has the unknown setting {shown(name)}",
            f"unknown setting {shown(name)}",
            "an accepted setting",
            (
                f"Use {near[0]} if you mean it, or remove the setting"
                if near
                else "Remove it, or use an accepted setting"
            )
            + ". `kafka-migration explain CONNECTION_INVALID` lists the accepted settings.",
            "A setting that is not known could make the client load code, read files or call addresses, so no client "
            "is created.",
        )


def _value_problems(name: str, value: object) -> Iterator[Problem]:
    text = as_text(value)
    if text is None:
        yield of_value(name, f"{_kind(value)} as its value", _EXPECTED[SETTINGS[name].form], found=_kind(value))
    else:
        yield from _text_problems(name, SETTINGS[name].form, text)


_EXPECTED: Mapping[Form, str] = {
    "text": "a text, a number, or true or false",
    "addresses": "addresses host:port separated by commas",
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


def _text_problems(name: str, form: Form, value: str) -> Iterator[Problem]:
    is_pem = form in {"certificates", "private key"}
    if bad := _control_character(value, but="\r\n\t" if is_pem else ""):
        hint = "A line break at its end often comes from a file."
        yield of_value(name, f"the character U+{ord(bad):04X}", "a text without control characters", hint)
    elif not value.strip():
        yield of_value(name, "an empty text", _EXPECTED[form], "Otherwise remove the setting.")
    elif is_pem:
        yield from _pem_problems(name, form, value)
    elif form == "number" and not re.fullmatch(r"-?[0-9]{1,18}(\.[0-9]{1,9})?", value):
        yield of_value(name, "a value that is no number", _EXPECTED[form], found="not a number")
    elif form == "truth" and value.lower() not in _TRUE | _FALSE:
        yield of_value(name, "a value that is neither true nor false", _EXPECTED[form], found="neither true nor false")
    elif form in _PATTERNS and _PATTERNS[form].fullmatch(value) is None:
        yield of_value(name, _shown_if_harmless(form, value), _EXPECTED[form])
    else:
        yield from _choice_problems(name, value)


def _shown_if_harmless(form: Form, value: str) -> str:
    """Return a value as it may be shown: an address may contain a login, and other texts may be put in its place."""
    is_harmless = form in {"principal", "path"} or (form == "https address" and not set(value) & set("@?#"))
    return shown(value) if is_harmless else "a value that does not have this form"


def _control_character(value: str, but: str) -> str:
    """Return the first character that a setting must not contain; lone surrogates cannot be encoded."""
    return next((c for c in value if c not in but and unicodedata.category(c) in {"Cc", "Cs"}), "")


def _pem_problems(name: str, form: Form, value: str) -> Iterator[Problem]:
    label = "CERTIFICATE" if form == "certificates" else "PRIVATE KEY"
    if re.search(r"-----BEGIN [A-Z0-9 ]{0,40}" + label + "-----", value) is None:
        yield of_value(name, f"no PEM block {label}", _EXPECTED[form])
    elif "\\n" in value or "\n" not in value.strip():
        hint = "In JSON each line break is written as \\n."
        yield of_value(name, "PEM without line breaks", "PEM with real line breaks", hint)


def _choice_problems(name: str, value: str) -> Iterator[Problem]:
    if name == "bootstrap.servers":
        yield from _server_problems(value)
    elif name == "security.protocol" and value.upper() not in PROTOCOLS:
        yield _of_choice(name, value, PROTOCOLS)
    elif name == HOST_NAME_CHECK and value.lower() not in {"https", "none"}:
        yield of_value(name, shown(value), "https (the default) or none")
    elif name == VERIFICATION and value.lower() in _FALSE:
        yield Problem(
            f"has the setting {name} with false",
            f"setting {name}: false",
            "true, because Java clients (MirrorMaker and Spark) cannot disable it",
            f"Remove {name}, and put the CA certificate, or the brokers' self-signed certificate, in ssl.ca.pem.",
            "MirrorMaker and Spark are Java clients, which always verify certificates, so they would not connect.",
        )


def _of_choice(name: str, value: str, known: Collection[str]) -> Problem:
    expected = f"one of {', '.join(known)}"
    near = difflib.get_close_matches(value.strip().upper(), known, n=1, cutoff=0.5)
    return of_value(name, shown(value), expected, f"You may mean {near[0]}." if near else "")


def _server_problems(value: str) -> Iterator[Problem]:
    for server in (part.strip() for part in value.split(",")):
        match = _SERVER.fullmatch(server)
        if match is None or not 0 < int(match[3]) <= _MAX_PORT:
            # A value with an @ may contain a login.
            seen = "a value with an @" if "@" in server else shown(server)
            yield of_value("bootstrap.servers", seen, _EXPECTED["addresses"])


def _mechanism_problems(config: Config) -> Iterator[Problem]:
    names = {text_of(config, name) for name in ("sasl.mechanism", "sasl.mechanisms")} - {""}
    mechanism = mechanism_of(config)
    if len(names) > 1:
        found = "different values for sasl.mechanism and sasl.mechanisms"
        yield of_settings(found, "only one of the two settings", f"Remove one of the two {IN_EXTRA}.")
    elif mechanism in UNSUPPORTED_MECHANISMS:
        why, instead = UNSUPPORTED_MECHANISMS[mechanism]
        yield Problem(
            f"has sasl.mechanism {mechanism}, which is not supported",
            f"setting sasl.mechanism: {mechanism}; {why}",
            f"one of {', '.join(MECHANISMS)}",
            instead,
            f"MirrorMaker and Spark could not log in, because {why}.",
        )
    elif mechanism and mechanism not in MECHANISMS:
        yield _of_choice("sasl.mechanism", mechanism, MECHANISMS)


def _login_problems(config: Config, client: ClientAbilities) -> Iterator[Problem]:
    protocol, given = protocol_of(config), [name for name in _LOGIN if name in config]
    mechanism = mechanism_of(config)
    if not protocol.startswith("SASL_"):
        if given:
            yield _unprotected(config, given, "the login would not be used", "SASL_SSL", "login")
    elif not mechanism:
        yield Problem(
            f"has security.protocol {protocol} and no sasl.mechanism",
            f"security.protocol {protocol} without sasl.mechanism",
            f"one of {', '.join(MECHANISMS)}",
            f"Set sasl.mechanism to one of {', '.join(MECHANISMS)} {IN_EXTRA}.",
        )
    elif mechanism in MECHANISMS:
        yield from MECHANISMS[mechanism].problems(config, client)


def _unprotected(config: Config, given: Collection[str], effect: str, needed: str, what: str) -> Problem:
    protocol = f"security.protocol {protocol_of(config)}" if "security.protocol" in config else "no security.protocol"
    return Problem(
        f"has {', '.join(given)} with {protocol}",
        f"{', '.join(given)} with {protocol}: {effect}",
        f"security.protocol {needed}",
        f"Set security.protocol to {needed}, or remove the {what} from the extra of the Airflow connection.",
        f"With security.protocol {protocol_of(config)} {effect}, so no client is created from this connection.",
    )


def _tls_problems(config: Config) -> Iterator[Problem]:
    given = [name for name in _TLS if name in config]
    if given and not protocol_of(config).endswith("SSL"):
        yield _unprotected(config, given, "nothing would be encrypted", "SSL or SASL_SSL", "TLS settings")
    pair = [name for name in ("ssl.certificate.pem", "ssl.key.pem") if name in config]
    if len(pair) == 1:
        expected = "both ssl.certificate.pem and ssl.key.pem, or neither"
        yield of_settings(f"only {pair[0]}", expected, f"Set {expected}, {IN_EXTRA}.")
    key, has_password = text_of(config, "ssl.key.pem"), "ssl.key.password" in config
    if "ENCRYPTED" in key and not has_password:
        found = "an encrypted ssl.key.pem without ssl.key.password"
        remedy = f"Set ssl.key.password, or an unencrypted key, {IN_EXTRA}."
        yield of_settings(found, "its password, or an unencrypted key", remedy)
    elif has_password and "ENCRYPTED" not in key:
        found = "ssl.key.password without an encrypted ssl.key.pem"
        remedy = f"Set ssl.key.pem to the encrypted key, or remove ssl.key.password, {IN_EXTRA}."
        yield of_settings(found, "both, or no password", remedy)


def _insecure(each: Insecurity) -> Problem:
    setting, effect, expected = _GIVEN_UP[each]
    return Problem(
        f"has {setting}",
        f"{setting}: {effect}",
        expected,
        f"Set {setting.rpartition(' ')[0]} to {expected}, or allow this in the migration file with "
        f"`insecure: [{each}]` in the cluster's section.",
        f"{capitalized(effect)}.",
        Code.CONNECTION_INSECURE,
    )


_GIVEN_UP: Mapping[Insecurity, tuple[str, str, str]] = {
    Insecurity.SASL_PLAINTEXT: (
        "security.protocol SASL_PLAINTEXT",
        "login and records are not encrypted",
        "SASL_SSL",
    ),
    Insecurity.NO_HOST_NAME_CHECK: (
        f"{HOST_NAME_CHECK} none",
        "any host with a trusted certificate can pose as a broker",
        "https (the default)",
    ),
}
