"""Rules of MirrorMaker's version: what it would ignore is a finding before the start, not a surprise at night."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.migration.client_tuning import TUNING_KEYS
from kafka_migration.core.migration.settings import Migration, TopicNames
from kafka_migration.core.mirror.engine import LaunchFacts, MirrorEngine
from kafka_migration.engines.engines import engine_of
from kafka_migration.engines.launching import ENDPOINTS_OPTION
from kafka_migration.engines.versions import MIRRORMAKER1_KEYS, MIRRORMAKER2_KEYS, KafkaVersion, login_findings
from tests.contract.fake_cluster import FakeCluster
from tests.contract.fake_mirrormaker import properties_of

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


def an_engine(migration: Migration, **settings: object) -> MirrorEngine:
    made = replace(migration, mirror=replace(migration.mirror, **settings))  # type: ignore[arg-type]
    return engine_of(made, FakeCluster("old"), FakeCluster("new"))


def keys_unsupported_by(engine: MirrorEngine, version: str) -> set[str]:
    findings = list(engine.setting_findings(version))
    assert {Code.MIRROR_KEY_UNSUPPORTED} >= {finding.code for finding in findings}
    return {finding.subject.rpartition(", ")[2] for finding in findings}


@pytest.mark.parametrize("exactly_once", [False, True])
def test_every_key_rendered_for_mirrormaker_2_is_in_the_table(migration: Migration, exactly_once: bool) -> None:
    """The table has the versions of every rendered key, because an old MirrorMaker ignores unknown keys."""
    launched = an_engine(migration, exactly_once=exactly_once).launch(1, LaunchFacts(EVERY_LOGIN, EVERY_LOGIN, 2048))
    named = {re.sub(r"shop-(source|target)", r"\1", key) for key in properties_of(launched, "mm2.properties")}

    assert set() == (named | {"log4j.properties"}) - set(MIRRORMAKER2_KEYS)
    assert any(option.startswith("-Dorg.apache.kafka.automatic.config.providers=") for option in launched.java_options)
    assert f"-D{ENDPOINTS_OPTION}=https://b/token" in launched.java_options
    assert exactly_once == ("listeners" in named)


def test_every_key_rendered_for_mirrormaker_1_is_in_the_table(migration: Migration) -> None:
    """So it is with both of its files and its flags."""
    launched = an_engine(migration, engine="mirrormaker1").launch(1, LaunchFacts(EVERY_LOGIN, EVERY_LOGIN, 2048))
    rendered = {key for side in ("consumer", "producer") for key in properties_of(launched, f"{side}.properties")}

    assert set() == {*rendered, *launched.arguments[::2]} - set(MIRRORMAKER1_KEYS)


@pytest.mark.parametrize("engine", ["mirrormaker1", "mirrormaker2"])
@pytest.mark.parametrize("version", ["3.9.1", "3.8.1", "3.9.0.7.3.1.0-197"])
def test_recommended_versions_honour_everything(migration: Migration, engine: str, version: str) -> None:
    """Kafka 3.8.1 to 3.9 honours what is rendered; what a vendor adds to the number says nothing."""
    assert [] == list(an_engine(migration, engine=engine).setting_findings(version))


@pytest.mark.parametrize(
    ("version", "settings", "some"),
    [
        ("2.7.0", {}, {"replication.policy.class", "offset-syncs.topic.location", "config.providers"}),
        ("3.2.0", {}, {"config.providers", "-Dorg.apache.kafka.automatic.config.providers"}),
        ("3.4.1", {"exactly_once": True}, {"target.exactly.once.source.support", "listeners"}),
        ("3.8.0", {}, {"config.providers", "config.providers.dir.class"}),
        ("3.6.0", {"properties": {"consumer.retry.backoff.max.ms": "9"}}, {"consumer.retry.backoff.max.ms"}),
        ("4.1.0", {}, {"log4j.properties"}),
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
    ],
)
def test_unusable_version_is_one_finding(migration: Migration, engine: str, version: str, code: Code) -> None:
    """An unknown version, and a Kafka without MirrorMaker 1, are one finding and not one for each key."""
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
    texts = {text for row in tables for text in (row.first, row.removed) if text} | set(TUNING_KEYS.values())

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
