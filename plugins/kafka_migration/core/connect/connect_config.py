"""The two connectors of a migration on a Connect cluster: their names, and what this package keeps in them.

The *reservation* exists exactly while a run holds the migration. It is created stopped and never runs. The *copier* is
the newest generation, running or stopped; its configuration says of which run and generation it is. A name of a
migration has no dot, so no connector has the name of another migration's.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from kafka_migration.core.connect.connect_tools import SOURCE_CONNECTOR
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.migration.secret_properties import SECRET_PROPERTIES

BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
# Kafka Connect and its connectors ignore keys that they do not know.
_OWN = "kafka.migration."
HOLDER = f"{_OWN}holder"
GENERATION = f"{_OWN}generation"
# A late start of this generation or an earlier one is refused.
BARRED = f"{_OWN}barred"
# Differs for each creation, so that a run recognizes its own.
CREATION = f"{_OWN}creation"
DIGEST = f"{_OWN}digest"
# The workers' status topic, and its ends before the creation: its later rows tell what the tasks did.
STATUS_TOPIC = f"{_OWN}status.topic"
STATUS_FROM = f"{_OWN}status.from"
# The URLs of the workers that answered Airflow there before the creation: a refused connection there is an end.
REACHED = f"{_OWN}reached"
# What others did to a copier that the present one stands for.
CHANGE = f"{_OWN}change"
LONGEST_NUMBER = 18
_LOGINS = tuple(f".{name}" for name in sorted(SECRET_PROPERTIES))
Config = Mapping[str, str]


def copier_name(migration: str) -> str:
    """Return the name of the connector that copies."""
    return f"kafka-migration.{migration}"


def reservation_name(migration: str) -> str:
    """Return the name of the connector that stands for the reservation."""
    return f"kafka-migration-reservation.{migration}"


def idle_config(own: Config) -> dict[str, str]:
    """Return the configuration of a connector that copies nothing, even if a person starts it.

    No topic has a name with two slashes, so it has no task.
    """
    return {
        "connector.class": SOURCE_CONNECTOR,
        "source.cluster.alias": "none",
        "target.cluster.alias": "none",
        "source.cluster.bootstrap.servers": "localhost:1",
        "target.cluster.bootstrap.servers": "localhost:1",
        "topics": "//",
        "tasks.max": "1",
        **own,
    }


def with_digest(config: Config) -> dict[str, str]:
    """Return the configuration with a digest of itself, by which a later change of it is seen."""
    return {**config, DIGEST: digest_of(config)}


def digest_of(config: Config) -> str:
    """Return the SHA-256 of a configuration, without the digest in it and without what Connect adds to it."""
    kept = {key: value for key, value in config.items() if key not in (DIGEST, "name")}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()


def without_logins(config: Config) -> dict[str, str]:
    """Return the configuration without what a login is made of, so that no text about it has one."""
    return {key: value for key, value in config.items() if not key.endswith(_LOGINS)}


def hidden(text: str, config: Config) -> str:
    """Return words about a configuration, in which nothing of its logins can be read."""
    logins = {value for key, value in config.items() if key.endswith(_LOGINS)}
    for value in sorted(filter(None, logins), key=len, reverse=True):
        text = text.replace(value, "***")
    return text


def number_of(config: Config, key: str) -> int:
    """Return a number in the configuration; 0 if there is none. Any user of the REST interface may have written it."""
    text = config.get(key, "")
    return int(text) if _is_number(text) else 0


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= LONGEST_NUMBER


def status_topic_text(topic: str, topic_id: str) -> str:
    """Return a topic and its id as text; brokers before Kafka 2.8 give no ids."""
    return f"{topic} {topic_id}".rstrip()


def status_from_text(ends: Offsets) -> str:
    """Return offsets of one topic as text for `status_from`."""
    pairs = [f"{place.partition}:{offset}" for place, offset in sorted(ends.items())]
    return ",".join(pairs)


def status_from(config: Config, topic: str, topic_id: str) -> dict[TopicPartition, int] | None:
    """Return the offsets from which on rows of the status topic are about this creation.

    `None` if that is unknown, as for another topic than that of the creation, or one that was created again.
    """
    pairs = [pair.partition(":") for pair in config.get(STATUS_FROM, "").split(",")]
    if config.get(STATUS_TOPIC) != status_topic_text(topic, topic_id):
        return None
    if not all(_is_number(number) and _is_number(offset) for number, _, offset in pairs):
        return None
    return {TopicPartition(topic, int(number)): int(offset) for number, _, offset in pairs}


@dataclass(frozen=True, slots=True)
class ConnectLaunch:
    """What a Connect cluster needs to start a generation: the connector's configuration, text by key."""

    config: Config = field(repr=False)
