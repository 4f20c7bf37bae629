"""An imported migration describes the same copy as MirrorMaker 2, over many configurations and names."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.kafka.reserved_topics import reserved_reason
from kafka_migration.core.migration.patterns import matches
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.run.overlap import copying
from kafka_migration.migration_file.loading import load_migration
from kafka_migration.mirrormaker_import.proposal import import_files
from tests.unit.mirrormaker_files.mirrormaker_model import Model
from tests.unit.mirrormaker_files.reading import read_mirror_file

pytestmark = pytest.mark.unit

ALIASES = ("old", "new", "A", "B", "dc_1", "a.b", "9x")
TOPICS = (
    *("orders", "orders-eu", "payments", "tmp-1", "a", "b", "ab", "orders.replica", "x-internal", "x.internal"),
    *(f"{alias}.orders" for alias in ALIASES),
    *("A.B.orders", "old.new.orders", "new.old.tmp-1", "ordersXeu"),
)
GROUPS = ("billing", "billing-2", "connect-sink", "console-consumer-9", "my-connect-1", "a", "b", "ab", "shop|x")
LISTS = st.sampled_from(
    [
        "",
        ".*",
        "orders",
        "orders, payments",
        "orders.*",
        "a|b",
        "a,b",
        "^orders$",
        "tmp-.*, .*eu",
        ".*internal",
        "x.*, a",
    ]
)
GROUP_LISTS = st.sampled_from(["", ".*", "billing.*", "billing, a|b", "connect-.*", "a,b", ".*-.*", "__.*, con.*"])
POLICIES = st.sampled_from(
    [*(f"org.apache.kafka.connect.mirror.{name}ReplicationPolicy" for name in ("Identity", "Default", "Legacy")), ""]
)
LEVELS = st.sampled_from(["read_committed", "read_uncommitted"])
SETTINGS = {
    "topics": LISTS,
    "topics.exclude": LISTS,
    "topics.blacklist": LISTS,
    "groups": GROUP_LISTS,
    "groups.exclude": GROUP_LISTS,
    "groups.blacklist": GROUP_LISTS,
    "replication.policy.class": POLICIES,
    "replication.policy.separator": st.sampled_from([".", "", "_", "-"]),
    "source.cluster.alias": st.sampled_from(["", "old", "Xy", "a.b"]),
    "target.cluster.alias": st.sampled_from(["new", "B"]),
}
CLIENTS = {
    "consumer.isolation.level": LEVELS,
    "producer.isolation.level": LEVELS,
    "isolation.level": LEVELS,
    "consumer.max.poll.records": st.sampled_from(["7", "8"]),
    "producer.linger.ms": st.sampled_from(["5", "6"]),
    "producer.override.linger.ms": st.sampled_from(["5", "6"]),
    "replication.factor": st.just("1"),
}


@st.composite
def configurations(draw: st.DrawFn) -> tuple[dict[str, str], str, str]:
    """Draw a configuration with one enabled flow, and its clusters."""
    clusters = draw(st.lists(st.sampled_from(ALIASES), min_size=2, max_size=3, unique=True))
    source, target = draw(st.sampled_from(list(permutations(clusters, 2))))
    config = {"clusters": ", ".join(clusters), f"{source}->{target}.enabled": draw(st.sampled_from(["true", "TRUE"]))}
    places = ("", f"{source}->{target}.", f"{target}->{source}.", f"{source}.", f"{target}.")
    for prefix in places[:3]:
        config |= {f"{prefix}{key}": draw(SETTINGS[key]) for key in draw(st.sets(st.sampled_from(sorted(SETTINGS))))}
    for prefix in places[3:]:
        config |= {f"{prefix}{key}": draw(CLIENTS[key]) for key in draw(st.sets(st.sampled_from(sorted(CLIENTS))))}
    items = draw(st.permutations(sorted(config.items())))
    return dict(items), source, target


def imported(config: dict[str, str]) -> Migration | None:
    """Return the migration; `None` if it is refused."""
    text = "".join(f"{name} = {value}\n" for name, value in config.items())
    try:
        found = import_files([read_mirror_file("mm2.properties", text)], "copied")
    except Refused:
        return None
    return load_migration(found.text, where="copied.yaml")


@settings(max_examples=100)
@given(drawn=configurations())
def test_the_imported_file_describes_the_same_copy(drawn: tuple[dict[str, str], str, str]) -> None:
    """Flow, names, topics, groups, isolation and tuning are those of the model, or the file is refused."""
    assert_the_same_copy(drawn)


@pytest.mark.campaign
@settings(max_examples=4_000)
@given(drawn=configurations())
def test_many_imported_files_describe_the_same_copy(drawn: tuple[dict[str, str], str, str]) -> None:
    """The same with many more configurations."""
    assert_the_same_copy(drawn)


def assert_the_same_copy(drawn: tuple[dict[str, str], str, str]) -> None:
    """Import a configuration, and compare what is copied."""
    config, source, target = drawn
    model, found = Model(config, source, target), imported(config)
    if found is None:
        return

    assert found.source.connection == f"{source.replace('.', '_').lower()}_kafka"
    assert found.target.connection == f"{target.replace('.', '_').lower()}_kafka"
    copied = [topic for topic in TOPICS if model.copies(topic)]
    # Patterns of a migration file never take reserved names, which the check says.
    assert {each for each in copied if not reserved_reason(each)} <= set(filter(copying(found), TOPICS)) <= set(copied)
    assert list(map(found.target_topic, copied)) == list(map(model.name_of, copied))
    assert [each for each in GROUPS if matches(each, found.cutover.groups)] == list(filter(model.selects, GROUPS))
    level = model.client(source, "consumer.isolation.level") or "read_uncommitted"
    tuning = {"consumer.max.poll.records": source, "producer.linger.ms": target}
    assert found.mirror.isolation_level == level
    assert found.mirror.properties == {k: v for k, alias in tuning.items() if (v := model.client(alias, k))}


def test_most_configurations_are_not_refused() -> None:
    """The rule above says something: usual configurations are imported."""
    usual = {"clusters": "A, B", "A->B.enabled": "true", "A->B.topics": "orders.*", "groups.exclude": "tmp.*"}

    assert imported(usual) is not None
    assert imported({**usual, "replication.policy.separator": "_"}) is None
