"""Rules of `status --watch`."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafka_migration.adapters.store.run_status_store import NewsStore
from kafka_migration.cli.runs.status_verb import status_lines
from kafka_migration.cli.runs.watching_status import watched
from kafka_migration.cli.shell.output import only_answers
from kafka_migration.steps.answers.kept_migration import MigrationStore
from kafka_migration.steps.answers.status_answer import StatusAnswer, status_answer
from tests.unit.cli.test_cli import RUN, mirrored_twice
from tests.unit.cli.test_cli_present import NOW, POLLED

Act = Callable[[NewsStore], None]


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        """Return true."""
        return True


def watch(root: Path, stream: io.StringIO, *acts: Act) -> StatusAnswer:
    """Watch a migration; before each wait is over, the next act happens."""
    news, left = NewsStore(root, "shop"), iter(acts)
    news.tell_progress(POLLED)
    return watched(
        lambda: status_answer(MigrationStore(root, "shop"), NOW), status_lines, stream, lambda _: next(left)(news)
    )


def polled(**changes: Any) -> Act:
    return lambda news: news.tell_progress({**POLLED, **changes})


def step(name: str) -> Act:
    return lambda news: news.tell_step(RUN.holder, name, "2030-01-01T11:59:58+00:00")


def never(_: float) -> None:
    pytest.fail("it waited")


def end(news: NewsStore) -> None:
    news.tell_ended(RUN.holder, "2030-01-01T12:00:00+00:00")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A migration with a run that copies."""
    return mirrored_twice(tmp_path)


def test_without_a_terminal_each_change_is_a_line(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What has not changed is not repeated, no control character is written, and the whole status comes at the end."""
    with only_answers():
        last = watch(root, io.StringIO(), polled(), polled(copied=150_000, lag=50_000), step("judge"), end)
    lines = capsys.readouterr().out.splitlines()

    assert last.now is None
    assert ["watch_lag; 60.0%", "watch_lag; 75.0%", "judge"] == [line[: line.find("%") + 1 or 5] for line in lines[:3]]
    assert "Now         no active run" in lines
    assert all(line.isprintable() for line in lines)


def test_migration_without_an_active_run_is_shown_once(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """There is nothing to wait for."""
    with only_answers():
        watched(lambda: status_answer(MigrationStore(root, "shop"), NOW), status_lines, io.StringIO(), never)

    assert "Now         no active run" in capsys.readouterr().out.splitlines()


def test_terminal_shows_the_same_words_with_a_bar(root: Path) -> None:
    """The terminal has the lines of `status`, and a bar with the share of the step; foreign names are no markup."""
    terminal = Terminal()
    behind = [{"topic": "[red]orders[/red]", "lag": 7}]
    watch(root, terminal, polled(behind=behind), end)
    text = terminal.getvalue()

    for line in ("Migration   shop", "Progress    60.0% (120,000 of 200,000 offsets)"):
        assert line in text.partition("\u2501")[0]
    assert "\u2501" in text
    assert "[red]orders[/red]" in text
