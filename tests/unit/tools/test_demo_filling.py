"""Filling a source that is empty, whole, or was left in the middle."""

from __future__ import annotations

import pytest

from sandbox.data import __main__ as filling
from sandbox.data.topics import TOPICS

SEEDED = {topic.name for topic in TOPICS}
WHOLE = SEEDED | {"clicks"}


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was filled."""
    calls: list[str] = []

    def seed(*_: object) -> dict[str, int]:
        calls.append("seed")
        return {"orders": 5}

    monkeypatch.setattr(filling, "seed", seed)
    monkeypatch.setattr(filling, "fill_clicks", lambda _: calls.append("clicks"))
    return calls


def fill(monkeypatch: pytest.MonkeyPatch, topics: set[str], *, committed: bool = False, clicks: bool = False) -> int:
    """Call the program on a source in this state."""
    monkeypatch.setattr(filling, "present_topics", lambda _: {"other", *topics})
    monkeypatch.setattr(filling, "have_committed", lambda _: committed)
    monkeypatch.setattr(filling, "are_clicks_whole", lambda _: clicks)
    return filling.main(["--bootstrap", "source:9092"])


def test_an_empty_source_is_filled(monkeypatch: pytest.MonkeyPatch, done: list[str]) -> None:
    """Topics of others do not matter."""
    assert (0, ["seed", "clicks"]) == (fill(monkeypatch, set()), done)


@pytest.mark.parametrize("committed", [True, False])
def test_a_whole_source_is_left_alone(monkeypatch: pytest.MonkeyPatch, done: list[str], committed: bool) -> None:
    """Also when the brokers have forgotten the groups."""
    assert (0, []) == (fill(monkeypatch, WHOLE, committed=committed, clicks=True), done)


def test_what_is_lacking_as_a_whole_is_added(monkeypatch: pytest.MonkeyPatch, done: list[str]) -> None:
    """The clicks are filled last, so a source that lacks only them is completed."""
    assert (0, ["clicks"]) == (fill(monkeypatch, SEEDED, committed=True), done)


@pytest.mark.parametrize("topics", [SEEDED, {"orders"}, {"clicks"}, WHOLE])
def test_a_half_filled_source_is_refused(
    monkeypatch: pytest.MonkeyPatch, done: list[str], capsys: pytest.CaptureFixture[str], topics: set[str]
) -> None:
    """The text says that the source is half filled, and how to start again."""
    assert (1, []) == (fill(monkeypatch, topics), done)
    assert "docker volume rm <project>_kafka-source" in capsys.readouterr().out
