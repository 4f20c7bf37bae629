"""The page of a large migration: a poll that finds nothing new, and the page itself, as the API server makes them.

The evidence is a ledger with three entries per night. The first page waits until the whole ledger is read. A browser
does not wait so long: its first answer says that the ledger is being read. The poll sends the tag of the page that it
has.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from unittest.mock import patch

from bench.ledger import MIGRATION, filled
from bench.measuring import Cost, interleaved, median_of, meter, ratio
from bench.results import Row
from bench.sizes import Pages as Size
from kafka_migration.adapters.store.document_files import rooted
from kafka_migration.adapters.store.ledger_store import LedgerStore
from kafka_migration.airflow_adapters import airflow_settings
from kafka_migration.core.run.run_identity import MANUAL_DAG_PREFIX
from kafka_migration.page import known_ledgers, pages, screen
from kafka_migration.page.pages import Visit, WebAnswer
from kafka_migration.report_formats.report_format import ReportFormat
from tests.contract.memory_anchor import MemoryAnchor
from tests.report_runs import run_of_partitions

# What answers a request that knows the page with a tag, and waits so long for a ledger.
Page = Callable[[str, float], WebAnswer]
_UNTIL_READ_S = 3600.0
_DAG = f"{MANUAL_DAG_PREFIX}{MIGRATION}"


def rows(size: Size) -> Iterator[Row]:
    """Generate two ledgers and time their pages."""
    with tempfile.TemporaryDirectory(prefix="kafka-migration-bench-") as folder:
        many = _page_of(Path(folder, "many"), size.many, size.nights)
        few = _page_of(Path(folder, "few"), size.few, size.nights)
        tag = _asked(many).tag
        if _asked(many, tag).status != 304:
            raise RuntimeError("the poll found a page that has not changed to be another one")
        answer, read = zip(*(_unknown(many) for _ in range(size.runs)), strict=True)
        first = interleaved({"first": lambda: _first(many), "poll": lambda: _asked(many, tag)}, size.runs)
        _asked(few)
        known = interleaved({"many": lambda: _asked(many), "few": lambda: _asked(few)}, size.runs)
    yield ratio(
        "page with an unknown ledger of 10,000 partitions × 30 nights, first answer ÷ answer with the ledger read",
        {"first answer": median_of(answer), "ledger read": median_of(read)},
        "first answer",
        "ledger read",
    )
    yield ratio("page of 10,000 partitions × 30 nights, a poll with nothing new ÷ the first", first, "poll", "first")
    yield ratio("page with a known ledger of 30 nights, 10,000 ÷ 100 partitions", known, "many", "few")
    run = run_of_partitions(size.reported)
    reports = {str(each): partial(each.render, run) for each in (ReportFormat.HTML, ReportFormat.MARKDOWN)}
    yield ratio("report of 1,000 partitions, HTML ÷ Markdown", interleaved(reports, size.runs), "html", "markdown")


def _asked(page: Page, tag: str = "") -> WebAnswer:
    return page(tag, _UNTIL_READ_S)


def _first(page: Page) -> None:
    """Ask an API server that has just started, and wait until it has read the ledger."""
    known_ledgers.forget()
    _asked(page)


def _unknown(page: Page) -> tuple[Cost, Cost]:
    """Ask like a browser; return the cost of the first answer, and of all until the answer with the ledger."""
    known_ledgers.forget()
    cost = meter()
    page("", known_ledgers.PATIENCE_S)
    answer = cost()
    _asked(page)
    return answer, cost()


def _page_of(root: Path, partitions: int, nights: int) -> Page:
    """Return what answers requests for the page of such a ledger."""
    head = MemoryAnchor()
    filled(LedgerStore(root, MIGRATION, anchor=head), partitions, nights)

    def page(tag: str, patience_s: float) -> WebAnswer:
        with ExitStack() as patches:
            patches.enter_context(patch.object(airflow_settings, "evidence_root", lambda: rooted(root)))
            patches.enter_context(patch.object(screen, "database_anchor", lambda _: head))
            patches.enter_context(patch.object(known_ledgers, "PATIENCE_S", patience_s))
            return pages.migration(Visit(lambda _: True, "../", tag, datetime.now(UTC)), _DAG)

    return page
