"""Two copies of one task that take turns: each stops before and after everything it writes."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from kafka_migration.adapters.store import local_files
from kafka_migration.steps.groups import write_groups
from tests.contract.fake_cluster import FakeCluster
from tests.contract.fake_mirror_host import FakeMirrorHost
from tests.contract.memory_anchor import MemoryAnchor
from tests.steps.cuts import Killed, actions_on, watch
from tests.steps.kept import Tasks, TaskShelf

# What a task writes outside of the evidence root and of Airflow.
OUTSIDE = actions_on(FakeCluster, FakeMirrorHost)[:2]
# What it writes there: files, the ledger's head and announcements, its own storage and the one for all tasks.
INSIDE: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (local_files, ("create", "replace")),
    (MemoryAnchor, ("keep", "announce", "withdraw")),
    (Tasks, ("begin",)),
    (TaskShelf, ("put_own", "put_back")),
)
WAIT_S = 60
Order = Iterable[int]
# When a copy went on: which one, and before or after which write.
Moment = tuple[int, str]


class Turns:
    """Lets one copy go on at a time, as an order says at each stop; at the order's end the copy goes on that runs.

    `moments` are the stops after which a copy went on, in order: two interleavings are the same if these are. A copy of
    `killed_at` is killed at its stop of that number: it writes no more.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.moments: list[Moment] = []
        self._threads: dict[int, int] = {}
        self._condition = threading.Condition()
        self._begin(())
        watch(monkeypatch, (*OUTSIDE, *INSIDE), self._stop)
        # Groups are written by threads at the same time, which would take turns in no order.
        monkeypatch.setattr(write_groups, "of_each", lambda items, ask: {item: ask(item) for item in items})

    def _begin(self, order: Order, killed_at: Mapping[int, int] | None = None) -> None:
        self.moments, self._order = [], iter(order)
        self._killed_at, self._stops = dict(killed_at or {}), [0, 0]
        self._living, self._turn = {0, 1}, next(self._order, 0)

    def both(
        self,
        acts: Sequence[Callable[[], Any]],
        order: Order,
        killed_at: Mapping[int, int] | None = None,
    ) -> list[Future[Any]]:
        """Let both copies act in this order, and return how each ended."""
        self._begin(order, killed_at)
        with ThreadPoolExecutor(2) as pool:
            return [pool.submit(self._act, copy, act) for copy, act in enumerate(acts)]

    def _act(self, copy: int, act: Callable[[], Any]) -> Any:
        self._threads[threading.get_ident()] = copy
        try:
            with self._condition:
                self._wait_for_turn(copy)
            return act()
        finally:
            del self._threads[threading.get_ident()]
            with self._condition:
                self._living.discard(copy)
                self._hand_on(1 - copy)

    def _stop(self, where: str) -> None:
        copy = self._threads.get(threading.get_ident())
        if copy is None:
            return
        with self._condition:
            self._stops[copy] += 1
            # Python runs `finally` after the exception, a killed process does not: so nothing works from here on.
            if self._stops[copy] >= self._killed_at.get(copy, self._stops[copy] + 1):
                raise Killed(where)
            self._hand_on(next(self._order, copy))
            self._wait_for_turn(copy)
            self.moments.append((copy, where))

    def _hand_on(self, copy: int) -> None:
        self._turn = copy if copy in self._living else 1 - copy
        self._condition.notify_all()

    def _wait_for_turn(self, copy: int) -> None:
        assert self._condition.wait_for(lambda: self._turn == copy, WAIT_S), "the other copy did not hand on"

    @property
    def stops(self) -> int:
        """How often the first copy has stopped."""
        return self._stops[0]


def orders(stops: int, chance: random.Random) -> Iterator[list[int]]:
    """Yield orders without end: first each with one change of turn, then others by chance.

    The second copy begins at any stop of the first one. It makes few stops if it does nothing, so its turns are short.
    """
    yield from ([0] * changed + [1] * 10 * stops for changed in range(1, stops + 1))
    while True:
        turns = [
            chance.randint(1, stops),
            *(chance.choice([1, 2, 3, 5, 8, stops]) for _ in range(chance.randint(2, 12))),
        ]
        yield [number % 2 for number, length in enumerate(turns) for _ in range(length)]
