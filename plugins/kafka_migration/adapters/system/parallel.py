"""Concurrent requests about many groups: Kafka answers for one group at a time, and most of that time is waiting."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")

# This many concurrent calls load a cluster's coordinators no more than a few consumers do.
AT_ONCE = 8


def of_each(items: Iterable[K], ask: Callable[[K], V]) -> dict[K, V]:
    """Return the answer for each item, in order; an error is raised after all started calls have ended."""
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="kafka-migration-groups") as pool:
        asked = {item: pool.submit(ask, item) for item in items}
        try:
            return {item: future.result() for item, future in asked.items()}
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
