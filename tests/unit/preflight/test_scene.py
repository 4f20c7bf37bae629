"""What is asked once, and what is not kept."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from threading import Barrier, Event

import pytest

from kafka_migration.core.migration.settings import Migration
from kafka_migration.preflight.scene.scene import Scene, asked_once
from tests.checked_scene import Run, scene_of

ASKED: list[str] = []


@pytest.fixture
def scene(migration: Migration) -> Scene:
    """A scene for which nothing was asked yet."""
    ASKED.clear()
    return scene_of(Run(migration))


@asked_once
def question(scene: Scene, about: str) -> str:
    """Return the answer, and record that it was asked for."""
    ASKED.append(about)
    if about == "unanswerable":
        raise ValueError(about)
    return f"{about} of {scene.migration.name}"


@asked_once
def other_question(scene: Scene, about: str) -> str:
    """Return another answer."""
    return f"not {about}"


def test_scene_is_small() -> None:
    """What one check needs is asked in its file: the scene has the run, Airflow, and what all checks share."""
    assert 8 >= len(fields(Scene))


def test_answer_is_kept_per_question_and_words(scene: Scene, migration: Migration) -> None:
    """Each question is asked once about each thing and for each scene; another question has its own answer."""
    answers = [question(scene, about) for about in ("a", "b", "a")]
    question(scene_of(Run(migration)), "a")

    assert ["a of shop", "b of shop", "a of shop"] == answers
    assert ["a", "b", "a"] == ASKED
    assert "not a" == other_question(scene, "a")


def test_error_is_not_kept(scene: Scene) -> None:
    """A question that failed is asked again: the next check may get its answer."""
    for _ in range(2):
        with pytest.raises(ValueError, match="unanswerable"):
            question(scene, "unanswerable")

    assert ["unanswerable"] * 2 == ASKED


def test_threads_wait_for_one_answer(scene: Scene) -> None:
    """Threads that ask the same at once get one answer; another question does not wait for it."""
    together, other_was_asked = Barrier(2), Event()
    asked: list[str] = []

    def slow() -> str:
        asked.append("slow")
        assert other_was_asked.wait(60)
        return "answer"

    def ask() -> str:
        together.wait(60)
        return scene.once("slow", slow)

    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(ask) for _ in range(2)]
        scene.once("other", lambda: other_was_asked.set())

        assert ["answer"] * 2 == [each.result(60) for each in waiting]
    assert ["slow"] == asked
