"""The first paint of the page of a large migration, and of Airflow's own page of the same DAG, in one real browser."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from bench.results import Arm, Row, compared
from bench.served import served
from bench.sizes import Ledger as Size
from tests.browser import Browser
from tests.waiting import wait_until

_PAINTED = "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"


def rows(size: Size) -> Iterator[Row]:
    """Open both pages in turn; the first of each, which fills the browser's cache, is dropped."""
    with served(size.partitions, size.nights) as at, at.browser() as page:
        found = [(_first_paint_s(page, at.page), _first_paint_s(page, at.airflows_own)) for _ in range(size.runs + 1)]
    ours, airflows = (statistics.median(arm) for arm in zip(*found[1:], strict=True))
    yield compared(
        "first paint of the page of 10,000 partitions × 30 nights ÷ Airflow's own page of the DAG",
        Arm("page", ours),
        Arm("Airflow's own", airflows),
    )


def _first_paint_s(page: Browser, url: str) -> float:
    page.open(url)
    wait_until(lambda: page.run(_PAINTED) > 0, what="the first paint")
    return float(page.run(_PAINTED)) / 1000
