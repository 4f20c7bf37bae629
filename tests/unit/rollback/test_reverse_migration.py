"""The generated file that brings records back is a migration file, in the other direction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kafka_migration.core.groups.offsets_plan import TargetOnly
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.migration.settings import ConnectSettings, Insecurity, Migration, SchemaRegistrySettings
from kafka_migration.core.rollback.rollback_planning import reverse_migration
from kafka_migration.migration_file.loading import load_migration

LEFT = (TargetOnly("orders", {TopicPartition("orders", 1): 40}, 7, is_exact=True),)


def test_it_loads_and_goes_back(migration: Migration) -> None:
    """Source and target are exchanged, the topics have other names, and the text has the first offsets."""
    mirror = replace(migration.mirror, engine="mirrormaker1", kafka_home="/opt/kafka")
    source = replace(migration.source, insecure=(Insecurity.SASL_PLAINTEXT,))
    name, text = reverse_migration(replace(migration, mirror=mirror, source=source), LEFT)
    back = load_migration(text, where=f"{name}.yaml")

    ends = back.target.connection, back.source.connection
    assert ends == (migration.source.connection, migration.target.connection)
    assert (("orders",), "shop-back.orders") == (back.topics, back.target_topic("orders"))
    assert ("mirrormaker2", "/opt/kafka") == (back.mirror.engine, back.mirror.kafka_home)
    assert ((Insecurity.SASL_PLAINTEXT,), ()) == (back.target.insecure, back.source.insecure)
    assert "7 records, partition 1: 40" in text


def test_registries_change_sides(migration: Migration) -> None:
    """The registry of the target becomes that of the source, and only the parts of its topics remain."""
    named = SchemaRegistrySettings("old", "new", {"orders": ("value",), "audit": ()})
    name, text = reverse_migration(replace(migration, schema_registry=named), LEFT)

    back = load_migration(text, where=f"{name}.yaml").schema_registry
    assert back == SchemaRegistrySettings("new", "old", {"orders": ("value",)})


def on_connect(migration: Migration, secrets: Mapping[Side, Mapping[str, str]]) -> Migration:
    """Return the migration on a Connect cluster whose settings are all known."""
    known = ConnectSettings("connect-status", "connect-configs", "connect-offsets", "my workers", secrets)
    mirror = replace(migration.mirror, engine="connect", connection="shop_connect", connect=known)
    return replace(migration, mirror=mirror)


def test_connect_cluster_copies_back_with_other_workers(migration: Migration) -> None:
    """The file has the section of Kafka Connect and no field of a host, and says which workers it must name."""
    name, text = reverse_migration(on_connect(migration, {}), LEFT)
    back = load_migration(text, where=f"{name}.yaml").mirror

    assert ("connect", "shop_connect") == (back.engine, back.connection)
    assert back.connect == ConnectSettings("connect-status", "connect-configs", "connect-offsets", "my workers")
    assert "prefixed" == back.topic_names.naming
    assert "Kafka Connect writes to the Kafka of its workers." in text
    assert "name\n# workers of `old_kafka`; or, without mirror.connect, a host with mirrormaker2." in text


def test_references_to_secrets_change_sides(migration: Migration) -> None:
    """What stood for the login on the target is that on the source of the way back; nothing is invented."""
    reference = {"sasl.jaas.config": "${file:/etc/kafka-connect/shop.properties:target}"}
    name, text = reverse_migration(on_connect(migration, {"target": reference}), LEFT)
    connect = load_migration(text, where=f"{name}.yaml").mirror.connect

    assert connect is not None
    assert connect.secrets == {"source": reference}


def test_name_is_no_longer_than_a_name_may_be(migration: Migration) -> None:
    """A long name is cut, and is still another one than the migration's."""
    long = "m" * 63
    name, text = reverse_migration(replace(migration, name=long), LEFT)

    assert name != long
    assert load_migration(text, where=f"{name}.yaml").name == name
