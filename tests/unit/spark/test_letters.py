"""Rules of the letters between a task and a driver in a cluster: who wrote them, what is new, and who still waits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kafka_digest.runtime import letters as of_job
from kafka_migration.adapters.store.local_files import LocalPath
from kafka_migration.core.spark.letter_forms import OF_TASK, DriverSays, Letter, TaskSays, enclosed, opened, place_of
from kafka_migration.orchestration.operators.driver_letters import DriverLetters
from tests.waiting import wait_until

CLIENTS = '{"source": {"kafka.sasl.jaas.config": "canary"}, "target": {}}'
RESULT = "09-validation-result-1.json"


def from_driver(word: str, **body: Any) -> Letter:
    """Return a letter as the driver writes it."""
    return Letter(**of_job.enclosed(word, of_job.OF_DRIVER, {"told": 0, "lines": [], "key": "", **body}))


def test_both_sides_write_the_same_form() -> None:
    """The task understands the driver's letter and the driver the task's, and both look for them at the same place."""
    letter = enclosed("word", OF_TASK, TaskSays(7, 300.0, logins="sealed"))

    assert DriverSays(2, ("a", "b"), "k") == opened("word", from_driver("word", told=2, lines=["a", "b"], key="k"))
    assert {"beat": 7, "lease_s": 300.0, "is_over": False, "logins": "sealed"} == of_job.opened(
        "word", of_job.OF_TASK, letter.to_document()
    )
    for writer in ("driver", "task"):
        assert place_of(RESULT, writer) == of_job.place_of(RESULT, writer)


@pytest.mark.parametrize("change", ["word", "body", "writer"])
def test_letter_of_a_stranger_says_nothing(change: str) -> None:
    """A letter counts only if its writer knows the word, and cannot be sent back as one of the other side."""
    letter = from_driver("other" if change == "word" else "word", told=1, lines=["a"])
    if change == "body":
        letter = Letter(letter.body.replace("a", "b"), letter.proof)
    if change == "writer":
        letter = enclosed("word", OF_TASK, DriverSays(1, ("a",), ""))

    assert opened("word", letter) is None


@pytest.mark.parametrize(("told", "expected"), [(0, ("c", "d")), (3, ("d",)), (4, ()), (9, ())])
def test_only_new_lines_are_told(told: int, expected: tuple[str, ...]) -> None:
    """A letter has the newest lines; those that were read before are not told again."""
    assert expected == DriverSays(4, ("c", "d"), "").since(told)


def letters_at(folder: Path, heard: list[str]) -> DriverLetters:
    """Return the task's side of letters in a folder."""
    return DriverLetters(LocalPath(str(folder)) / RESULT, CLIENTS, heard.append)


def written(folder: Path, word: str, **body: Any) -> None:
    """Write a letter of the driver."""
    (folder / place_of(RESULT, "driver")).write_text(json.dumps(from_driver(word, **body).to_document()))


def read(folder: Path, word: str) -> dict[str, Any]:
    """Return what the task says."""
    letter = of_job.opened(word, of_job.OF_TASK, json.loads((folder / place_of(RESULT, "task")).read_text()))
    assert letter is not None
    return letter


def test_logins_are_given_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The logins are sealed for the first driver with the word, withdrawn once it has them, and for no second one."""
    monkeypatch.setattr(
        "kafka_migration.orchestration.operators.driver_letters.sealed", lambda key, text: f"for {key}: {len(text)}"
    )
    letters = letters_at(tmp_path, [])
    said = []
    for word, key in (("guessed", "0"), (letters.word, "1"), (letters.word, ""), (letters.word, "2")):
        written(tmp_path, word, key=key)
        letters._read()
        letters._write()
        said.append(read(tmp_path, letters.word)["logins"])

    assert ["", f"for 1: {len(CLIENTS)}", "", ""] == said


def test_driver_of_a_stopped_task_gets_no_logins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that asks for the logins after the end of the task does not get them."""
    monkeypatch.setattr("kafka_migration.orchestration.operators.driver_letters.sealed", lambda _key, text: text)
    letters = letters_at(tmp_path, [])
    letters.end()
    written(tmp_path, letters.word, key="1")
    letters._read()
    letters._write()

    assert (True, "") == tuple(read(tmp_path, letters.word)[name] for name in ("is_over", "logins"))


def test_driver_is_known_by_its_own_letter(tmp_path: Path) -> None:
    """Only a letter with the word shows that a driver is there, which reads the task's letters."""
    letters = letters_at(tmp_path, [])
    found = []
    for word in ("guessed", letters.word):
        written(tmp_path, word)
        letters._read()
        found.append(letters.has_driver)

    assert [False, True] == found


def test_letters_are_removed_at_the_end(tmp_path: Path) -> None:
    """After the job nothing of the letters is left, and its last lines were heard."""
    heard: list[str] = []
    letters = letters_at(tmp_path, heard)
    with letters.exchanged():
        written(tmp_path, letters.word, told=2, lines=["first", "last"])

    assert ["first", "last"] == heard
    assert [] == list(tmp_path.iterdir())


def test_driver_of_a_failed_task_is_told_to_end(tmp_path: Path) -> None:
    """If the task fails while a driver may still run, its letter stays and says so, without logins."""
    letters = letters_at(tmp_path, [])
    with pytest.raises(RuntimeError), letters.exchanged():
        raise RuntimeError

    says = read(tmp_path, letters.word)
    assert (True, "") == (says["is_over"], says["logins"])


def test_driver_notices_a_task_that_does_not_wait() -> None:
    """A task does not wait if its number stands still for the time that the letter names, or if there is no letter."""
    now = [0.0]
    waiting = of_job.Waiting(lambda: now[0])
    beating = {"beat": 1, "lease_s": 60.0, "is_over": False}
    assert "" == waiting.over(None)
    now[0] = 299.0
    assert "" == waiting.over(beating)
    now[0] = 359.0
    assert "" == waiting.over(beating)
    now[0] = 360.0

    assert "the task in Airflow has not been seen for 60 s" == waiting.over(None)
    assert "" == waiting.over({**beating, "beat": 2})
    assert "the task in Airflow was stopped" == waiting.over({**beating, "beat": 3, "is_over": True})


def test_store_that_fails_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A store that does not answer for a moment ends no letters, and what was missed is told later."""
    monkeypatch.setattr("kafka_migration.orchestration.operators.driver_letters.EVERY_S", 0.01)
    heard: list[str] = []
    letters = letters_at(tmp_path / "later", heard)
    (tmp_path / "later").write_text("a file in the place of the folder")
    with letters.exchanged():
        wait_until(lambda: "do not arrive" in caplog.text)
        (tmp_path / "later").unlink()
        wait_until((tmp_path / "later" / place_of(RESULT, "task")).exists)
        written(tmp_path / "later", letters.word, told=1, lines=["said"])
        wait_until(lambda: bool(heard))

    assert ["said"] == heard
