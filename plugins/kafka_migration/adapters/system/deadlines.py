"""A common time limit for the calls of this thread, so that a poll ends in time even if a service does not answer.

And calls at the same time: Kafka answers for one group at a time, and most of that time is waiting.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")

# The timeout of a call if the time is already over: enough for an immediate answer.
SHORTEST_S = 0.5
# This many concurrent calls load a cluster's coordinators no more than a few consumers do.
AT_ONCE = 8
_end_s: ContextVar[float | None] = ContextVar("end_s", default=None)


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Limit the total time of the calls in this block; an outer limit still applies."""
    end_s, outer = time.monotonic() + seconds, _end_s.get()
    token = _end_s.set(end_s if outer is None else min(end_s, outer))
    try:
        yield
    finally:
        _end_s.reset(token)


@contextmanager
def no_limit() -> Iterator[None]:
    """Give the calls in this block their usual timeouts, regardless of an outer limit."""
    token = _end_s.set(None)
    try:
        yield
    finally:
        _end_s.reset(token)


def time_left(usual_s: float) -> float:
    """Return the timeout of one call: its usual timeout, or the remaining time if that is shorter."""
    end_s = _end_s.get()
    return usual_s if end_s is None else min(usual_s, max(SHORTEST_S, end_s - time.monotonic()))


class Aside:
    """Makes calls that may hang, such as file system calls, in a separate thread; one at a time.

    A hanging call blocks only its daemon thread.
    """

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None

    def call(self, function: Callable[[], T], usual_s: float) -> T:
        """Return the result of the function; raises `TimeoutError` after the timeout of one call.

        While an earlier call still hangs, the function is not called.
        """
        with at_most(usual_s):
            if self._thread is not None:
                self._thread.join(time_left(usual_s))
                if self._thread.is_alive():
                    raise TimeoutError("an earlier call has not ended")
            answer: Future[T] = Future()
            self._thread = threading.Thread(target=_answer, args=(function, answer), daemon=True)
            self._thread.start()
            return answer.result(time_left(usual_s))


def _answer(function: Callable[[], T], answer: Future[T]) -> None:
    try:
        answer.set_result(function())
    except BaseException as error:
        answer.set_exception(error)


def of_each(items: Iterable[K], ask: Callable[[K], V]) -> dict[K, V]:
    """Return the answer for each item, in order; an error is raised after all started calls have ended."""
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="kafka-migration-groups") as pool:
        asked = {item: pool.submit(ask, item) for item in items}
        try:
            return {item: future.result() for item, future in asked.items()}
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
