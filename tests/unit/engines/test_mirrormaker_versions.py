"""Rules of MirrorMaker's version: what it would ignore is a finding before the start, not a surprise at night."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.migration.client_tuning import TUNING_KEYS
from kafka_migration.core.migration.settings import Migration, TopicNames
from kafka_migration.core.mirror.engine import AnyEngine, LaunchFacts
from kafka_migration.engines.engines import engine_of
from kafka_migration.engines.launching import ENDPOINTS_OPTION
from kafka_migration.engines.required_versions import (
    MIRRORMAKER1_KEYS,
    MIRRORMAKER2_KEYS,
    KafkaVersion,
    java_findings,
    login_findings,
    version_warnings,
)
from kafka_migration.mirrormaker_files.model.kafka_keys import kafka_keys
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

# The parameters of the provider that the profile names `dir`.
NOT_IN_CONFIG_DEFS = {"config.providers.dir.class", "config.providers.dir.param.allowed.paths"}


def an_engine(migration: Migration, **settings: object) -> AnyEngine:
    made = replace(migration, mirror=replace(migration.mirror, **settings))  # type: ignore[arg-type]
    return engine_of(made, FakeCluster("old"), FakeCluster("new"))


def keys_unsupported_by(engine: AnyEngine, version: str) -> set[str]:
    findings = list(engine.setting_findings(version))
    assert {Code.MIRROR_KEY_UNSUPPORTED} >= {finding.code for finding in findings}
    return {finding.subject.rpartition(", ")[2] for finding in findings}


@pytest.mark.parametrize("exactly_once", [False, True])
def test_every_key_rendered_for_mirrormaker_2_is_in_the_table(migration: Migration, exactly_once: bool) -> None:
    """The table has the versions of every rendered key, because an old MirrorMaker ignores unknown keys."""
    launched = an_engine(migration, exactly_once=exactly_once).launch(1, LaunchFacts(EVERY_LOGIN, EVERY_LOGIN, 2048))
    named = {re.sub(r"shop-(source|target)", r"\1", key) for key in properties_of(launched, "mm2.properties")}

    assert set() == named - set(MIRRORMAKER2_KEYS)
    assert any(option.startswith("-Dorg.apache.kafka.automatic.config.providers=") for option in launched.java_options)
    assert f"-D{ENDPOINTS_OPTION}=https://b/token" in launched.java_options
    assert exactly_once == ("listeners" in named)


def test_every_key_rendered_for_mirrormaker_1_is_in_the_table(migration: Migration) -> None:
    """So it is with both of its files and its flags."""
    launched = an_engine(migration, engine="mirrormaker1").launch(1, LaunchFacts(EVERY_LOGIN, EVERY_LOGIN, 2048))
    rendered = {key for side in ("consumer", "producer") for key in properties_of(launched, f"{side}.properties")}

    assert set() == {*rendered, *launched.arguments[::2]} - set(MIRRORMAKER1_KEYS)


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


@pytest.mark.parametrize("exactly_once", [False, True])
def test_kafka_4_has_every_key_of_the_profile(migration: Migration, exactly_once: bool) -> None:
    """Each key that MirrorMaker 2 of Kafka 4 gets is in Kafka's own tables of each 4.x version."""
    launched = an_engine(migration, exactly_once=exactly_once).launch(1, LaunchFacts(EVERY_LOGIN, EVERY_LOGIN, 2048))
    prefixes = r"shop-(source|target)(->shop-(source|target))?\.((consumer|producer|admin)\.)?"
    named = {re.sub(f"^{prefixes}", "", key) for key in properties_of(launched, "mm2.properties")}
    keys, kafka_4 = kafka_keys(), {version for version in kafka_keys().versions if version.startswith("4.")}

    versions = {
        name: {v for role in keys.roles_of(name) for v in present(keys.get(role, name)).versions}
        for name in named - NOT_IN_CONFIG_DEFS
    }

    assert {} == {name: kafka_4 - there for name, there in versions.items() if kafka_4 - there}


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
        ("", "11.0.2", False),
    ],
)
def test_kafka_4_needs_java_17(migration: Migration, kafka: str, java: str, is_old: bool) -> None:
    """A Java on which MirrorMaker would not start is a finding before the start; an unknown one is none."""
    found = [finding.code for finding in java_findings(migration, kafka, java)]

    assert ([Code.MIRROR_JAVA_TOO_OLD] if is_old else []) == found


@pytest.mark.parametrize(
    ("version", "settings", "some"),
    [
        ("2.7.0", {}, {"replication.policy.class", "offset-syncs.topic.location", "config.providers"}),
        ("3.2.0", {}, {"config.providers", "-Dorg.apache.kafka.automatic.config.providers"}),
        ("3.4.1", {"exactly_once": True}, {"target.exactly.once.source.support", "listeners"}),
        ("3.8.0", {}, {"config.providers", "config.providers.dir.class"}),
        ("3.6.0", {"properties": {"consumer.retry.backoff.max.ms": "9"}}, {"consumer.retry.backoff.max.ms"}),
        ("3.6.0", {"engine": "mirrormaker1"}, {"config.providers.dir.param.allowed.paths"}),
        ("2.0.0", {"engine": "mirrormaker1"}, {"delivery.timeout.ms", "config.providers"}),
    ],
)
def test_each_ignored_key_is_named(
    migration: Migration, version: str, settings: dict[str, object], some: set[str]
) -> None:
    """One finding per key, with the version that is there and the ones that would do."""
    assert some <= keys_unsupported_by(an_engine(migration, **settings), version)


def test_key_of_an_option_that_is_off_does_not_matter(migration: Migration) -> None:
    """Without exactly-once an old MirrorMaker is not blamed for it, nor with prefixed names for the identity policy."""
    prefixed = keys_unsupported_by(an_engine(migration, topic_names=TopicNames("prefixed")), "2.7.0")

    assert "listeners" not in prefixed
    assert "replication.policy.class" not in prefixed


@pytest.mark.parametrize(
    ("engine", "version", "code"),
    [
        ("mirrormaker2", "", Code.MIRROR_VERSION_UNKNOWN),
        ("mirrormaker2", "trunk", Code.MIRROR_VERSION_UNKNOWN),
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


def test_every_version_in_the_tables_is_one() -> None:
    """A version that cannot be read would let everything pass."""
    tables = (*MIRRORMAKER1_KEYS.values(), *MIRRORMAKER2_KEYS.values())
    texts = {row.first for row in tables} | set(TUNING_KEYS.values())

    assert None not in {KafkaVersion.of(text) for text in texts}


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
    migration: Migration, topic: str, names: TopicNames, part: str
) -> None:
    """Names that mean something to MirrorMaker 2 itself are refused, because it says nothing about them."""
    strange = replace(migration, topics=("orders", topic))

    (finding,) = an_engine(strange, topic_names=names).setting_findings("3.9.1")

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
