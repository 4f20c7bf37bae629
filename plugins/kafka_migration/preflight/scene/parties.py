"""Whom a check asks."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum

from kafka_migration.core.findings.codes import Code


class Asked(Enum):
    """A party that a check asks. A check belongs to the last one of its parties, in the order of this list.

    Every check may read `FILE`: the migration file, the run's request, the ledger and Airflow's connections. A check
    that asks only for these declares it alone. `TOOLS` are Kafka's own tools, which ask both clusters from the host.
    """

    FILE = "file", "files", "the migration file and Airflow's connections", Code.CLUSTER_UNREACHABLE
    SOURCE = "source", "clusters", "both clusters", Code.CLUSTER_UNREACHABLE
    TARGET = "target", "clusters", "both clusters", Code.CLUSTER_UNREACHABLE
    REGISTRY = "registry", "clusters", "the schema registries", Code.REGISTRY_UNREACHABLE
    SPARK = "spark", "spark", "Spark and the evidence root", Code.CLUSTER_UNREACHABLE
    HOST = "host", "host", "the MirrorMaker host", Code.SSH_UNREACHABLE
    TOOLS = "tools", "host", "both clusters from the MirrorMaker host, with Kafka's own tools", Code.SSH_UNREACHABLE

    def __init__(self, key: str, room: str, words: str, unreachable: Code) -> None:
        self.key = key
        self.room = room
        """The room of `preflight` with the checks of this party."""
        self.words = words
        """What a person reads while these checks run: `Checking the MirrorMaker host …`."""
        self.unreachable = unreachable
        """The code of a finding that this party did not answer."""


_ORDER = list(Asked)


def last_of(asked: Collection[Asked]) -> Asked:
    """Return the last party, to which a check with these parties belongs."""
    return max(asked, key=_ORDER.index)


def silent_one(asked: Collection[Asked], error: Exception) -> Asked:
    """Return which of the parties did not answer.

    An error of a cluster starts with its side, such as `target (new_kafka, kafka:9092)`.
    """
    named = [party for party in asked if str(error).startswith(f"{party.key} (")]
    return named[0] if named else last_of(asked)
