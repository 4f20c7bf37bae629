"""The resident memory of the api-server while three browsers poll the page of a large migration for an hour.

The browsers poll as the page does. Every minute one of them loads the page again, so that the page is also made.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack

from bench.measuring import family, resident_bytes
from bench.results import Arm, Row, compared
from bench.served import Served, served
from bench.sizes import Memory as Size

BROWSERS = 3


def rows(size: Size) -> Iterator[Row]:
    """Let the browsers poll; compare the memory after both times."""
    with served(size.partitions, size.nights) as at, ExitStack() as open_browsers:
        pages = [open_browsers.enter_context(at.browser()) for _ in range(BROWSERS)]
        for page in pages:
            page.open(at.page)
        begun, made, amounts = time.monotonic(), 0, []
        for moment_s in (size.settled_s, size.polled_s):
            while time.monotonic() - begun < moment_s:
                pages[made % BROWSERS].open(at.page)
                made += 1
                time.sleep(min(size.reload_s, max(0.0, begun + moment_s - time.monotonic())))
            amounts.append(_memory_mb(at))
    settled, polled = amounts
    yield compared(
        "memory of the api-server with three polling browsers, after an hour ÷ after five minutes",
        Arm("after an hour", polled, "MB"),
        Arm("after five minutes", settled, "MB"),
    )


def _memory_mb(at: Served) -> float:
    return sum(map(resident_bytes, family(at.server_pid))) / 1e6
