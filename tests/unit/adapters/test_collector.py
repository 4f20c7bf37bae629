"""Rules of what the collector of reference cycles does while a cluster lists everything."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.adapters.system.collector import without_collections

pytestmark = pytest.mark.unit


@pytest.fixture(autouse=True)
def collecting() -> Iterator[None]:
    """Collect after the test as before."""
    yield
    gc.enable()


class FakeAdmin:
    """A client that remembers whether a collection could run while it made its answer."""

    def __init__(self) -> None:
        self.collected: list[bool] = []

    def _answered(self, answer: Any) -> Any:
        self.collected.append(gc.isenabled())
        return answer

    def list_topics(self, **_: Any) -> Any:
        return self._answered(SimpleNamespace(topics={"orders": SimpleNamespace(partitions={0: None, 1: None})}))

    def list_consumer_groups(self, **_: Any) -> Any:
        return SimpleNamespace(result=lambda _: self._answered(SimpleNamespace(errors=[], valid=[])))

    def list_groups(self, **_: Any) -> Any:
        return self._answered([])


def test_no_collection_runs_while_a_cluster_lists_all_topics_and_groups() -> None:
    """A collection walks through all objects of Airflow; a list of 20,000 topics would start several."""
    cluster, admin = ConfluentCluster("source", {"bootstrap.servers": "127.0.0.1:1"}), FakeAdmin()
    vars(cluster)["_admin"] = admin

    assert {"orders": 2} == cluster.partition_counts()
    cluster._learn_leaders()
    cluster.list_groups()
    assert [False] * 4 == admin.collected
    assert gc.isenabled()


@pytest.mark.parametrize("is_enabled", [True, False])
def test_collector_is_left_as_it_was(is_enabled: bool) -> None:
    """After the body, also one that fails, collections run only if they ran before it."""
    (gc.enable if is_enabled else gc.disable)()
    seen: list[bool] = []

    def failing() -> None:
        with without_collections():
            seen.append(gc.isenabled())
            raise ValueError("x")

    with pytest.raises(ValueError, match="x"):
        failing()

    assert ([False], is_enabled) == (seen, gc.isenabled())


def test_collections_run_again_after_the_last_of_several_threads() -> None:
    """Two clusters are asked at the same time: the pause lasts until both have answered, and ends then."""
    first, second = without_collections(), without_collections()
    seen: list[bool] = []

    with first:
        second.__enter__()
    seen.append(gc.isenabled())
    second.__exit__(None, None, None)

    assert ([False], True) == (seen, gc.isenabled())
