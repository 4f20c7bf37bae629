"""Work in several threads, of which none asks Airflow.

A task asks Airflow for connections through one client, which not every supported version lets several threads use. So
each function that asks has the mark `in_task_thread`: the thread that has started the others runs it for them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextvars import ContextVar, copy_context
from functools import partial, wraps
from queue import SimpleQueue
from typing import ParamSpec, TypeAlias, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
# What a thread asks the task's own thread to do; `None` says that a thread has ended.
_Asked: TypeAlias = "SimpleQueue[Callable[[], None] | None]"
_asked: ContextVar[_Asked | None] = ContextVar("asked", default=None)


def in_task_thread(act: Callable[P, T]) -> Callable[P, T]:
    """Let a function run in the task's own thread, also if another thread of `at_once` calls it."""

    @wraps(act)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        asked = _asked.get()
        if asked is None:
            return act(*args, **kwargs)
        answer: Future[T] = Future()
        asked.put(partial(_answer, answer, partial(act, *args, **kwargs)))
        return answer.result()

    return call


def at_once(works: Sequence[Callable[[], T]]) -> list[T]:
    """Do works at the same time, and return their results in order; raises the first error in this order.

    Each work has a thread of its own. What they ask Airflow is asked in the thread of the outermost call. If an error
    ends this thread, for example the time limit of the task, the others do not delay it.
    """
    if len(works) < 2:
        return [work() for work in works]
    answers: list[Future[T]] = [Future() for _ in works]
    asked = _asked.get()
    if asked is None:
        _serve(works, answers)
    else:
        _start(works, answers)
    return [answer.result() for answer in answers]


def _serve(works: Sequence[Callable[[], T]], answers: Sequence[Future[T]]) -> None:
    """Start works, and do what they ask of this thread until all have ended."""
    asked: _Asked = SimpleQueue()
    for answer in answers:
        answer.add_done_callback(lambda _: asked.put(None))
    mark = _asked.set(asked)
    try:
        _start(works, answers)
    finally:
        _asked.reset(mark)
    left = len(works)
    while left:
        act = asked.get()
        if act is None:
            left -= 1
        else:
            act()


def _start(works: Sequence[Callable[[], T]], answers: Sequence[Future[T]]) -> None:
    """Start a thread per work; it does not keep the process alive, and sees what this thread has set."""
    for work, answer in zip(works, answers, strict=True):
        run = partial(copy_context().run, _answer, answer, work)
        threading.Thread(target=run, name="at once", daemon=True).start()


def _answer(answer: Future[T], work: Callable[[], T]) -> None:
    try:
        answer.set_result(work())
    except BaseException as error:
        answer.set_exception(error)
