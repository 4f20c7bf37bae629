"""The resident memory of the api-server while three browsers poll the page of a large migration for an hour.

The browsers poll as the page does. Every minute one of them loads the page again, so that the page is also made.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import cycle

from bench.measuring import family, resident_bytes
from bench.results import Arm, Row, compared
from bench.served import Served, served
from bench.sizes import Memory as Size
from tests.browser import Browser

BROWSERS = 3


def rows(size: Size) -> Iterator[Row]:
    """Let the browsers poll; compare the memory after both times."""
    with served(size.partitions, size.nights) as at, ExitStack() as open_browsers:
        pages = [open_browsers.enter_context(at.browser()) for _ in range(BROWSERS)]
        for page in pages:
            page.open(at.page)
        begun, turns = time.monotonic(), cycle(pages)
        settled = _memory_mb(at, turns, begun + size.settled_s, size.reload_s)
        polled = _memory_mb(at, turns, begun + size.polled_s, size.reload_s)
    yield compared(
        "memory of the api-server with three polling browsers, after an hour ÷ after five minutes",
        Arm("after an hour", polled, "MB"),
        Arm("after five minutes", settled, "MB"),
    )


def _memory_mb(at: Served, turns: Iterator[Browser], until: float, reload_s: int) -> float:
    """Load the page again now and then, in turn, until a moment of the monotonic clock; return the memory then."""
    while (left_s := until - time.monotonic()) > 0:
        next(turns).open(at.page)
        time.sleep(min(reload_s, left_s))
    return sum(map(resident_bytes, family(at.server_pid))) / 1e6
