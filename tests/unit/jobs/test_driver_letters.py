"""Rules of the driver's letters: it gets its logins, tells its lines, and ends if no one waits for it."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_digest.runtime import job_errors, letters, waiting
from kafka_digest.runtime.job_errors import JobError
from kafka_digest.runtime.letters import OF_DRIVER, OF_TASK, Letters, enclosed, opened, place_of, taken_word
from tests.waiting import wait_until

RESULT, WORD = "file:/evidence/09-validation-result-1.json", "word"
CLIENTS = '{"source": {"kafka.sasl.jaas.config": "canary"}, "target": {"a": 1}}'
BEATING = {"beat": 1, "lease_s": 300.0, "is_over": False, "logins": ""}


class Keys:
    """A key pair that only marks a text."""

    public = "public"

    def __init__(self, _jvm: object) -> None:
        pass

    def opened(self, sealed: str) -> str:
        """Return the text without the mark."""
        return sealed.removeprefix("sealed ")


class Store(dict[str, Any]):
    """The evidence root, with the letters by their place."""

    def task(self, **says: Any) -> None:
        """Write the task's letter."""
        self[place_of(RESULT, OF_TASK)] = enclosed(WORD, OF_TASK, {**BEATING, **says})

    def driver(self) -> dict[str, Any]:
        """Return what the driver says."""
        says = opened(WORD, OF_DRIVER, self.get(place_of(RESULT, OF_DRIVER), {}))
        return says or {"lines": [], "key": "", "told": 0}


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Store:
    """An evidence root in memory, and letters that are exchanged at once."""
    made = Store()

    def read(_session: object, place: str) -> Any:
        if place not in made:
            raise JobError("no such file")
        return made[place]

    monkeypatch.setattr(letters, "KeyPair", Keys)
    monkeypatch.setattr(waiting, "EVERY_S", 0.01)
    monkeypatch.setattr(letters, "write_document", lambda _session, place, letter: made.__setitem__(place, letter))
    monkeypatch.setattr(letters, "read_document", read)
    monkeypatch.setattr(letters, "remove", lambda _session, place: made.pop(place, None))
    return made


def letters_of(cancelled: threading.Event) -> Letters:
    """Return the letters of a driver whose jobs can be cancelled."""
    session: Any = SimpleNamespace(_jvm=None, sparkContext=SimpleNamespace(cancelAllJobs=cancelled.set))
    return Letters(session, RESULT, WORD)


def test_driver_gets_its_logins_and_shows_no_key_afterwards(store: Store) -> None:
    """The driver offers a key until it has the logins; the task sees from the missing key that it has them."""
    made = letters_of(threading.Event())

    def answer() -> None:
        wait_until(lambda: store.driver()["key"] == "public")
        store.task(logins=f"sealed {CLIENTS}")

    task = threading.Thread(target=answer)
    task.start()
    with made.exchanged():
        found = made.clients()
        task.join()

    assert {"source": {"kafka.sasl.jaas.config": "canary"}, "target": {"a": "1"}} == found
    assert "" == store.driver()["key"]


def test_last_line_is_in_the_last_letter(store: Store) -> None:
    """What a job says at its end arrives, also the name of an error that no one expected."""
    store.task()
    made = letters_of(threading.Event())

    def fail() -> None:
        job_errors.tell("first")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), made.exchanged():
        fail()

    assert "first" == store.driver()["lines"][0]
    assert store.driver()["lines"][-1].startswith("SPARK_FAILED: ZeroDivisionError")


def test_stopped_task_cancels_the_work(store: Store) -> None:
    """A task that was stopped cancels the work of its driver, which can then remove quotas and letters, and end."""
    store.task(is_over=True)
    cancelled, told = threading.Event(), list[str]()
    with job_errors.heard_by(told.append), letters_of(cancelled).exchanged():
        assert cancelled.wait(60)

    assert ["SPARK_FAILED: the task in Airflow was stopped, so the application ends"] == told

    assert {} == store


def test_driver_that_does_not_end_is_ended(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver whose work cannot be cancelled removes the letters and ends its process, and so the application."""
    store.task(is_over=True)
    ended: list[tuple[int, dict[str, Any]]] = []
    is_ended = threading.Event()
    monkeypatch.setattr(waiting, "GRACE_S", 0.01)

    def end(code: int) -> None:
        ended.append((code, store.copy()))
        is_ended.set()

    monkeypatch.setattr("kafka_digest.runtime.waiting.os._exit", end)
    with letters_of(threading.Event()).exchanged():
        assert is_ended.wait(60)

    assert [(1, {})] == ended


def test_store_that_hangs_does_not_keep_a_driver(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that is to end does so although the store does not answer its last request."""
    store.task(is_over=True)
    is_ended, is_answering = threading.Event(), threading.Event()
    monkeypatch.setattr(waiting, "GRACE_S", 0.01)
    monkeypatch.setattr(waiting, "LAST_S", 0.01)
    monkeypatch.setattr(letters, "remove", lambda _session, _place: is_answering.wait(60))
    monkeypatch.setattr("kafka_digest.runtime.waiting.os._exit", lambda _code: is_ended.set())
    with letters_of(threading.Event()).exchanged():
        assert is_ended.wait(60)
        is_answering.set()
        wait_until(lambda: "last" not in {thread.name for thread in threading.enumerate()})


def test_letters_that_another_removed_are_not_written_again(store: Store) -> None:
    """A driver that was told to end leaves no letter, also if `finish` has removed them while it ended."""
    store.task(is_over=True)
    cancelled = threading.Event()
    with letters_of(cancelled).exchanged():
        assert cancelled.wait(60)
        store.clear()
        job_errors.tell("the quotas are removed")

    assert {} == store


def test_word_is_read_once(tmp_path: Any) -> None:
    """The shipped word is removed from the container's folder; a second start of the driver names what is missing."""
    (tmp_path / "task-word").write_text("word\n")

    assert "word" == taken_word(str(tmp_path / "task-word"))
    with pytest.raises(JobError, match="No such file"):
        taken_word(str(tmp_path / "task-word"))
