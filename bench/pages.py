"""The page of a large migration: a poll that finds nothing new, and the page itself, as the API server makes them.

The evidence is a ledger with three entries per night. The first request reads the whole ledger; the poll sends the tag
of the page that it has.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch

from bench.ledger import MIGRATION, filled
from bench.measuring import interleaved, ratio
from bench.results import Row
from bench.sizes import Pages as Size
from kafka_migration.adapters.store.document_files import rooted
from kafka_migration.adapters.store.ledger_store import LedgerStore
from kafka_migration.airflow_adapters import airflow_settings
from kafka_migration.core.run.run_identity import MANUAL_DAG_PREFIX
from kafka_migration.page import known_ledgers, pages, screen
from kafka_migration.page.pages import Visit, WebAnswer
from tests.contract.memory_anchor import MemoryAnchor

Page = Callable[[str], WebAnswer]
_DAG = f"{MANUAL_DAG_PREFIX}{MIGRATION}"


def rows(size: Size) -> Iterator[Row]:
    """Generate two ledgers and time their pages."""
    with tempfile.TemporaryDirectory(prefix="kafka-migration-bench-") as folder:
        many = _page_of(Path(folder, "many"), size.many, size.nights)
        few = _page_of(Path(folder, "few"), size.few, size.nights)
        tag = many("").tag
        if many(tag).status != 304:
            raise RuntimeError("the poll found a page that has not changed to be another one")
        first = interleaved({"first": lambda: _first(many), "poll": lambda: many(tag)}, size.runs)
        few("")
        known = interleaved({"many": lambda: many(""), "few": lambda: few("")}, size.runs)
    yield ratio("page of 10,000 partitions × 30 nights, a poll with nothing new ÷ the first", first, "poll", "first")
    yield ratio("page with a known ledger of 30 nights, 10,000 ÷ 100 partitions", known, "many", "few")


def _first(page: Page) -> None:
    """Ask like the first request to an API server that has just started."""
    known_ledgers.forget()
    page("")


def _page_of(root: Path, partitions: int, nights: int) -> Page:
    """Return what answers a request that knows the page with a tag."""
    head = MemoryAnchor()
    filled(LedgerStore(root, MIGRATION, anchor=head), partitions, nights)

    def page(tag: str) -> WebAnswer:
        with ExitStack() as patches:
            patches.enter_context(patch.object(airflow_settings, "evidence_root", lambda: rooted(root)))
            patches.enter_context(patch.object(screen, "database_anchor", lambda _: head))
            return pages.migration(Visit(lambda _: True, "../", tag, datetime.now(UTC)), _DAG)

    return page
