"""The pages in Airflow's UI, in a real browser, on a real Airflow."""

from __future__ import annotations

import re
from urllib.parse import quote

import httpx
import pytest

from tests.browser import browser
from tests.live.conftest import LiveWorld
from tests.waiting import wait_until

pytestmark = pytest.mark.live

RECORDS = 120


def test_pages_follow_a_run_in_airflows_frame(live: LiveWorld) -> None:
    """From before the first run to its end, the tab shows what the clusters have; links open Airflow's own pages."""
    migration = live.migration("pages")
    migration.produce(RECORDS)
    url = str(live.sandbox.state.airflow_url)
    tab = f"{url}/dags/{migration.dag_id}/plugin/kafka-migration"
    with browser() as page:
        page.log_in(url, live.api.token())
        page.open(tab)
        wait_until(lambda: "No run yet." in page.framed_text(), what="the page of a migration without a run")
        run_id = migration.trigger()
        wait_until(lambda: re.search(r"Step \w+ since", page.framed_text()), what="the step of the run")

        migration.finished(run_id)
        wait_until(lambda: "The copy is proved" in page.framed_text(), what="the verdict")
        assert re.search(rf"\bpages\s+PASS\s+–\s+–\s+{RECORDS}\s+{RECORDS}\b", page.framed_text())
        assert "Ledger" in page.framed_text()
        assert "confirmed by Airflow" in page.framed_text()
        assert [] == page.in_frame(
            "return page.defaultView.performance.getEntriesByType('resource')"
            ".map(each => new URL(each.name).origin).filter(each => each !== location.origin)"
        )
        page.in_frame("page.querySelector('a.outer').click()")
        run = f"{url}/dags/{migration.dag_id}/runs/{quote(run_id, safe='')}"
        wait_until(lambda: run == page.run("return location.href"), what="Airflow's own page of the run")

        page.open(f"{url}/plugin/kafka-migrations")
        wait_until(lambda: "pages" in page.framed_text(), what="the list of all migrations")
        assert 401 == httpx.get(f"{url}/kafka-migration/", trust_env=False).status_code
