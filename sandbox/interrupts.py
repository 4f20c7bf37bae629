"""SIGTERM and SIGHUP as exceptions, so that they stop the sandbox like Ctrl-C; SIGUSR1 requests a restart of parts."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

ASKING = signal.SIGUSR1
_ENDING = (signal.SIGTERM, signal.SIGHUP)
_ALL = (signal.SIGINT, *_ENDING)


class Interrupts:
    """Signal handlers that are installed and restored; does nothing outside the main thread.

    `asked` is set when SIGUSR1 requests a restart of dead parts.
    """

    def __init__(self) -> None:
        self._before: dict[signal.Signals, Any] = {}
        self.asked = threading.Event()

    def install(self) -> None:
        """Turn SIGTERM and SIGHUP into `SystemExit(128 + number)`; an ignored signal (nohup) stays ignored."""
        if not _is_main_thread():
            return
        for number in _ENDING:
            if signal.getsignal(number) == signal.SIG_DFL:
                self._before[number] = signal.signal(number, _leave)
        self._before[ASKING] = signal.signal(ASKING, lambda *_: self.asked.set())

    def restore(self) -> None:
        """Restore the handlers from before `install`."""
        if not _is_main_thread():
            return
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    @contextmanager
    def ignored(self) -> Iterator[None]:
        """Ignore all signals except kill -9 during the block; after kill -9 the watchdog takes over."""
        if not _is_main_thread():
            yield
            return
        before = {number: signal.signal(number, signal.SIG_IGN) for number in _ALL}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)
