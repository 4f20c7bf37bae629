"""Rules of the benchmark figures: their sizes, bounds, names and the published page."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import pytest

from bench import __main__ as command
from bench import machine, opponents, results
from bench.figures import FIGURES, PARTS, Figure, figures_of
from bench.measuring import Cost, ratio
from bench.page import page
from bench.results import Arm, Row, compared
from bench.sizes import FULL, QUICK, Size

ROOT = Path(__file__).parents[3]
JUDGED = "level 1, four times the records"
PUBLISHED = ROOT / "docs" / "operate" / "benchmarks.md"


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep results and machine in a folder of the test."""
    monkeypatch.setattr(results, "RESULTS", tmp_path / "results.json")
    monkeypatch.setattr(machine, "MACHINE", tmp_path / "machine.json")
    monkeypatch.setattr("bench.page.MACHINE", tmp_path / "machine.json")
    monkeypatch.setattr(machine, "_versions", lambda: {"Java": "17"})
    (tmp_path / "machine.json").write_text(json.dumps({**machine._hardware(), "Java": "17"}))
    return tmp_path


@pytest.fixture
def part(monkeypatch: pytest.MonkeyPatch) -> list[Row]:
    """Replace the part `shapes`; it yields the rows of this list."""
    rows: list[Row] = []

    def measure(size: Size) -> list[Row]:
        return rows

    monkeypatch.setitem(sys.modules, PARTS["shapes"], SimpleNamespace(rows=measure))
    return rows


def measured(part: str, ratio: float = 1.0) -> list[Row]:
    """Return a row for each figure of a part."""
    return [Row(figure.name, ratio, (Arm("one", ratio), Arm("other", 1.0))) for figure in figures_of(part)]


def line(name: str, text: str) -> str:
    """Return the line of a figure on the page."""
    (found,) = (each for each in text.splitlines() if each.startswith(f"| {name} |"))
    return found


@pytest.mark.parametrize("part", PARTS)
def test_quick_size_is_smaller(part: str) -> None:
    """Each part has a quick size of the same kind; no number in it is larger and at least one is smaller."""
    full, quick = FULL[part], QUICK[part]
    pairs = [(number, asdict(full)[name]) for name, number in asdict(quick).items()]

    assert type(full) is type(quick)
    assert all(0 < small <= large for small, large in pairs)
    assert any(small < large for small, large in pairs)


@pytest.mark.parametrize("part", PARTS)
def test_every_figure_has_a_place_on_the_page(part: str) -> None:
    """The module of the part measures each of its figures under its name, and the published page names it."""
    source = (ROOT / f"{PARTS[part].replace('.', '/')}.py").read_text()
    published = PUBLISHED.read_text()

    assert figures_of(part)
    for figure in figures_of(part):
        assert f'"{figure.name}"' in source
        assert line(figure.name, published)


def test_page_names_the_settings_of_every_opponent() -> None:
    """A reader sees how each opponent is tuned."""
    settings = {**opponents.CONSUMER, **opponents.PERFORMANCE_PROPERTIES, **opponents.JOIN, **opponents.SPARK_READER}
    mirror = {f"consumer.{name}": value for name, value in opponents.MIRROR_CONSUMER.items()}
    published = PUBLISHED.read_text()

    for name, value in {**settings, **mirror}.items():
        assert f"`{name}={value}`" in published


def test_target_above_the_bound_is_refused() -> None:
    """A target that exceeds the upper bound could only be reached by a figure that is not allowed."""
    with pytest.raises(ValueError, match="must not exceed"):
        Figure("ledger", "x", 1.2, 1.3)


def test_part_that_misses_a_figure_is_an_error(part: list[Row]) -> None:
    """A part yields every figure that is published for it."""
    part += measured("shapes")[:-1]

    with pytest.raises(RuntimeError, match="did not measure: level 1, 1,000 partitions"):
        list(command.measured("shapes", FULL["shapes"]))


def test_unpublished_figure_is_an_error(part: list[Row]) -> None:
    """A part yields no figure that the page does not have."""
    part += [Row("level 3", 1.0, ())]

    with pytest.raises(RuntimeError, match="no figure level 3"):
        list(command.measured("shapes", FULL["shapes"]))


@pytest.mark.parametrize(("ratio", "code"), [(4.5, 1), (1.0, 0)])
def test_figure_above_its_bound_fails(part: list[Row], ratio: float, code: int) -> None:
    """A whole run keeps its figures, and exits with 1 only if one of them exceeds its upper bound."""
    part += measured("shapes", ratio)

    assert code == command.main(["shapes"])
    assert ratio == results.known()[JUDGED]["ratio"]


def test_quick_run_keeps_and_judges_nothing(part: list[Row], kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A quick run exits with 0 whatever it measured, and writes no file."""
    part += measured("shapes", 4.5)

    assert 0 == command.main(["--quick", "shapes"])
    assert not (kept / "results.json").exists()
    assert f"quick, not judged: {JUDGED}: 4.5; one 4.5 s ÷ other 1 s" in capsys.readouterr().out


@pytest.mark.parametrize(("cpu_s", "busy", "expected"), [(2.0, False, 3.0), (2.0, True, 1.5), (0.0, True, 3.0)])
def test_processor_time_is_judged_on_a_busy_machine_if_known(cpu_s: float, busy: bool, expected: float) -> None:
    """Regression: an arm shorter than a clock tick, with no processor time, ended the part with an error."""
    costs = {"one": Cost(3.0, 3.0, busy), "other": Cost(1.0, cpu_s)}

    assert expected == ratio(JUDGED, costs, "one", "other").ratio


def test_page_shows_absolute_amounts() -> None:
    """The page shows the seconds of both arms and their records per second; ≈ if the machine was busy."""
    arms = (Arm("large", 8.0, records=16_000), Arm("uniform", 2.0, records=4_000))
    results.merge([Row(JUDGED, 4.0, arms, 4.0, 4.1, busy=True)])

    expected = "| ✓✓ | ≈ large 8 s (2,000 records/s) ÷ uniform 2 s (2,000 records/s) |"
    assert line(JUDGED, page("")).endswith(expected)


def test_missing_values_show_a_dash() -> None:
    """A figure without a result has no mark, and one without absolute amounts shows none."""
    assert f"| {JUDGED} | – | – | – | 4.4 | 4.1 |  | – |" == line(JUDGED, page(""))
    results.write({JUDGED: {"name": JUDGED, "ratio": 4.2}})

    assert f"| {JUDGED} | 4.2 | – | – | 4.4 | 4.1 | ✓ | – |" == line(JUDGED, page(""))


def test_amounts_of_another_machine_are_removed(kept: Path) -> None:
    """The page never shows the seconds of two machines; the ratios stay, and so do amounts of this machine."""
    results.merge([compared(JUDGED, Arm("large", 4.0), Arm("uniform", 1.0))])
    machine.note_machine()
    assert "arms" in results.known()[JUDGED]

    (kept / "machine.json").write_text(json.dumps({**machine._hardware(), "Processor cores": "1000"}))
    machine.note_machine()

    assert {"name": JUDGED, "ratio": 4.0, "busy": False} == results.known()[JUDGED]


def test_kept_figures_are_published_ones() -> None:
    """No figure is kept that the page does not have."""
    kept = json.loads((ROOT / "bench" / "results.json").read_text())

    assert {row["name"] for row in kept} <= FIGURES.keys()
