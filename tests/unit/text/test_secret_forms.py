"""What looks like a secret, and what does not."""

from __future__ import annotations

from random import Random

import pytest

from kafka_migration.core.text import secret_forms
from kafka_migration.core.text.secret_forms import LONGEST_NAME, has_secret_form, is_secret_name, masked, may_be_shown

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    "name",
    [
        *("sasl.password", "sasl.pasword", "SASL_PASSWORD", "saslPassword", "sasl-passwrod", "ssl.key.pass", "x.pwd"),
        *("sasl.jaas.config", "sasl_jaas_config", "x.api.key", "apiKey", "aws.secret.access.key", "vault.token"),
        *("vault.tokn", "client.secert", "my.credentails", "basic.auth.user.info", "privateKeyPem", "x.passphrse"),
    ],
)
def test_names_of_secrets(name: str) -> None:
    """A word for a secret counts in every case and with every separator, also with a wrong letter."""
    assert is_secret_name(name)


def test_letters_tell_early_that_a_name_is_another_word() -> None:
    """The quick comparison of letters changes no answer of the exact one."""
    random, answers = Random(1), set[bool]()
    for _ in range(2_000):
        word = random.choice(secret_forms._WORDS)
        letters = list(word)
        for _ in range(random.randrange(4)):
            place = random.randrange(len(letters))
            letters[place : place + random.randrange(2)] = random.choice(("", "e", "x", "s"))
        part, most = "".join(letters), len(word) // 5
        answers.add(found := secret_forms._is_near(part, word, most))
        assert found == (secret_forms._distance(part, word) <= most), (part, word)
    assert {True, False} == answers


@pytest.mark.parametrize(
    "name",
    [
        *("replication.factor", "topics", "key.converter", "partitioner.ignore.keys", "ssl.keystore.location", "acks"),
        *("max.partition.fetch.bytes", "compression.type", "task.shutdown.graceful.timeout.ms", "consumer.group.id"),
        *("security.protocol", "sasl.mechanism", "ssl.endpoint.identification.algorithm", "offset.storage.topic"),
    ],
)
def test_other_names(name: str) -> None:
    """Keys without a secret are none."""
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    "text",
    [
        *("password=x", 'x Password = "x"', '"client_secret": "x"', "token%3Dx", "sasl.password: x", "api_key=x"),
        *(
            "-Djavax.net.ssl.keyStorePassword=x",
            "--password x",
            "x --token y",
            "-secret y",
            "-----BEGIN PRIVATE KEY-----",
            "https://u:p@host",
        ),
        *("user:p@host:9092", "https:/u:p@host", "https://h/?sig=x", "Basic dXNlcjpwYXNz", "Bearer abcdef123"),
        *("eyJhbGciOiJIUzI1NiJ9.e30.x", "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY0a1B2"),
        *("9f86d081884c7d659a2feaa0c55ad015", "glpat-abc", "a, b, password=x", "a\npassword=x"),
    ],
)
def test_forms_of_secrets(text: str) -> None:
    """A secret is recognized wherever it stands, and nothing of it is left in a masked text."""
    assert has_secret_form(f"before {text}")
    assert not may_be_shown(text)
    assert not has_secret_form(masked(f"before {text}"))


@pytest.mark.parametrize(
    "text",
    [
        *(".*", "orders, payments[.]eu", "password-resets, token-events", "broker-1.example.com:9092,[::1]:9092"),
        *("org.apache.kafka.connect.mirror.MirrorSourceConnector", "60000", "-1", "true", "(?!mirror$|__).+", "a{1,3}"),
        *("CustomerAccountTransactionHistory2023Events", "streams-KSTREAM-AGGREGATE-STATE-STORE-0000000003-changelog"),
        *("/usr/hdp/current/kafka-broker/conf1/mm2.properties", "kafka/host.example.com@EXAMPLE.COM", ""),
    ],
)
def test_harmless_texts(text: str) -> None:
    """Patterns, names, addresses, classes and paths are no secrets."""
    assert may_be_shown(text)
    assert masked(text) == text


def test_very_long_texts_are_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name or a value beyond its limit is not shown, which is decided before any search."""
    assert not is_secret_name("a" * LONGEST_NAME)
    assert may_be_shown("ab " * 3_000)

    for searched in ("_is_mistyped", "_places", "_names_a_secret"):
        monkeypatch.setattr(secret_forms, searched, lambda _: pytest.fail("the text was searched"))
    assert is_secret_name("a" * (LONGEST_NAME + 1))
    assert not may_be_shown("ab " * 3_334)
