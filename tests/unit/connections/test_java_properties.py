"""Rules of the translation from librdkafka settings to Java properties."""

from __future__ import annotations

import pytest

from kafka_migration.core.connections.client_settings import SETTINGS
from kafka_migration.core.connections.java_properties import java_properties, spark_options
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused


def test_plain_connection_keeps_its_address() -> None:
    """Settings that have the same name in Java are kept; librdkafka's own are left out."""
    config = {"bootstrap.servers": "a:1,b:2", "socket.timeout.ms": 10, "group.id": "x"}

    assert {"bootstrap.servers": "a:1,b:2"} == java_properties("c", config)
    assert {"kafka.bootstrap.servers": "a:1,b:2"} == spark_options("c", config)


def test_sasl_becomes_a_jaas_line_with_quoted_credentials() -> None:
    """User and password are quoted for JAAS, whatever they contain."""
    config = {
        "bootstrap.servers": "a:1",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "me",
        "sasl.password": 'a"b\\c',
    }

    properties = java_properties("c", config)

    assert properties["sasl.mechanism"] == "SCRAM-SHA-512"
    assert properties["sasl.jaas.config"] == (
        'org.apache.kafka.common.security.scram.ScramLoginModule required username="me" password="a\\"b\\\\c";'
    )


def test_kerberos_becomes_a_login_from_the_keytab() -> None:
    """Java logs in from the keytab on its own machine, for the service `kafka` unless another is named."""
    config = {
        "bootstrap.servers": "a:1",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "GSSAPI",
        "sasl.kerberos.principal": "me/host@EXAMPLE.COM",
        "sasl.kerberos.keytab": "/etc/me.keytab",
        "sasl.kerberos.min.time.before.relogin": 0,
    }
    line = (
        "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true doNotPrompt=true "
        'keyTab="/etc/me.keytab" principal="me/host@EXAMPLE.COM";'
    )
    expected = {
        "bootstrap.servers": "a:1",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "GSSAPI",
        "sasl.kerberos.service.name": "kafka",
        "sasl.jaas.config": line,
    }

    assert expected == java_properties("c", config)
    named = java_properties("c", {**config, "sasl.kerberos.service.name": "broker"})
    assert "broker" == named["sasl.kerberos.service.name"]


def test_inline_tls_becomes_pem_stores() -> None:
    """TLS material given inline becomes PEM stores, which need no file on the other machine."""
    config = {"bootstrap.servers": "a:1", "ssl.ca.pem": "CA", "ssl.key.pem": "KEY", "ssl.certificate.pem": "CERT"}

    properties = java_properties("c", config)

    assert ("PEM", "CA") == (properties["ssl.truststore.type"], properties["ssl.truststore.certificates"])
    assert ("KEY", "CERT") == (properties["ssl.keystore.key"], properties["ssl.keystore.certificate.chain"])


@pytest.mark.parametrize(
    "setting",
    [
        {"ssl.ca.location": "/etc/ca.pem"},
        {"sasl.mechanism": "AWS_MSK_IAM"},
        {"enable.ssl.certificate.verification": "false"},
        {"some.future.setting": "x"},
        {"ssl.keystore.password": "s3cret"},
    ],
)
def test_untranslatable_setting_is_refused(setting: dict[str, str]) -> None:
    """A setting without a translation is refused by name, because it may protect the login; its value is not shown."""
    with pytest.raises(Refused) as raised:
        java_properties("my_conn", {"bootstrap.servers": "a:1", **setting})

    (finding,) = raised.value.findings
    assert finding.code is Code.CONNECTION_INVALID
    assert finding.subject == "connection my_conn"
    assert next(iter(setting)) in finding.found
    assert "s3cret" not in str(raised.value)


@pytest.mark.parametrize("name", [name for name, setting in SETTINGS.items() if setting.in_java in {"same", "built"}])
def test_reference_is_refused(name: str) -> None:
    """MirrorMaker would put the content of a file in its place, so no setting that it gets brings a reference."""
    reference = "${dir:/base/shop/gen-1/secrets:new.sasl.jaas.config}"
    with pytest.raises(Refused, match=rf"has the setting {name} with a value that contains \$\{{") as raised:
        java_properties("c", {"bootstrap.servers": "a:1", name: f"s3cret{reference}"})

    assert {Code.CONNECTION_INVALID} == {finding.code for finding in raised.value.findings}
    assert f"s3cret{reference}" not in str(raised.value) or name.startswith("sasl.mechanism")


@pytest.mark.parametrize("spelling", ["none", "NONE"])
def test_switched_off_check_of_names_is_javas_empty_text(spelling: str) -> None:
    """librdkafka writes `none` where Java writes an empty text."""
    config = {"bootstrap.servers": "a:1", "security.protocol": "ssl", "ssl.endpoint.identification.algorithm": spelling}

    assert {
        "bootstrap.servers": "a:1",
        "security.protocol": "SSL",
        "ssl.endpoint.identification.algorithm": "",
    } == java_properties("c", config)


def test_number_as_password_is_its_text() -> None:
    """JSON may hold a password without quotes."""
    config = {"sasl.mechanism": "PLAIN", "sasl.username": "me", "sasl.password": 4711}

    assert 'password="4711";' in java_properties("c", config)["sasl.jaas.config"]


@pytest.mark.parametrize("kind", ["RSA", "EC"])
def test_key_that_java_does_not_read_is_refused(kind: str) -> None:
    """Java reads PKCS#8 only; the finding says how to convert."""
    pem = f"-----BEGIN {kind} PRIVATE KEY-----\nx\n-----END {kind} PRIVATE KEY-----\n"
    with pytest.raises(Refused, match="openssl pkcs8 -topk8"):
        java_properties("c", {"bootstrap.servers": "a:1", "ssl.key.pem": pem})


OAUTH = {
    "bootstrap.servers": "a:1",
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "OAUTHBEARER",
    "sasl.oauthbearer.client.id": "me",
    "sasl.oauthbearer.client.secret": 'a"b\\c',
    "sasl.oauthbearer.token.endpoint.url": "https://login.example/token",
}


def test_oauth_login() -> None:
    """Java fetches tokens by itself; it takes scope, extensions and the endpoint's CA from the JAAS line."""
    options = {
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.scope": "kafka all",
        "sasl.oauthbearer.extensions": "logicalCluster=lkc-1,identityPoolId=pool-2",
        "https.ca.pem": "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n",
    }
    assert {
        "bootstrap.servers": "a:1",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.login.callback.handler.class": "org.apache.kafka.common.security.oauthbearer"
        ".OAuthBearerLoginCallbackHandler",
        "sasl.oauthbearer.token.endpoint.url": "https://login.example/token",
        "sasl.jaas.config": "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required "
        'clientId="me" clientSecret="a\\"b\\\\c" scope="kafka all" extension_logicalCluster="lkc-1" '
        'extension_identityPoolId="pool-2" ssl.truststore.type="PEM" ssl.truststore.certificates='
        '"-----BEGIN CERTIFICATE-----\\nabc\\n-----END CERTIFICATE-----\\n";',
    } == java_properties("c", {**OAUTH, **options})


def test_oauth_by_a_function_is_refused_for_java() -> None:
    """Airflow's client can get tokens from a function; MirrorMaker and Spark cannot."""
    with pytest.raises(Refused, match=r"setting oauth_cb .*\n.*setting sasl\.mechanism \(OAUTHBEARER\)"):
        java_properties("c", {"bootstrap.servers": "a:1", "sasl.mechanism": "OAUTHBEARER", "oauth_cb": "x.y"})
