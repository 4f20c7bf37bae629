"""The SASL mechanisms: a row says what a login needs, how each client gets it, and what can be wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kafka_migration.core.connections.client_settings import (
    DEFAULT_KERBEROS_SERVICE,
    IN_EXTRA,
    KERBEROS,
    KERBEROS_FEATURE,
    KERBEROS_SERVICE,
    OAUTH,
    OAUTH_CALLBACK,
    OAUTH_ENDPOINT,
    OAUTH_METHOD,
    PLAIN,
    SCRAM_256,
    SCRAM_512,
    WITH_OIDC,
    WITH_SYSTEM_TRUST,
    WITHOUT_KINIT,
    Config,
    Problem,
    shown,
    text_of,
)
from kafka_migration.core.findings.codes import Code

_KAFKA_SECURITY = "org.apache.kafka.common.security"
_UNKNOWN = "<MECHANISM>"


class ClientAbilities(NamedTuple):
    """What Airflow's Kafka client can do: its features by librdkafka's names, and its allowed token endpoints."""

    has_feature: Callable[[str], bool]
    token_endpoints: Collection[str] = ()


class LoginRefusal(NamedTuple):
    """Why brokers refused a login: its code, what they expect, why it matters and what to do."""

    code: Code
    expected: str
    matters: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A SASL mechanism; this class is one with user and password.

    `needs` are the settings of a login, each with its placeholder, and `options` those that it may have besides.
    `in_jaas` are the options of a JAAS line that hold no secret, with their settings; `user` is the setting that names
    the user, if a name is given.
    """

    name: str
    login_module: str
    needs: Mapping[str, str]
    options: tuple[str, ...] = ()
    in_jaas: Mapping[str, str] = field(default_factory=dict)
    user: str = ""

    @property
    def settings(self) -> tuple[str, ...]:
        """The settings of a login that it uses."""
        return (*self.needs, *self.options)

    def java(self, settings: Mapping[str, str]) -> dict[str, str]:
        """Return the login for Java clients, from settings without problems."""
        user, password = (settings.get(f"sasl.{part}", "") for part in ("username", "password"))
        return {"sasl.mechanism": self.name, "sasl.jaas.config": jaas_line(self.login_module, user, password)}

    def has_java(self, config: Config) -> bool:
        """Whether Java clients can log in with these settings."""
        return True

    def problems(self, config: Config, client: ClientAbilities) -> Iterator[Problem]:
        """Yield why Airflow's Kafka client cannot log in with these settings."""
        yield from self._missing(config)
        yield from self._unused(config, self.settings, self.name)

    def lacking(self, config: Config) -> Iterator[Problem]:
        """Yield what a login lacks after Airflow's provider has added its own settings."""
        yield from ()

    def client(self, config: Config) -> Mapping[str, object]:
        """Return the settings that this package adds for Airflow's Kafka client."""
        return {}

    def placeholders(self, known: Mapping[str, str]) -> dict[str, str]:
        """Return the settings of a connection to create: those that are known, and placeholders for the others."""
        values = {**self.needs, **{name: value for name, value in known.items() if name in self.settings}}
        return {"sasl.mechanism": self.name, **values}

    def refusal(self, said: str) -> LoginRefusal:
        """Return why brokers refused the login, from the client's words."""
        return LoginRefusal(
            Code.LOGIN_REFUSED,
            "a login that the brokers accept",
            "Nothing can read or write the cluster with this connection.",
            f"Correct the login {IN_EXTRA}, or create it on the cluster.",
        )

    def _missing(self, config: Config) -> Iterator[Problem]:
        if missing := [name for name in self.needs if name not in config]:
            yield self._without(missing, " and ".join(self.needs))

    def _without(self, missing: Iterable[str], expected: str, instead: str = "") -> Problem:
        names = " and ".join(missing)
        return Problem(
            f"has sasl.mechanism {self.name} and lacks {names}",
            f"sasl.mechanism {self.name} without {names}",
            expected,
            f"Set {names} {IN_EXTRA}{instead}.",
        )

    def _unused(self, config: Config, used: Collection[str], by: str) -> Iterator[Problem]:
        if unused := [name for name in LOGIN_SETTINGS if name in config and name not in used]:
            names = ", ".join(unused)
            yield Problem(
                f"has {names}, which {by} does not use",
                f"{names}, which {by} does not use",
                "no such setting",
                f"Remove {names} from the extra of the Airflow connection, or correct sasl.mechanism.",
                "These settings belong to another login, so it is unclear which one is meant. No client is created.",
            )


class _Kerberos(Mechanism):
    """A login from a keytab: on the machine of a Java client it needs no ticket and asks nothing."""

    def java(self, settings: Mapping[str, str]) -> dict[str, str]:
        keytab, principal = (jaas_quoted(settings[f"sasl.kerberos.{part}"]) for part in ("keytab", "principal"))
        return {
            "sasl.mechanism": self.name,
            KERBEROS_SERVICE: settings.get(KERBEROS_SERVICE, DEFAULT_KERBEROS_SERVICE),
            "sasl.jaas.config": f"{self.login_module} required useKeyTab=true storeKey=true doNotPrompt=true "
            f"keyTab={keytab} principal={principal};",
        }

    def problems(self, config: Config, client: ClientAbilities) -> Iterator[Problem]:
        if not client.has_feature(KERBEROS_FEATURE):
            yield Problem(
                f"has sasl.mechanism {self.name}, and the Kafka client in Airflow's Python was built without Kerberos",
                f"setting sasl.mechanism: {self.name}",
                "a Kafka client with Kerberos in Airflow's Python; the packages on PyPI have none",
                "Install confluent-kafka with Kerberos on every worker and the triggerer "
                "(`kafka-migration explain KAFKA_CLIENT_WITHOUT_KERBEROS`), or use SCRAM or a client certificate.",
                "Airflow cannot log in to the cluster.",
                Code.KAFKA_CLIENT_WITHOUT_KERBEROS,
            )
        yield from super().problems(config, client)

    def client(self, config: Config) -> Mapping[str, object]:
        return WITHOUT_KINIT

    def refusal(self, said: str) -> LoginRefusal:
        return next(refusal for texts, refusal in _KERBEROS_SAYS if any(text in said for text in texts))


def _no_ticket(code: Code, matters: str, remedy: str) -> LoginRefusal:
    return LoginRefusal(code, "a ticket of the connection's principal that the brokers accept", matters, remedy)


# Texts of MIT's Kerberos (those of its release 1.20), each with its reason.
_KERBEROS_SAYS: tuple[tuple[tuple[str, ...], LoginRefusal], ...] = (
    (
        ("Clock skew too great",),
        _no_ticket(
            Code.KERBEROS_CLOCK_SKEW,
            "Kerberos accepts no login while the clocks of this machine and of the Kerberos server differ.",
            "Correct the clock of this machine, or that of the Kerberos server.",
        ),
    ),
    (
        ("context has expired", "Ticket expired"),
        _no_ticket(
            Code.KERBEROS_TICKET_EXPIRED,
            "The ticket has expired, so Airflow cannot log in until it is renewed.",
            "Renew the ticket: set KRB5_CLIENT_KTNAME to a keytab, or run k5start.",
        ),
    ),
    (
        ("No Kerberos credentials", "Client '", "Decrypt integrity check failed", "Preauthentication failed"),
        _no_ticket(
            Code.KERBEROS_KEYTAB_WRONG,
            "Airflow has no ticket of the principal, so it cannot log in to the cluster.",
            "On this machine, test the keytab with kinit -kt, and correct KRB5_CLIENT_KTNAME.",
        ),
    ),
    (
        ("",),
        _no_ticket(
            Code.KERBEROS_FAILED,
            "Airflow cannot log in to the cluster.",
            "Check /etc/krb5.conf, sasl.kerberos.service.name, the Kerberos server and the clocks of the brokers.",
        ),
    ),
)


class _OAuth(Mechanism):
    """A login with tokens: the client fetches them from an endpoint, or a function of Airflow returns them."""

    def java(self, settings: Mapping[str, str]) -> dict[str, str]:
        # The login handler takes its TLS settings from the JAAS line.
        options = {option: settings[name] for option, name in _OAUTH_JAAS.items() if name in settings}
        for extension in settings.get("sasl.oauthbearer.extensions", "").split(","):
            name, _, value = extension.partition("=")
            options |= {f"extension_{name}": value} if name else {}
        if "https.ca.pem" in settings:
            options |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": settings["https.ca.pem"]}
        words = " ".join(f"{name}={jaas_quoted(value)}" for name, value in options.items())
        return {
            "sasl.mechanism": self.name,
            "sasl.login.callback.handler.class": _OAUTH_HANDLER,
            OAUTH_ENDPOINT: settings[OAUTH_ENDPOINT],
            "sasl.jaas.config": f"{self.login_module} required {words};",
        }

    def has_java(self, config: Config) -> bool:
        return OAUTH_ENDPOINT in config

    def problems(self, config: Config, client: ClientAbilities) -> Iterator[Problem]:
        # Instead of the settings, a function may return the tokens. Airflow's provider adds one for some services.
        if OAUTH_CALLBACK in config or not any(name in config for name in LOGIN_SETTINGS):
            yield from self._unused(config, (), OAUTH_CALLBACK)
            return
        yield from list(super().problems(config, client)) or self._endpoint(config, client.token_endpoints)

    def lacking(self, config: Config) -> Iterator[Problem]:
        if OAUTH_ENDPOINT not in config and OAUTH_CALLBACK not in config:
            expected = f"these settings, or a function that returns tokens ({OAUTH_CALLBACK})"
            yield self._without(self.needs, expected, f", or {OAUTH_CALLBACK} to a function that returns tokens")

    def client(self, config: Config) -> Mapping[str, object]:
        if OAUTH_ENDPOINT not in config:
            return {}
        return WITH_OIDC | ({} if "https.ca.pem" in config else WITH_SYSTEM_TRUST)

    def placeholders(self, known: Mapping[str, str]) -> dict[str, str]:
        return {"sasl.mechanism": self.name, **WITH_OIDC, **super().placeholders(known)}

    def _endpoint(self, config: Config, allowed: Collection[str]) -> Iterator[Problem]:
        endpoint = text_of(config, OAUTH_ENDPOINT)
        if endpoint not in allowed:
            yield Problem(
                f"names the token endpoint {shown(endpoint)}, which Airflow's configuration does not allow",
                f"setting {OAUTH_ENDPOINT}: {shown(endpoint)}",
                f"one of {', '.join(sorted(allowed))}" if allowed else "an address that Airflow's configuration allows",
                "Correct the address. If it is right, add it to token_endpoints in section [kafka_migration] of "
                "Airflow's configuration.",
                "Airflow, MirrorMaker and Spark send the client's secret to this address, so only allowed ones are "
                "used.",
                Code.TOKEN_ENDPOINT_NOT_ALLOWED,
            )


# In Kafka 3.7 and later; earlier versions have it in another package.
_OAUTH_HANDLER = f"{_KAFKA_SECURITY}.oauthbearer.OAuthBearerLoginCallbackHandler"
_OAUTH_ID = "sasl.oauthbearer.client.id"
_OAUTH_JAAS = {
    "clientId": _OAUTH_ID,
    "clientSecret": "sasl.oauthbearer.client.secret",
    "scope": "sasl.oauthbearer.scope",
}


def _of_passwords(name: str, module: str) -> Mechanism:
    needs = {"sasl.username": "<USER>", "sasl.password": "<PASSWORD>"}
    return Mechanism(
        name, f"{_KAFKA_SECURITY}.{module}", needs, in_jaas={"username": "sasl.username"}, user="sasl.username"
    )


_ROWS = (
    _of_passwords(PLAIN, "plain.PlainLoginModule"),
    _of_passwords(SCRAM_256, "scram.ScramLoginModule"),
    _of_passwords(SCRAM_512, "scram.ScramLoginModule"),
    _Kerberos(
        KERBEROS,
        "com.sun.security.auth.module.Krb5LoginModule",
        {"sasl.kerberos.principal": "<PRINCIPAL>", "sasl.kerberos.keytab": "<PATH OF THE KEYTAB>"},
        (KERBEROS_SERVICE,),
        in_jaas={"principal": "sasl.kerberos.principal", "keyTab": "sasl.kerberos.keytab"},
    ),
    _OAuth(
        OAUTH,
        f"{_KAFKA_SECURITY}.oauthbearer.OAuthBearerLoginModule",
        {
            OAUTH_ENDPOINT: "<TOKEN ENDPOINT>",
            _OAUTH_ID: "<CLIENT ID>",
            "sasl.oauthbearer.client.secret": "<CLIENT SECRET>",
        },
        ("sasl.oauthbearer.scope", "sasl.oauthbearer.extensions", OAUTH_METHOD, "https.ca.pem"),
        in_jaas={"clientId": _OAUTH_ID},
        user=_OAUTH_ID,
    ),
)
MECHANISMS: Mapping[str, Mechanism] = {row.name: row for row in _ROWS}
LOGIN_SETTINGS = tuple(dict.fromkeys(name for row in _ROWS for name in row.settings))


def mechanism_of(config: Config) -> str:
    """Return the SASL mechanism; empty if none is named."""
    return text_of(config, "sasl.mechanism") or text_of(config, "sasl.mechanisms")


def mechanism_named(name: str | None) -> Mechanism:
    """Return a mechanism; one that is not known has user and password, and a placeholder if it has no name."""
    return MECHANISMS.get(name or "") or _of_passwords(name or _UNKNOWN, "")


def jaas_line(login_module: str, user: str, password: str) -> str:
    """Return the JAAS configuration line of a Java client."""
    return f"{login_module} required username={jaas_quoted(user)} password={jaas_quoted(password)};"


def jaas_quoted(text: str) -> str:
    """Return a text quoted for JAAS; a line break is written as an escape, because a JAAS text has one line."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\r", "").replace("\n", "\\n")
    return f'"{escaped}"'
