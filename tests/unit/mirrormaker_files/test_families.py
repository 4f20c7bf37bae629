"""Keys of families, topics that are named and excluded, and where a key belongs."""

from __future__ import annotations

import pytest

from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding
from kafka_migration.mirrormaker_files.rules.linter import lint
from tests.unit.mirrormaker_files.reading import read_mirror_file

HEAD = "clusters = old, new\nold.bootstrap.servers = o:9092\nnew.bootstrap.servers = n:9092\nold->new.enabled = true\n"
MIRROR = (
    "connector.class = org.apache.kafka.connect.mirror.MirrorSourceConnector\nname = copy\n"
    "source.cluster.alias = old\ntarget.cluster.alias = new\n"
)


def findings(text: str, code: LintCode) -> list[LintFinding]:
    return [each for each in lint([read_mirror_file("copy.properties", text)], kafka_keys()) if each.code is code]


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("offset.storage.replicaton.factor = 3", "offset.storage.replication.factor"),
        ("new.offset.storage.partitons = 25", "new.offset.storage.partitions"),
        ("config.storage.replication.facto = 3", "config.storage.replication.factor"),
        ("status.storage.topik = a", "status.storage.topic"),
        ("replication.policy.seperator = _", "replication.policy.separator"),
        ("replication.policy.clas = a.B", "replication.policy.class"),
        ("metrics.recording.levl = DEBUG", "metrics.recording.level"),
        ("metrics.reporters = a.B", "metric.reporters"),
        ("forwarding.admin.clas = a.B", "forwarding.admin.class"),
        ("config.providers.file.clas = a.B", "config.providers.file.class"),
    ],
)
def test_a_key_that_is_almost_one_of_its_family_is_named(line: str, meant: str) -> None:
    """Families of keys have no end, but a key that differs from Kafka's in a letter is a mistake."""
    (found,) = findings(f"{HEAD}{line}\n", LintCode.KEY_MISSPELLED)

    assert (5, f"Write '{meant}'.") == (found.line, found.fix)


@pytest.mark.parametrize(
    "line",
    [
        "offset.storage.min.insync.replicas = 2",
        "config.storage.retention.ms = 1",
        "replication.policy.topic.map = a:b",
        "metrics.context.name = a",
        "metrics.datadog.host = a",
        "config.providers.file.param.path = a",
        "config.providers.file.class = org.apache.kafka.common.config.provider.FileConfigProvider",
        "key.converter.schema.registry.url = http://a",
        "topic.creation.default.replication.factor = 3",
    ],
)
def test_other_keys_of_a_family_are_not_judged(line: str) -> None:
    """Settings of topics, and of plug-ins, are keys that no table knows."""
    assert [] == findings(f"{HEAD}{line}\n", LintCode.KEY_MISSPELLED)


def test_a_connector_is_told_the_key_that_workers_read() -> None:
    """The fix repeats no misspelt key."""
    (found,) = findings(f"{MIRROR}offset.storage.replicaton.factor = 3\n", LintCode.KEY_MISSPELLED)

    assert "Write 'offset.storage.replication.factor' into the properties of the Connect workers." == found.fix
    assert [] == findings(f"{MIRROR}offset.storage.replicaton.factor = 3\n", LintCode.KEY_MISPLACED)


def test_the_group_of_a_connector_belongs_to_its_workers() -> None:
    """A connector of Kafka Connect has no worker of its own."""
    (found,) = findings(f"{MIRROR}group.id = a\n", LintCode.KEY_MISPLACED)

    assert "Write `group.id` into the properties of the Connect workers." == found.fix


def test_a_factor_of_a_cluster_is_compared_with_the_line_that_counts() -> None:
    """What counts instead of an ignored line is never the default if another line gives the value."""
    (found,) = findings(f"{HEAD}replication.factor = 3\nold.replication.factor = 1\n", LintCode.KEY_MISPLACED)

    assert (6, "it is ignored: line 5 counts") == (found.line, found.effect)
    assert "Remove it, or write 'old->new.replication.factor'." == found.fix


@pytest.mark.parametrize(
    ("topics", "excluded", "names"),
    [
        ("orders", ".*", ["orders"]),
        ("orders, a.b", "or.*, x", ["orders"]),
        ("orders, a.b", "a\\\\.b", ["a.b"]),
        ("orders", "orders2, order, .*rders.*, [a-z]+", []),
        ("orders.*", "orders", []),
    ],
)
def test_a_named_topic_that_is_excluded_is_named(topics: str, excluded: str, names: list[str]) -> None:
    """An exclusion wins over the list of topics."""
    found = findings(f"{HEAD}topics = {topics}\ntopics.exclude = {excluded}\n", LintCode.TOPIC_NOT_COPIED)

    assert [f"'{name}' is in 'topics.exclude' too" for name in names] == [each.found for each in found]
    assert all(each.others == (6,) for each in found)


def test_a_secret_on_a_line_of_its_own_is_not_shown() -> None:
    """A word without `=` may be the value of the key on the line before."""
    file = read_mirror_file("copy.properties", f"{HEAD}old.ssl.keystore.password =\nhunter3\n")

    assert all("hunter3" not in str(each) for each in lint([file], kafka_keys()))


def test_the_fix_is_no_line_that_is_there() -> None:
    """A line for the wrong side is removed if the right one has the key."""
    text = f"{HEAD}new.producer.linger.ms = 5\nold.producer.linger.ms = 6\n"
    (found,) = findings(text, LintCode.CLIENT_LIMITED)

    assert (6, "Remove it: line 5 has this key.") == (found.line, found.fix)


@pytest.mark.parametrize("key", ["admin.listeners", "exclude.internal.topics", "consumer.exclude.internal.topics"])
def test_a_key_that_would_do_nothing_anywhere_is_removed(key: str) -> None:
    """No fix moves a line to a place where it has no effect either."""
    file = read_mirror_file("copy.properties", f"{HEAD}{key} = x\n")

    assert all(each.fix.startswith("Remove it: ") for each in lint([file], kafka_keys()) if each.line == 5)


def test_a_line_of_another_connector_counts_for_no_connector() -> None:
    """Each connector of a resource has its own configuration."""
    text = (
        "apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaMirrorMaker2\nspec:\n  connectCluster: b\n  clusters:\n"
        "    - {alias: a, bootstrapServers: 'a:9092'}\n    - {alias: b, bootstrapServers: 'b:9092'}\n  mirrors:\n"
        "    - sourceCluster: a\n      targetCluster: b\n      sourceConnector: {tasksMax: 2}\n"
        "      heartbeatConnector: {config: {tasks.maxx: 3}}\n"
    )
    found = [each for each in lint([read_mirror_file("mm2.yaml", text)], kafka_keys()) if "maxx" in each.key]

    assert ["it is ignored: the default '1' stays"] == [each.effect for each in found]


def test_a_key_of_workers_in_a_connector_has_no_default_there() -> None:
    """The workers may have the key in their own file, which is not known."""
    (found,) = findings(f"{MIRROR}offset.flush.interval.ms = 10\n", LintCode.KEY_MISPLACED)

    assert "it is ignored: what the workers have counts" == found.effect


def test_a_key_of_brokers_is_no_unknown_key() -> None:
    """Brokers have the key, so it is not called unknown."""
    text = f"{HEAD}old.offset.metadata.max.bytes = 1024\n"

    assert [5] == [each.line for each in findings(text, LintCode.KEY_OF_BROKERS)]


@pytest.mark.parametrize(
    ("line", "severity"),
    [
        ("refresh.topic.interval.seconds = 5", "warning"),
        ("max.tasks = 4", "warning"),
        ("old.client_id = a", "warning"),
        ("readahead.queue.capacity = 500", "warning"),
        ("old->new.topic = orders", "error"),
        ("old.securty.protocol = SSL", "error"),
    ],
)
def test_a_key_that_only_costs_time_is_a_warning(line: str, severity: str) -> None:
    """An error is what loses something or does not start."""
    found = lint([read_mirror_file("copy.properties", f"{HEAD}{line}\n")], kafka_keys())

    assert [severity] == [str(each.severity) for each in found if each.line == 5]
