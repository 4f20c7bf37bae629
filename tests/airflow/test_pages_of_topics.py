"""Rules of what the pages in Airflow's UI show of topics during a run."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from fastapi.testclient import TestClient

from kafka_migration.adapters.store.document_files import rooted
from kafka_migration.adapters.store.run_status_store import NewsStore
from kafka_migration.page import kept_in_airflow
from tests.airflow.test_pages import DAG, PAGE, client, ended, shown, times, words
from tests.airflow.world import World

__all__ = ["client", "ended", "shown", "times"]


def tell(world: World, **polled: Any) -> None:
    """Write the progress of a poll of an active run."""
    told = {"schema": 1, "run": f"{DAG}/manual__2#1", "step": "watch_lag", "at": datetime.now(UTC).isoformat()}
    NewsStore(rooted(world.root), "shop").tell_progress({**told, **polled})


def test_topics_that_are_behind_have_a_trend(ended: World, client: TestClient) -> None:
    """During the watch each topic that is behind says how its lag has changed; one without an earlier lag does not."""
    orders = {"topic": "orders", "lag": 900, "earlier": {"lag": 12_900, "ago_s": 300}}
    tell(ended, behind=[{"topic": "audit", "lag": 950}, orders])
    text = words(client.get(PAGE).text)

    assert "audit PASS 950 unknown" in text
    assert "orders PASS 900 12,000 fewer in 5m00s" in text


TOPIC_PAGE = f"/topic/{DAG}/orders"


@pytest.fixture
def copying(shown: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A run that is active in Airflow, and that has to copy five records of one partition."""
    monkeypatch.setattr(kept_in_airflow, "run_state", lambda *_: "running")
    shown.source.produce("orders", 1, *[(b"k", b"v")] * 5)
    shown.params = {"mode": "sync"}
    shown.start()
    return shown


def test_topic_of_an_active_run_shows_what_is_left(copying: World, client: TestClient) -> None:
    """The page has the lag that the watch reported, the partitions that the run planned, and the command for now."""
    tell(copying, run=f"{DAG}/manual__1#1", behind=[{"topic": "orders", "lag": 3, "earlier": {"lag": 4, "ago_s": 60}}])
    text = words(client.get(TOPIC_PAGE).text)

    assert "offsets left 3, trend: 1 fewer in 1m00s." in text
    assert "Partition Next offset Up to offset Offsets to copy 1 0 5 5" in text
    assert "kafka-migration status shop --topic orders" in text


def test_topic_page_says_that_the_plan_was_changed(copying: World, client: TestClient) -> None:
    """Nothing of a plan that is not the one that the run wrote is shown, and the page says why."""
    tell(copying, run=f"{DAG}/manual__1#1")
    (plan,) = copying.root.rglob("*-plan-1.json")
    plan.write_text(plan.read_text().replace("5", "7"))
    text = words(client.get(TOPIC_PAGE).text)

    assert "Next offset" not in text
    assert plan.name in text


def test_topic_page_without_an_active_run_has_only_what_is_proved(ended: World, client: TestClient) -> None:
    """A run that has ended in Airflow has nothing left to copy, whatever its progress says."""
    tell(ended, run=f"{DAG}/manual__1#1", behind=[{"topic": "orders", "lag": 3}])
    text = words(client.get(TOPIC_PAGE).text)

    assert "What is left to copy" not in text
    assert "Proved offsets" in text
