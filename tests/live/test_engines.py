"""The engines keep their contract with the real MirrorMakers of Kafka 3.9.1 between two real brokers.

One generation of each is part of every run; what takes several generations, or a fault, is for the long campaign.
"""

from __future__ import annotations

import pytest

from kafka_migration.core.migration.settings import TopicNames
from tests.contract.engine_contract import CopyContract, TellingGenerationsContract
from tests.live.engine_world import LiveWorlds

pytestmark = pytest.mark.live


class TestMirrorMaker1(LiveWorlds, CopyContract, engine="mirrormaker1"):
    """MirrorMaker 1."""


class TestMirrorMaker2(LiveWorlds, CopyContract):
    """MirrorMaker 2 as it is unless the file says otherwise."""


@pytest.mark.campaign
class TestMirrorMaker2Prefixed(LiveWorlds, CopyContract, topic_names=TopicNames("prefixed")):
    """MirrorMaker 2 with the source's alias before the names."""


@pytest.mark.campaign
class TestMirrorMaker2ExactlyOnce(LiveWorlds, CopyContract, exactly_once=True):
    """MirrorMaker 2 in transactions."""


@pytest.mark.campaign
class TestMirrorMaker1Generations(LiveWorlds, TellingGenerationsContract, engine="mirrormaker1"):
    """MirrorMaker 1, several generations."""


@pytest.mark.campaign
class TestMirrorMaker2Generations(LiveWorlds, TellingGenerationsContract):
    """MirrorMaker 2, several generations."""


@pytest.mark.campaign
class TestMirrorMaker2PrefixedGenerations(LiveWorlds, TellingGenerationsContract, topic_names=TopicNames("prefixed")):
    """MirrorMaker 2 with prefixed names, several generations."""


@pytest.mark.campaign
class TestMirrorMaker2ExactlyOnceGenerations(LiveWorlds, TellingGenerationsContract, exactly_once=True):
    """MirrorMaker 2 in transactions, several generations."""
