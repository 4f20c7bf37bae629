"""Rules of what the pages in Airflow's UI show of topics during a run."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from fastapi.testclient import TestClient

from kafka_migration.adapters.store.document_files import rooted
from kafka_migration.adapters.store.run_status_store import NewsStore
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
