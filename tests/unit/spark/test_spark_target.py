"""Rules of where Kafka's logins may go with Spark, of its settings' files, and of the Kafka client that it needs."""

from __future__ import annotations

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.spark.spark_target import (
    SparkTarget,
    cipher_findings,
    failure_finding,
    has_login,
    kafka_client_findings,
    own_settings,
    parsed_properties,
    properties_text,
    protecting_settings,
    shipping_findings,
    unprotected_findings,
)

STANDALONE, YARN, KUBERNETES = "spark://spark:7077", "yarn", "k8s://https://kubernetes:6443"
SET_ALWAYS = {"spark.io.encryption.enabled": "true", "spark.network.crypto.saslFallback": "false"}
SECRET = {"spark.authenticate.secret": "s"}
AUTHENTICATED = {"spark.authenticate": "true"}
ENCRYPTED = {"spark.network.crypto.enabled": "true"}
GCM = {"spark.network.crypto.cipher": "AES/GCM/NoPadding"}
TLS = {"spark.ssl.rpc.enabled": "TRUE", "spark.ssl.rpc.trustStore": "/etc/spark/trust.jks"}


def lacking(master: str, settings: dict[str, str], defaults: str = "", spark: tuple[int, ...] = (4, 0, 0)) -> str:
    """Return what a cluster lacks according to the finding; nothing if it is protected."""
    target = SparkTarget("spark", master, own=settings, defaults=defaults)
    findings = unprotected_findings(target, spark, declared=False)
    assert {Code.SPARK_NOT_PROTECTED} >= {finding.code for finding in findings}
    return "".join(finding.found for finding in findings)


@pytest.mark.parametrize("master", ["local", "local[4]", "local[*]", "local[ 2 , 3 ]", "local[*,1]"])
def test_one_process_needs_nothing(master: str) -> None:
    """If driver and executors are one process, no setting is required, and its ports are closed."""
    assert "" == lacking(master, {})
    assert AUTHENTICATED | ENCRYPTED | SET_ALWAYS == protecting_settings(SparkTarget("spark", master))


@pytest.mark.parametrize("master", [STANDALONE, "spark://a:7077,b:7077", "local-cluster[1,1,1024]", "mesos://m", "x"])
def test_cluster_needs_a_secret(master: str) -> None:
    """A standalone cluster, `local-cluster` and any master that is not known need all three, each named that lacks."""
    assert "" == lacking(master, AUTHENTICATED | SECRET | ENCRYPTED)
    assert "no spark.authenticate=true, no spark.authenticate.secret, no spark.network.crypto.enabled" in lacking(
        master, {}
    )
    assert "no spark.authenticate.secret" == lacking(master, AUTHENTICATED | ENCRYPTED)
    assert "no spark.authenticate=true" == lacking(master, SECRET | ENCRYPTED)
    assert lacking(master, AUTHENTICATED | SECRET).startswith("no spark.network.crypto.enabled=true (or spark.ssl.rpc")


@pytest.mark.parametrize("master", [YARN, KUBERNETES])
def test_yarn_and_kubernetes_draw_the_secret(master: str) -> None:
    """They make a secret per application, but only with authentication; encryption is never on by default."""
    assert "" == lacking(master, AUTHENTICATED | ENCRYPTED)
    assert "no spark.authenticate=true" == lacking(master, ENCRYPTED)
    assert lacking(master, AUTHENTICATED).startswith("no spark.network.crypto.enabled=true")


def test_tls_is_encryption_too() -> None:
    """Spark's RPC over TLS is sufficient encryption from Spark 4.0, if it is switched on."""
    assert "" == lacking(YARN, AUTHENTICATED | TLS)
    assert "" != lacking(YARN, AUTHENTICATED | TLS | {"spark.ssl.rpc.enabled": "false"})
    for older in ((3, 5, 9), ()):
        assert "no spark.network.crypto.enabled=true" in lacking(YARN, AUTHENTICATED | TLS, spark=older)


def weakness(settings: dict[str, str], spark: tuple[int, ...], master: str = STANDALONE) -> str:
    """Return the weak cipher according to the finding; nothing if the cipher is strong."""
    findings = cipher_findings(SparkTarget("spark", master, own=settings), spark)
    assert {Code.SPARK_CIPHER_WEAK} >= {finding.code for finding in findings}
    return "".join(finding.found for finding in findings)


@pytest.mark.parametrize("cipher", ["AES/CTR/NoPadding", "aes/ctr/nopadding", "AES/GCM/PKCS5Padding", "", "${x}", None])
@pytest.mark.parametrize("spark", [(3, 5, 2), (4, 0, 0), (4, 1, 3), (4, 2, 0), ()])
def test_cipher_must_notice_changes(cipher: str | None, spark: tuple[int, ...]) -> None:
    """Only AES/GCM notices changes; the default of all versions is another cipher, and does not."""
    settings = {} if cipher is None else {"spark.network.crypto.cipher": cipher}

    assert (cipher or "AES/CTR/NoPadding") in weakness(ENCRYPTED | settings, spark)


@pytest.mark.parametrize(
    ("spark", "works"),
    [
        *(((3, 5, 1), False), ((3, 5, 2), False), ((3, 5, 8), False), ((3, 5, 9), True), ((3, 5), False), ((), False)),
        *(((4, 0, 0), False), ((4, 0, 4), True), ((4, 1, 2), False), ((4, 1, 3), True), ((4, 2, 0), True)),
    ],
)
def test_cipher_must_work(spark: tuple[int, ...], works: bool) -> None:
    """AES/GCM counts from the versions on in which it works; an unknown version is judged like the oldest."""
    assert works == ("" == weakness(ENCRYPTED | GCM, spark))


def test_cipher_matters_only_where_it_is_used() -> None:
    """The cipher is not judged in one process, without encryption, and where TLS replaces it."""
    assert "" == weakness({}, (4, 0, 0))
    assert "" == weakness(ENCRYPTED, (4, 0, 0), master="local[2]")
    assert "" == weakness(ENCRYPTED | TLS, (4, 0, 0))
    assert "" != weakness(ENCRYPTED | TLS, (3, 5, 9))


@pytest.mark.parametrize("name", ["spark.authenticate.enableSaslEncryption", "spark.network.sasl.serverAlwaysEncrypt"])
def test_sasl_is_no_encryption(name: str) -> None:
    """The ciphers of SASL are weak."""
    assert "no spark.network.crypto.enabled=true" in lacking(YARN, AUTHENTICATED | {name: "true"})


@pytest.mark.parametrize("prefix", ["spark.ssl.rpc", "spark.ssl"])
@pytest.mark.parametrize(
    ("name", "value", "is_weak"),
    [
        ("protocol", "TLSv1.2", False),
        ("protocol", "TLSv1.3", False),
        ("protocol", "TLSv1", True),
        ("protocol", "SSLv3", True),
        ("protocol", "${protocol}", True),
        ("enabledAlgorithms", "TLS_AES_128_GCM_SHA256, TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", False),
        ("enabledAlgorithms", "TLS_CHACHA20_POLY1305_SHA256", False),
        ("enabledAlgorithms", "TLS_AES_128_GCM_SHA256,TLS_RSA_WITH_NULL_SHA256", True),
        ("enabledAlgorithms", "TLS_DH_anon_WITH_AES_128_GCM_SHA256", True),
        ("enabledAlgorithms", "SSL_RSA_WITH_RC4_128_MD5", True),
        ("enabledAlgorithms", "TLS_RSA_WITH_3DES_EDE_CBC_SHA", True),
        ("enabledAlgorithms", "ADH-AES128-SHA", True),
        ("enabledAlgorithms", "${ciphers}", True),
    ],
)
def test_weak_tls_is_refused(prefix: str, name: str, value: str, is_weak: bool) -> None:
    """Old protocols and ciphers without encryption or authentication are named, also if all of Spark inherits them."""
    found = lacking(YARN, AUTHENTICATED | TLS | {f"{prefix}.{name}": value})

    assert is_weak == (f"no spark.ssl.rpc.{name}" in found) == bool(found)


def test_setting_of_the_rpc_comes_first() -> None:
    """A weak setting of all of Spark does not matter if the RPC has its own."""
    settings = AUTHENTICATED | TLS

    assert "" == lacking(YARN, settings | {"spark.ssl.protocol": "TLSv1", "spark.ssl.rpc.protocol": "TLSv1.3"})
    assert "" != lacking(YARN, settings | {"spark.ssl.protocol": "TLSv1.3", "spark.ssl.rpc.protocol": "TLSv1"})


def test_tls_without_a_trust_store_accepts_every_certificate() -> None:
    """Spark's TLS needs a trust store, also if its own encryption is on, which TLS replaces."""
    switched_on = {"spark.ssl.rpc.enabled": "true"}

    for settings in ({}, ENCRYPTED, ENCRYPTED | GCM, {"spark.ssl.rpc.trustStore": " "}):
        assert "no spark.ssl.rpc.trustStore" == lacking(YARN, AUTHENTICATED | switched_on | settings, spark=(4, 2, 0))
    assert "" == lacking(YARN, AUTHENTICATED | switched_on | {"spark.ssl.trustStore": "/t"})


@pytest.mark.parametrize("master", [KUBERNETES, "k8s://k", "K8S://x", "k8s:x", STANDALONE, "local-cluster[1,1,1]", "x"])
def test_login_is_shipped_by_yarn_only(master: str) -> None:
    """In mode `cluster` a login goes to YARN only, however another master is written; in mode `client` to none."""
    found = shipping_findings(SparkTarget("spark", master, "cluster", AUTHENTICATED | ENCRYPTED))

    assert [Code.SPARK_LOGIN_SHIPPED] == [finding.code for finding in found]
    assert () == shipping_findings(SparkTarget("spark", YARN, "cluster"))
    for mode in ("client", None):
        assert () == shipping_findings(SparkTarget("spark", master, mode))


def test_old_login_remains_for_shuffle_services() -> None:
    """Spark may fall back to SASL only for a shuffle service, which may know nothing else."""
    service = {"spark.shuffle.service.enabled": "true"}

    assert {"spark.io.encryption.enabled": "true"} == protecting_settings(SparkTarget("spark", YARN, own=service))


def test_connection_comes_before_the_defaults() -> None:
    """Spark's defaults count, and the connection's settings are put over them."""
    defaults = "# cluster\nspark.authenticate   true\nspark.authenticate.secret=s\nspark.network.crypto.enabled: true\n"

    assert "" == lacking(STANDALONE, {}, defaults)
    assert "no spark.authenticate=true" == lacking(STANDALONE, {"spark.authenticate": "false"}, defaults)


def test_clusters_keep_their_own_secret_settings() -> None:
    """On a cluster, only encryption of disks is set, because it needs no agreement with the cluster."""
    assert SET_ALWAYS == protecting_settings(SparkTarget("spark", STANDALONE))


def test_secrets_are_not_shown() -> None:
    """Neither a finding nor the object's own text holds the secret or the defaults."""
    target = SparkTarget("spark", STANDALONE, own={"spark.authenticate.secret": "canary"}, defaults="canary")

    assert "canary" not in f"{target!r} {unprotected_findings(target, (), declared=False)}"


def test_settings_of_an_extra() -> None:
    """Settings whose names begin with `spark.` are taken; true and false are written as Java reads them."""
    extra = {"deploy-mode": "client", "spark.authenticate": True, "spark.x": 4, "spark.none": None}

    assert {"spark.authenticate": "true", "spark.x": "4"} == own_settings(extra)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b", {"a": "b"}),
        ("a=b", {"a": "b"}),
        ("a : b c ", {"a": "b c"}),
        ("  a   =   b", {"a": "b"}),
        ("a", {"a": ""}),
        ("# a=b\n! c=d\n\n", {}),
        ("a=b\\\n   c\nd=e", {"a": "bc", "d": "e"}),
        ("a=b\\\\\nc=d", {"a": "b\\", "c": "d"}),
        ("a\\=b=c", {"a=b": "c"}),
        ("a=\\u0041\\t", {"a": "A\t"}),
        ("a=1\na=2", {"a": "2"}),
        ("a=b\r\nc=d", {"a": "b", "c": "d"}),
    ],
)
def test_properties_are_read_as_java_does(text: str, expected: dict[str, str]) -> None:
    """Separators, comments, continued lines and escapes of `java.util.Properties`."""
    assert expected == parsed_properties(text)


@pytest.mark.parametrize("value", ["plain", " a=b:c#d!e", "back\\slash", "line\nbreak", "", "\ttab", "ünïcode"])
def test_properties_are_written_as_they_are_read(value: str) -> None:
    """A value comes back as it was, over a default of the same name, whatever the defaults end with."""
    text = properties_text("spark.x=old\nspark.y=kept\\", {"spark.x": value})

    assert {"spark.x": value, "spark.y": "kept"} == parsed_properties(text)


@pytest.mark.parametrize(
    ("versions", "told"),
    [
        ({"kafka-clients-3.9.1.jar": "3.9.1"}, ""),
        ({"kafka-clients.jar": "4.0.0"}, ""),
        ({"k.jar": "3.10.0-SNAPSHOT"}, ""),
        ({"k.jar": "3.9.0"}, "k.jar of version 3.9.0"),
        ({"k.jar": "3.9"}, "k.jar of version 3.9"),
        ({"k.jar": "unknown"}, "k.jar of version unknown"),
        ({"new.jar": "3.9.1", "old.jar": "3.8.1"}, "old.jar of version 3.8.1"),
        ({}, "no jar of kafka-clients"),
    ],
)
def test_old_kafka_clients_get_no_login(versions: dict[str, str], told: str) -> None:
    """Each client must be known to be 3.9.1 or newer; an unknown version is refused."""
    findings = kafka_client_findings(versions)

    assert bool(told) == bool(findings)
    assert told in "".join(finding.found for finding in findings)


def test_what_a_login_is() -> None:
    """A login is SASL or a client key; a server's certificate is not."""
    assert has_login({"kafka.sasl.jaas.config": "x"})
    assert has_login({"kafka.ssl.keystore.key": "x"})
    assert not has_login({"kafka.bootstrap.servers": "a:1", "kafka.ssl.truststore.certificates": "x"})


@pytest.mark.parametrize(
    ("said", "code", "found"),
    [
        ("CLUSTER_UNREACHABLE: the target …", Code.CLUSTER_UNREACHABLE, "the target …"),
        ("RECORDS_DELETED_MEANWHILE: x: y", Code.RECORDS_DELETED_MEANWHILE, "x: y"),
        ("SPARK_FAILED: x", Code.SPARK_FAILED, "x"),
        ("COPY_DIFFERS: x", Code.SPARK_FAILED, "COPY_DIFFERS: x"),
        ("1 of at most 2 records read", Code.SPARK_FAILED, "1 of at most 2 records read"),
        ("", Code.SPARK_FAILED, "exit code 137 of spark-submit without a reason from the job"),
    ],
)
def test_failure_has_a_code(said: str, code: Code, found: str) -> None:
    """The job's last line names the code, if it is one of a job's; without a line the exit code is all there is."""
    finding = failure_finding(said, "137")

    assert (code, found) == (finding.code, finding.found)
