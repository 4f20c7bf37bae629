"""Rules of MirrorMaker's version: what it would ignore is a finding before the start, not a surprise at night."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.migration.aliases import MIRROR_WORDS
from kafka_migration.core.migration.client_tuning import TUNING_KEYS, value_problem, words_of
from kafka_migration.core.migration.settings import ConnectSettings, Migration, TopicNames
from kafka_migration.core.mirror.engine import AnyEngine, LaunchFacts
from kafka_migration.core.mirror.host import MirrorLaunch
from kafka_migration.engines.engines import engine_of
from kafka_migration.engines.launching import ENDPOINTS_OPTION
from kafka_migration.engines.required_versions import (
    OLDEST,
    KafkaVersion,
    java_findings,
    login_findings,
    version_warnings,
)
from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from tests.contract.fake_cluster import FakeCluster
from tests.contract.fake_mirrormaker import properties_of
from tests.present import present

ENGINES = ("mirrormaker1", "mirrormaker2")

EVERY_LOGIN = {
    "bootstrap.servers": "a:1",
    "client.rack": "r",
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "PLAIN",
    "sasl.jaas.config": "x",
    "sasl.kerberos.service.name": "kafka",
    "sasl.login.callback.handler.class": "x",
    "sasl.oauthbearer.token.endpoint.url": "https://b/token",
    "ssl.endpoint.identification.algorithm": "https",
    "ssl.key.password": "x",
    "ssl.keystore.certificate.chain": "x",
    "ssl.keystore.key": "x",
    "ssl.keystore.type": "PEM",
    "ssl.truststore.certificates": "x",
    "ssl.truststore.type": "PEM",
}

# A producer has no rack, so that of a connection is only for consumers.
PRODUCER_LOGIN = {key: value for key, value in EVERY_LOGIN.items() if key != "client.rack"}
# Each configuration reads its providers itself, whatever keys it defines.
PROVIDERS = "config.providers"


def an_engine(migration: Migration, **settings: object) -> AnyEngine:
    made = replace(migration, mirror=replace(migration.mirror, **settings))  # type: ignore[arg-type]
    return engine_of(made, FakeCluster("old"), FakeCluster("new"))


SUPPORTED = [v for v in kafka_keys().versions if present(KafkaVersion.of(v)) >= OLDEST]
# How keys of MirrorMaker 2 begin: with a cluster or a flow, and with a client.
PREFIXES = re.compile(r"^(?:shop-(?:source|target)(?:->shop-(?:source|target))?\.)?(?:(consumer|producer|admin)\.)?")


def launched(migration: Migration, **settings: object) -> MirrorLaunch:
    """Return what a host gets for clusters with every kind of login."""
    launch: MirrorLaunch = an_engine(migration, **settings).launch(1, LaunchFacts(EVERY_LOGIN, PRODUCER_LOGIN, 2048, 2))
    return launch


def rendered(migration: Migration) -> Iterator[tuple[str, str]]:
    """Yield each key that an engine renders without its prefixes, with the client that reads it; "" for others."""
    for exactly_once in (False, True):
        for key in properties_of(launched(migration, exactly_once=exactly_once), "mm2.properties"):
            match = present(PREFIXES.match(key))
            yield key[match.end() :], match[1] or ""
    for client in ("consumer", "producer"):
        found = properties_of(launched(migration, engine="mirrormaker1"), f"{client}.properties")
        yield from ((key, client) for key in found)


def versions_of(name: str, role: str) -> set[str]:
    """Return the versions in which a role has a key; those of any role for an empty one."""
    roles = [role] if role else kafka_keys().roles_of(name)
    return {version for each in roles if (key := kafka_keys().get(each, name)) for version in key.versions}


def test_every_supported_version_has_every_rendered_key(migration: Migration) -> None:
    """Each key that an engine renders is in Kafka's own tables of each version from the oldest on, for its client."""
    keys = {each for each in rendered(migration) if not each[0].startswith(PROVIDERS)}
    missing = {each: lost for each in keys if (lost := set(SUPPORTED) - versions_of(*each))}

    assert {} == missing
    assert {"3.8.1", "3.9.1", "4.2.0"} <= set(SUPPORTED)
    assert {("acks", "producer"), ("isolation.level", "consumer"), ("listeners", "")} <= keys


@pytest.mark.parametrize("key", sorted(TUNING_KEYS))
def test_every_supported_version_has_every_tuning_key(key: str) -> None:
    """A key that a migration file may tune is in Kafka's own tables of each version from the oldest on."""
    client, _, name = key.partition(".")

    assert set() == set(SUPPORTED) - versions_of(name, client)


@pytest.mark.parametrize("key", sorted(TUNING_KEYS))
def test_kafka_takes_every_value_that_a_migration_file_takes(key: str) -> None:
    """The words and the ends of the range of a tuning key are values that Kafka takes in every supported version."""
    client, _, name = key.partition(".")
    row = present(kafka_keys().get(client, name))
    ends = [str(number) for number in {0, *(2**n + d for n in range(64) for d in (-1, 0))}]
    ends += [f"-{each}" for each in ends]
    taken = [each for each in (*words_of(key), *ends) if value_problem(key, each) is None]

    assert taken
    assert [] == [(v, each) for v in SUPPORTED for each in taken if row.wrong_value(each, v)]


def test_an_alias_may_be_no_word_that_keys_begin_with(migration: Migration) -> None:
    """The words that no alias may be are those with which MirrorMaker 2's own keys begin."""
    both = (launched(migration, exactly_once=exactly_once) for exactly_once in (False, True))
    keys = {key for each in both for key in properties_of(each, "mm2.properties") if not key.startswith("shop-")}

    assert MIRROR_WORDS == {key.partition(".")[0] for key in keys if "." in key}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_configuration_reads_no_files_but_its_own(migration: Migration, engine: str) -> None:
    """Both engines forbid each provider of configurations that they do not use, and addresses of other logins."""
    options = launched(migration, engine=engine).java_options

    assert any(option.startswith("-Dorg.apache.kafka.automatic.config.providers=") for option in options)
    assert f"-D{ENDPOINTS_OPTION}=https://b/token" in options


@pytest.mark.parametrize(
    ("engine", "version"),
    [
        *((engine, version) for engine in ENGINES for version in ("3.9.1", "3.8.1", "3.9.0.7.3.1.0-197")),
        *(("mirrormaker2", version) for version in ("4.0.0", "4.1.1", "4.2.0", "4.3.1")),
    ],
)
def test_supported_versions_honour_everything(migration: Migration, engine: str, version: str) -> None:
    """Kafka 3.8.1 to 4.3 honours what is rendered; what a vendor adds to the number says nothing."""
    assert [] == list(an_engine(migration, engine=engine).setting_findings(version))


@pytest.mark.parametrize(
    ("version", "is_warned"), [("4.2.0", False), ("4.3.0", True), ("4.10.0", True), ("3.99.0", False), ("", False)]
)
def test_a_later_minor_version_is_a_warning(migration: Migration, version: str, is_warned: bool) -> None:
    """What was not tested is named, but a minor version of Kafka removes no setting."""
    found = [finding.code for finding in version_warnings(migration, version)]

    assert ([Code.MIRROR_VERSION_UNTESTED] if is_warned else []) == found


@pytest.mark.parametrize(
    ("kafka", "java", "is_old"),
    [
        ("4.0.0", "11.0.2", True),
        ("4.2.0", "1.8.0_392", True),
        ("4.0.0", "17.0.1", False),
        ("4.0.0", "21", False),
        ("3.9.1", "1.8.0_392", False),
        ("4.0.0", "", False),
        ("4.0.0", "1" * 5000, False),
        ("", "11.0.2", False),
    ],
)
def test_kafka_4_needs_java_17(migration: Migration, kafka: str, java: str, is_old: bool) -> None:
    """A Java on which MirrorMaker would not start is a finding before the start; an unknown one is none."""
    found = [finding.code for finding in java_findings(migration, kafka, java)]

    assert ([Code.MIRROR_JAVA_TOO_OLD] if is_old else []) == found


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("version", ["0.11", "2.4.1", "3.7.2", "3.8.0", "3.8.0.7.3.1.0-197", "3.8"])
def test_an_older_version_is_refused_once(migration: Migration, engine: str, version: str) -> None:
    """A MirrorMaker that would ignore settings is one finding, with its version and the oldest one that would do."""
    tuned = {"engine": engine, "properties": {"consumer.retry.backoff.max.ms": "9"}}
    (finding,) = an_engine(migration, **tuned).setting_findings(version)

    assert Code.MIRROR_KEY_UNSUPPORTED is finding.code
    assert f"Kafka {version}, which is older than {OLDEST}." in finding.happened


@pytest.mark.parametrize(
    ("engine", "version", "code"),
    [
        ("mirrormaker2", "", Code.MIRROR_VERSION_UNKNOWN),
        ("mirrormaker2", "trunk", Code.MIRROR_VERSION_UNKNOWN),
        ("mirrormaker2", f"3.{'9' * 5000}", Code.MIRROR_VERSION_UNKNOWN),
        ("mirrormaker1", "4.0.0", Code.MM1_REMOVED),
        ("mirrormaker2", "5.0.0", Code.MIRROR_VERSION_UNTESTED),
    ],
)
def test_unusable_version_is_one_finding(migration: Migration, engine: str, version: str, code: Code) -> None:
    """An unknown version, a later major one, and one without MirrorMaker 1, are one finding, not one for each key."""
    (finding,) = an_engine(migration, engine=engine).setting_findings(version)

    assert code is finding.code


@pytest.mark.parametrize(
    ("version", "is_safe"),
    [("3.8.1", False), ("3.9.0", False), ("3.9.0.7.3.1.0-197", False), ("3.9.1", True), ("3.9.2", True), ("", True)],
)
def test_login_needs_a_kafka_that_keeps_it(migration: Migration, version: str, is_safe: bool) -> None:
    """A Kafka with known holes gets no login; an unknown version is refused for that already."""
    found = [finding.code for finding in login_findings(migration, version)]

    assert ([] if is_safe else [Code.MIRROR_KAFKA_TOO_OLD]) == found


@pytest.mark.parametrize("engine", [{}, {"engine": "connect", "connect": ConnectSettings("connect-status")}])
@pytest.mark.parametrize(
    ("topic", "names", "part"),
    [
        ("orders.replica", TopicNames(), "skips by default"),
        ("device-heartbeats", TopicNames(), "copies to shop-source.device-heartbeats"),
        ("shop-target.orders", TopicNames("prefixed"), "a cycle"),
        ("eu.shop-target.orders", TopicNames("prefixed"), "a cycle"),
    ],
)
def test_topic_that_mirrormaker_2_would_leave_out_is_named(
    migration: Migration, topic: str, names: TopicNames, part: str, engine: dict[str, object]
) -> None:
    """Names that mean something to MirrorMaker 2 itself are refused, because it says nothing about them."""
    strange = replace(migration, topics=("orders", topic))

    (finding,) = an_engine(strange, topic_names=names, **engine).setting_findings("3.9.1")

    assert Code.TOPIC_NEVER_COPIED is finding.code
    assert part in finding.found


@pytest.mark.parametrize(
    ("topic", "settings"),
    [
        ("shop-target.orders", {}),
        ("orders.shop-target", {"topic_names": TopicNames("prefixed")}),
        ("device-heartbeats", {"topic_names": TopicNames("prefixed")}),
        ("orders.replica", {"engine": "mirrormaker1"}),
    ],
)
def test_topic_that_is_copied_after_all_is_not_named(
    migration: Migration, topic: str, settings: dict[str, object]
) -> None:
    """Each rule belongs to one way of naming topics, and none to MirrorMaker 1."""
    assert [] == list(an_engine(replace(migration, topics=(topic,)), **settings).setting_findings("3.9.1"))
