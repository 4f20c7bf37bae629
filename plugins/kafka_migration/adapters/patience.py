"""How long the calls of this thread may take together, so that a poll ends in time whatever is silent."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")

# What a call gets where the time is over already: enough for one that answers at once.
SHORTEST_S = 0.5
_end_s: ContextVar[float | None] = ContextVar("end_s", default=None)


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Let the calls made in this block take this long together; a limit around it holds as well."""
    end_s, outer = time.monotonic() + seconds, _end_s.get()
    token = _end_s.set(end_s if outer is None else min(end_s, outer))
    try:
        yield
    finally:
        _end_s.reset(token)


@contextmanager
def no_limit() -> Iterator[None]:
    """Give the calls made in this block their usual time, whatever limit is around it."""
    token = _end_s.set(None)
    try:
        yield
    finally:
        _end_s.reset(token)


def time_left(usual_s: float) -> float:
    """Return how long one call may take: its usual time-out, or what is left where that is less."""
    end_s = _end_s.get()
    return usual_s if end_s is None else min(usual_s, max(SHORTEST_S, end_s - time.monotonic()))


class Aside:
    """Makes calls that may hang, such as those to a store of files, in a thread of their own; one at a time.

    A call that hangs keeps its thread, which does not keep the process alive.
    """

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None

    def call(self, function: Callable[[], T], usual_s: float) -> T:
        """Return what the function returns; raises `TimeoutError` after the time that one call may take.

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
