"""Works at the same time, of which none asks Airflow in its own thread."""

from __future__ import annotations

import ast
import signal
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from threading import Barrier, Event, Thread, current_thread, main_thread

import pytest

import kafka_migration
from kafka_migration.airflow_adapters.task_thread import at_once, in_task_thread
from tests.syntax import tree_of

ADAPTERS = Path(kafka_migration.__file__).parent / "airflow_adapters"
# What asks Airflow through the client of the task.
ASKS = {"get_connection", "mask_secret", "SSHHook", "SparkSubmitHook"}
SEEN = ContextVar("seen", default="nothing")


@in_task_thread
def asked(failing: bool = False) -> Thread:
    """Return the thread that asks Airflow."""
    if failing:
        raise ValueError("no connection")
    return current_thread()


def test_airflow_is_asked_in_the_callers_thread() -> None:
    """Whatever thread needs a connection, the one that began asks for it, also for works within works."""
    inner = partial(at_once, [asked, asked])
    found = at_once([asked, asked, lambda: inner()[0], lambda: inner()[1]])

    assert [current_thread()] * 4 == found
    assert current_thread() is asked()


def test_works_have_threads_of_their_own() -> None:
    """Works run at the same time, and their results are in the order of the works."""
    together = Barrier(3)

    def work(number: int) -> tuple[int, bool]:
        together.wait(60)
        return number, current_thread() is caller

    caller = current_thread()

    assert [(0, False), (1, False), (2, False)] == at_once([partial(work, number) for number in range(3)])
    assert [] == at_once([])


def test_error_of_airflow_reaches_the_work_that_asked() -> None:
    """A work can handle the error; the others go on."""

    def handling() -> str:
        try:
            asked(failing=True)
        except ValueError as error:
            return str(error)
        return "none"

    assert ["no connection", "yes"] == at_once([handling, lambda: "yes"])


def test_first_error_in_order_is_raised_after_all_have_ended() -> None:
    """Which error is raised does not depend on which work fails first."""
    second_failed = Event()

    def first() -> None:
        assert second_failed.wait(60)
        raise ValueError("first")

    def second() -> None:
        second_failed.set()
        raise ValueError("second")

    for _ in range(3):
        second_failed.clear()
        with pytest.raises(ValueError, match="first"):
            at_once([first, second])


class TimeIsOver(Exception):
    """The time limit of a task."""


@pytest.fixture
def time_limit() -> Iterator[Callable[[], None]]:
    """Return what ends the task's own thread by a signal, as Airflow does at a time limit."""

    def end(number: int, frame: object) -> None:
        raise TimeIsOver

    before = signal.signal(signal.SIGALRM, end)
    thread = main_thread().ident
    assert thread is not None
    yield partial(signal.pthread_kill, thread, signal.SIGALRM)
    signal.signal(signal.SIGALRM, before)


def test_end_of_the_callers_thread_waits_for_no_work(time_limit: Callable[[], None]) -> None:
    """A time limit ends the call at once, however long a work takes."""
    never = Event()

    def late() -> None:
        time_limit()
        never.wait(600)

    with pytest.raises(TimeIsOver):
        at_once([late, lambda: None])
    never.set()


def test_works_see_what_the_caller_has_set() -> None:
    """A deadline or another value of the caller holds for its works; what a work sets stays there."""
    mark = SEEN.set("the caller")

    def work() -> str:
        seen = SEEN.get()
        SEEN.set("a work")
        return seen

    assert ["the caller"] * 2 == at_once([work, work])
    assert "the caller" == SEEN.get()
    SEEN.reset(mark)


def _asking(tree: ast.AST) -> list[ast.FunctionDef]:
    """Return the functions that ask Airflow."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return [node for node in functions if any(_asks(each) for each in ast.walk(node))]


def _asks(node: ast.AST) -> bool:
    called = node.func if isinstance(node, ast.Call) else None
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name in ASKS


def test_each_function_that_asks_airflow_has_the_mark() -> None:
    """A connection is read, and a secret is masked, only by functions that the task's own thread runs."""
    found: list[Callable[[], None] | str] = []
    asking = [node for path in sorted(ADAPTERS.glob("*.py")) for node in _asking(tree_of(path))]
    for node in asking:
        marks = [mark.id for mark in node.decorator_list if isinstance(mark, ast.Name)]
        if "in_task_thread" not in marks:
            found.append(node.name)

    assert [] == found
    assert {"read_connection", "mask", "spark_target", "_hook", "connection_type"} <= {node.name for node in asking}
