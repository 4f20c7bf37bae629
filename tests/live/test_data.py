"""The demo's data on a real broker: what is there, who has read it, who may see it, and how a copy is damaged."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

import pytest
from confluent_kafka import Consumer, ConsumerGroupState, ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource

from sandbox.data.asking import asked
from sandbox.data.clicks import CLICKS, are_clicks_whole
from sandbox.data.damage import Damage, damaged, remake_topic
from sandbox.data.groups import GROUPS, Group, have_committed
from sandbox.data.reading import partitions_of, read_contents, read_records
from sandbox.data.records import SPAN_MS, Record, orders, spread
from sandbox.data.seeding import Volumes, seed
from sandbox.data.sending import Sender
from sandbox.data.topics import ORDERS, TOPICS, Topic, create_topics
from sandbox.data.traffic import LiveTraffic
from sandbox.errors import SandboxError
from sandbox.sandbox import Sandbox
from tests.live.groups import end_of
from tests.waiting import wait_until

pytestmark = pytest.mark.live

# Recent enough for every topic's retention: the broker would purge older records while the tests compare.
START_MS = int(time.time() * 1000) - SPAN_MS
VOLUMES = Volumes(orders=6_000, payments=12_000, audit=1_000, transfers=1_000)
TIMEOUT_S = 180
COPIED = "copied"


@pytest.fixture(scope="module")
def clusters(brokers: Sandbox) -> Iterator[Sandbox]:
    """Two clusters without the demo's topics; afterwards they have none of them either."""
    yield brokers
    for bootstrap in (brokers.state.source_bootstrap, brokers.state.target_bootstrap):
        remove_topics(bootstrap)


def remove_topics(bootstrap: str) -> None:
    """Delete what this module may have created, and wait until the cluster has forgotten it."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    mine = {*(topic.name for topic in TOPICS), CLICKS.name, COPIED}

    def there() -> list[str]:
        return sorted(mine & set(admin.list_topics(timeout=TIMEOUT_S).topics))

    for future in admin.delete_topics(there()).values() if there() else ():
        future.result(TIMEOUT_S)
    wait_until(lambda: not there(), TIMEOUT_S, "the topics' end")


@pytest.fixture(scope="module")
def source(clusters: Sandbox) -> str:
    """The bootstrap servers of a seeded cluster."""
    return clusters.state.source_bootstrap


@pytest.fixture(scope="module")
def seeded(source: str) -> Mapping[str, int]:
    """The counts that the seeding returned."""
    return seed(source, START_MS, VOLUMES)


def _ends(bootstrap: str, topic: str) -> dict[int, int]:
    """Return the high watermark of each partition."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "ends"})
    try:
        return {p: end_of(consumer, TopicPartition(topic, p)) for p in partitions_of(consumer, topic)}
    finally:
        consumer.close()


def _configs(bootstrap: str, like: Topic, name: str) -> dict[str, str | None]:
    """Return a topic's values of the settings that another one has."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    resource = ConfigResource(ConfigResource.Type.TOPIC, name)
    found = asked(lambda: admin.describe_configs([resource])[resource].result(TIMEOUT_S), f"the settings of {name}")
    return {setting: found[setting].value for setting in like.configs}


def _committed(bootstrap: str, group: str) -> dict[tuple[str, int], TopicPartition]:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    wanted = [ConsumerGroupTopicPartitions(group)]
    found = asked(lambda: admin.list_consumer_group_offsets(wanted)[group].result(TIMEOUT_S), f"the commits of {group}")
    return {(p.topic, p.partition): p for p in found.topic_partitions}


def test_counts_are_what_a_reader_of_committed_records_finds(source: str, seeded: Mapping[str, int]) -> None:
    """The seeding's counts, the volumes asked for and what a consumer reads are the same numbers."""
    found = read_contents(source, seeded)

    assert seeded == {"orders": 6_000, "payments": 12_000, "audit": 1_000, "transfers": 1_000}
    assert {topic: sum(c.records for c in parts.values()) for topic, parts in found.items()} == seeded
    assert {topic: len(parts) for topic, parts in found.items()} == {topic.name: topic.partitions for topic in TOPICS}


def test_content_is_the_same_on_every_cluster(clusters: Sandbox, source: str, seeded: Mapping[str, int]) -> None:
    """Seeding another cluster with the same start gives the same records in the same partitions and order."""
    target = clusters.state.target_bootstrap
    seed(target, START_MS, VOLUMES)

    assert read_contents(source, seeded) == read_contents(target, seeded)


def test_transfers_end_in_an_abort_marker(source: str, seeded: Mapping[str, int]) -> None:
    """On every partition aborted records and a marker lie behind the last visible record."""
    visible = read_records(source, "transfers")

    assert all(end > visible[partition][-1].offset + 2 for partition, end in _ends(source, "transfers").items())


def test_topics_have_settings_of_their_own(source: str, seeded: Mapping[str, int]) -> None:
    """The settings that a migration should copy are there."""
    for topic in TOPICS:
        assert _configs(source, topic, topic.name) == topic.configs


def test_groups_stand_where_they_should(source: str, seeded: Mapping[str, int]) -> None:
    """`billing` at every end, `reporting` behind with its metadata, `fraud` on some partitions, `archive` nowhere."""
    ends = {(topic, p): end for topic in seeded for p, end in _ends(source, topic).items()}
    billing, reporting = _committed(source, "billing"), _committed(source, "reporting")

    assert {place: found.offset for place, found in billing.items()} == ends
    assert {place for place in ends if place[0] in {"orders", "payments"}} == set(reporting)
    assert all(found.offset == int(ends[place] * 0.6) for place, found in reporting.items())
    assert {found.metadata for found in reporting.values()} == {"nightly report"}
    assert set(_committed(source, "fraud")) == {("orders", 0), ("orders", 2), ("transfers", 1)}
    assert _committed(source, "archive") == {}


def test_groups_exist_without_members(source: str, seeded: Mapping[str, int]) -> None:
    """All groups are known, `archive` included, and nobody is in them any more."""
    admin = AdminClient({"bootstrap.servers": source})
    names = [group.name for group in GROUPS]
    found = {name: future.result(TIMEOUT_S) for name, future in admin.describe_consumer_groups(names).items()}

    assert {name: group.state for name, group in found.items()} == dict.fromkeys(names, ConsumerGroupState.EMPTY)


def test_a_filled_source_is_known_as_one(source: str, seeded: Mapping[str, int]) -> None:
    """The groups have committed, as one that nobody knows has not; the clicks are whole once they are sent."""
    assert have_committed(source)
    assert not have_committed(source, [Group("nobody", {"orders": 1.0})])

    create_topics(source, [CLICKS])
    assert not are_clicks_whole(source)
    remake_topic(source, CLICKS.name, {p: [Record(b"k", b"v", (), START_MS, p)] * 1_800 for p in range(2)})
    assert are_clicks_whole(source)


def test_seeding_twice_is_refused(source: str, seeded: Mapping[str, int]) -> None:
    """A source that has the topics is left as it is, with an error that names the first."""
    with pytest.raises(SandboxError, match="orders"):
        seed(source, START_MS, VOLUMES)


def test_traffic_counts_what_readers_find(clusters: Sandbox, seeded: Mapping[str, int]) -> None:
    """What live producers report as acknowledged is what a consumer finds in addition, transactions included."""
    source = clusters.state.source_bootstrap
    before = read_contents(source, seeded)

    with LiveTraffic(source) as traffic:
        traffic.wait_for_more(900)

    after = read_contents(source, seeded)
    added = {t: sum(c.records for c in after[t].values()) - sum(c.records for c in before[t].values()) for t in seeded}
    assert added == {"audit": 0, **traffic.acknowledged}
    assert all(traffic.acknowledged[topic] > 0 for topic in ("orders", "payments", "transfers"))


@pytest.fixture(scope="module")
def copied(clusters: Sandbox) -> tuple[str, str, dict[int, list[Record]]]:
    """A small topic with headers on the target: bootstrap servers, name, {partition: records}."""
    bootstrap, topic = clusters.state.target_bootstrap, Topic(COPIED, 3, ORDERS.configs)
    create_topics(bootstrap, [topic])
    history = orders(spread(START_MS, 300))
    sent = [r._replace(partition=n % 3, headers=(("n", b"%d" % n), ("null", None))) for n, r in enumerate(history)]
    # Neighbours within one partition; these are three apart in the history.
    sent = [r._replace(key=b"key-%d" % (n // 6)) for n, r in enumerate(sent)]
    Sender(bootstrap).send_all(topic.name, sent)
    return bootstrap, topic.name, {p: [record for record in sent if record.partition == p] for p in range(3)}


@pytest.mark.parametrize("damage", Damage)
def test_damage_leaves_exactly_the_intended_difference(
    damage: Damage, copied: tuple[str, str, dict[int, list[Record]]]
) -> None:
    """The re-made topic holds the damaged records in one partition, everything else and its settings as before."""
    bootstrap, topic, contents = copied
    intended = {**contents, 2: damaged(damage, contents[2]).records}

    remake_topic(bootstrap, topic, intended)

    found = read_records(bootstrap, topic)
    assert {p: [placed.record for placed in records] for p, records in found.items()} == {
        p: [record._replace(partition=p) for record in records] for p, records in intended.items()
    }
    assert all([placed.offset for placed in records] == list(range(len(records))) for records in found.values())
    assert _configs(bootstrap, ORDERS, topic) == ORDERS.configs


def test_traffic_to_a_topic_that_is_gone_is_an_error(clusters: Sandbox) -> None:
    """Traffic that cannot be delivered does not end as if all were well."""
    source = clusters.state.source_bootstrap
    remove_topics(source)
    with pytest.raises(SandboxError, match="ended early"), LiveTraffic(source) as traffic:
        traffic.wait_for_more(1, timeout_s=TIMEOUT_S)
