"""The parts whose arms need Spark or Airflow yield their figures, whatever the arms cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest

from bench import orchestration
from bench.__main__ import main, measured
from bench.figures import figures_of
from bench.measuring import Cost
from bench.sizes import QUICK
from bench.validation import levels, on_yarn, shapes, submitting, translating


def each_once(arms: Mapping[str, Callable[[], object]], runs: int) -> dict[str, Cost]:
    """Call each arm once, as if each took a second, and a half with few records."""
    for arm in arms.values():
        arm()
    return {name: Cost(0.5, 0.5) if name.endswith("few") else Cost(1.0, 1.0) for name in arms}


@pytest.fixture(autouse=True)
def no_clusters(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Replace clusters, Spark and the work of the arms."""
    work: Any = MagicMock()
    work.return_value.consumer_performance.return_value = 2.0
    replaced: dict[str, Any] = {
        "two_clusters": lambda: nullcontext((tmp_path, {"source": "s", "target": "t"})),
        "spark_session": lambda: nullcontext(None),
        "_yarn": lambda folder: nullcontext(submitting.LOCAL),
        "fill": lambda sides, topics: None,
        "interleaved": each_once,
        "Arms": work,
        "Translating": work,
        "submit": lambda *arguments, **others: None,
        "shuffled_bytes": lambda arms: 10,
        "worker_peak_bytes": lambda: 175e6,
    }
    for module in (levels, on_yarn, shapes, submitting, translating):
        for name, value in replaced.items():
            if hasattr(module, name):
                monkeypatch.setattr(module, name, value)


@pytest.mark.parametrize("part", ["validation", "shapes", "translation", "submission", "yarn"])
def test_part_yields_each_of_its_figures(part: str) -> None:
    """Every figure compares arms that were measured."""
    assert {figure.name for figure in figures_of(part)} == {row.name for row in measured(part, QUICK[part])}


def test_only_the_fetch_time_of_the_tool_counts() -> None:
    """ConsumerPerformance is compared by the time in which it fetched, without the start of its process."""
    found = {row.name: row for row in measured("validation", QUICK["validation"])}

    assert 0.5 == found["level 1 ÷ ConsumerPerformance"].wall
    assert 1.0 == found["level 1, clean copy ÷ scan"].wall


def test_orchestration_is_compared_with_the_whole_empty_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The overhead of a sync is divided by the seconds of the whole run of empty tasks."""
    replaced: dict[str, Any] = {
        "Sandbox": MagicMock(),
        "AirflowApi": MagicMock(),
        "_run": lambda api, dag_id, conf: SimpleNamespace(wall_s=10.0 if dag_id == "empty_tasks" else 16.0),
        "_sync": lambda api, bootstrap, name, count: count,
        "overhead_s": lambda count: 10.0 + count,
    }
    for name, value in replaced.items():
        monkeypatch.setattr(orchestration, name, value)
    found = {row.name: row.ratio for row in measured("orchestration", QUICK["orchestration"])}

    assert {
        "overhead of a sync, 10 topics ÷ empty tasks": 1.2,
        "a sync with nothing new ÷ empty tasks": 1.6,
        "overhead of a sync, 1,000 topics ÷ 10 topics": 20 / 12,
    } == found


def test_failed_part_ends_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of several parts runs in a process of its own; one that fails makes the exit code 1 and ends no other."""
    called: list[list[str]] = []

    def run(command: list[str], *, check: bool) -> SimpleNamespace:
        called.append(command[1:])
        return SimpleNamespace(returncode=int("shapes" in command), check=check)

    monkeypatch.setattr("bench.__main__.subprocess.run", run)

    assert 1 == main(["shapes", "translation", "--quick"])
    assert [["-m", "bench", "shapes", "--quick"], ["-m", "bench", "translation", "--quick"]] == called
