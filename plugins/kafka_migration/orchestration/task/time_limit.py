"""The time limit on work that a task waits for."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

log = logging.getLogger(__name__)

# The work may not have started yet when the time is over, so the stop is repeated.
STOP_AGAIN_S = 5.0


@contextmanager
def stopping_after(
    limit_s: float | None, stop: Callable[[], None], reached: threading.Event | None = None
) -> Iterator[threading.Event]:
    """Call `stop` in another thread once the body has taken `limit_s` seconds, and again until it ends.

    Yields an event that is set when the time is over; without a limit it is never set. `stop` may be called before the
    body has started the work.

    :param reached: set by the body when the limit no longer matters; set in any case when the body ends
    """
    done, is_over = reached or threading.Event(), threading.Event()

    def wait() -> None:
        if done.wait(limit_s):
            return
        is_over.set()
        _try(stop)
        while not done.wait(STOP_AGAIN_S):
            _try(stop)

    thread = threading.Thread(target=wait, name="time-limit", daemon=True)
    if limit_s is not None:
        thread.start()
    try:
        yield is_over
    finally:
        done.set()


def _try(stop: Callable[[], None]) -> None:
    try:
        stop()
    except Exception:
        # The next try may succeed, and the work eventually ends by itself.
        log.exception("The work could not be stopped.")
