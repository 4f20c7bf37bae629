"""MirrorMaker 2 of Kafka 4 keeps the engines' contract between brokers of Kafka 3.9, and all engines between old ones.

The newest version runs all of it. Of the others, one generation and the faults are enough.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_migration.core.migration.settings import TopicNames
from sandbox.sandbox import Sandbox
from tests.contract.engine_contract import CopyContract, TellingGenerationsContract
from tests.live.engine_world import LiveWorlds

pytestmark = [pytest.mark.live, pytest.mark.campaign]


class Kafka40(LiveWorlds):
    """MirrorMaker of Kafka 4.0."""

    kafka = "4.0.0"


class Kafka41(LiveWorlds):
    """MirrorMaker of Kafka 4.1."""

    kafka = "4.1.1"


class Kafka42(LiveWorlds):
    """MirrorMaker of Kafka 4.2."""

    kafka = "4.2.0"


class TestKafka40(Kafka40, CopyContract):
    """As it is unless the file says otherwise."""


class TestKafka40ExactlyOnce(Kafka40, CopyContract, exactly_once=True):
    """In transactions."""


class TestKafka40Generations(Kafka40, TellingGenerationsContract):
    """Several generations."""


class TestKafka41(Kafka41, CopyContract):
    """As it is unless the file says otherwise."""


class TestKafka41ExactlyOnce(Kafka41, CopyContract, exactly_once=True):
    """In transactions."""


class TestKafka41Generations(Kafka41, TellingGenerationsContract):
    """Several generations."""


class TestKafka42(Kafka42, CopyContract):
    """As it is unless the file says otherwise."""


class TestKafka42Prefixed(Kafka42, CopyContract, topic_names=TopicNames("prefixed")):
    """With the source's alias before the names."""


class TestKafka42ExactlyOnce(Kafka42, CopyContract, exactly_once=True):
    """In transactions."""


class TestKafka42Generations(Kafka42, TellingGenerationsContract):
    """Several generations."""


class TestKafka42ExactlyOnceGenerations(Kafka42, TellingGenerationsContract, exactly_once=True):
    """In transactions, several generations."""


class OldBrokers(LiveWorlds):
    """Brokers of Kafka 2.4 and of 3.2, both with ZooKeeper, and MirrorMaker of Kafka 3.9."""

    @pytest.fixture(scope="class")
    @classmethod
    def brokers(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
        """Both clusters."""
        versions = {"source": "2.4.1", "target": "3.2.0"}
        with Sandbox(tmp_path_factory.mktemp("brokers"), airflow=False, versions=versions) as running:
            yield running


class OldestTarget(LiveWorlds):
    """Brokers of Kafka 2.4 on both sides, and MirrorMaker of the newest version."""

    kafka = "4.2.0"

    @pytest.fixture(scope="class")
    @classmethod
    def brokers(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
        """Both clusters."""
        versions = {"source": "2.4.1", "target": "2.4.1"}
        with Sandbox(tmp_path_factory.mktemp("brokers"), airflow=False, versions=versions) as running:
            yield running


class TestOldBrokersMirrorMaker1(OldBrokers, CopyContract, engine="mirrormaker1"):
    """MirrorMaker 1."""


class TestOldBrokersMirrorMaker1Generations(OldBrokers, TellingGenerationsContract, engine="mirrormaker1"):
    """MirrorMaker 1, several generations."""


class TestOldBrokersGenerations(OldBrokers, TellingGenerationsContract):
    """MirrorMaker 2, several generations."""


class TestOldBrokersExactlyOnce(OldBrokers, CopyContract, exactly_once=True):
    """MirrorMaker 2 in transactions."""


class TestOldestTargetExactlyOnce(OldestTarget, CopyContract, exactly_once=True):
    """MirrorMaker 2 in transactions."""
