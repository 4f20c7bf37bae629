"""The page `docs/operate/benchmarks.md`: the figures of `bench/results.json`, their machine and the opponents."""

from __future__ import annotations

import json
from typing import Any

from bench.figures import PARTS, Figure, figures_of
from bench.machine import MACHINE
from bench.opponents import opponents
from bench.results import Arm, known
from kafka_migration.core.text.markdown import table

HEADS = ("What", "Ratio", "elapsed", "processor", "must", "aim", "", "Absolute")
INTRODUCTION = """\
All figures are ratios, measured in one run on one machine, side by side and in turn, so that they are meaningful on
other machines too. Where arms run in turn, both values are medians of several runs; the first run of each is dropped.
Both clusters, Spark and the compared code share the machine's cores. The ratio of elapsed times is judged. If other
processes used the machine during the run, the ratio of processor times is judged instead (of all processes below the
benchmark: Spark, its Python workers, the brokers)."""
COMMANDS = """\
`make bench` measures everything and writes this page; it takes 40 minutes on such a machine. Only the part `memory`,
which takes more than an hour, is left out.
`.venv/bin/python -m bench <part>` measures one part, and `.venv/bin/python docs/generate.py` writes the page.
`make bench-quick` runs every part once on little data. It only prints, and judges nothing: the first arm of a part also
warms up Spark, clusters and connections."""
LEGEND = """\
✓ within the upper bound, ✓✓ within the target, ✗ above the upper bound. A figure without a bound is not judged. –
stands for a value that is not measured, or not measured again since its opponent or the machine changed. ≈ other
processes used the machine, so the seconds are too high."""
# What a reader has to know about the figures of a part.
NOTES = {
    "connect": """\
All workers share the cores, the memory and the loopback interface of one machine with both clusters. So the first
figure does not show how far a copy scales; it shows what it costs to spread the same tasks over three workers. On
machines of their own, three workers have three times the cores and network cards. The second figure is the time from
the reservation to its release of a generation that copies a few records.""",
}
OPPONENTS = "Each opponent is tuned as an experienced user would tune it, unless it is named as the default."


def page(notice: str) -> str:
    """Return the page."""
    rows = known()
    parts = (
        f"# Benchmarks\n\n{notice}{INTRODUCTION}",
        COMMANDS,
        *(_part(part, rows) for part in PARTS),
        f"## Reading the tables\n\n{LEGEND}",
        f"## Opponents\n\n{OPPONENTS}\n\n{table(('Opponent', 'Settings and work'), opponents())}",
        f"## Machine\n\n{table(('Machine', ''), list(json.loads(MACHINE.read_text()).items()))}\n",
    )
    return "\n\n".join(parts)


def _part(part: str, rows: dict[str, dict[str, Any]]) -> str:
    cells = [_cells(figure, rows.get(figure.name)) for figure in figures_of(part)]
    note = f"{NOTES[part]}\n\n" if part in NOTES else ""
    return f"## Part `{part}`\n\n{note}{table(HEADS, cells)}"


def _cells(figure: Figure, row: dict[str, Any] | None) -> tuple[str, ...]:
    measured = row or {}
    ratios = (_figure(measured.get(name)) for name in ("ratio", "wall", "cpu"))
    return figure.name, *ratios, _figure(figure.must), _figure(figure.aim), _mark(figure, row), _absolute(measured)


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def _absolute(row: dict[str, Any]) -> str:
    """Return the amounts of the arms; older rows have none."""
    if "arms" not in row:
        return "–"
    return ("≈ " if row.get("busy") else "") + " ÷ ".join(str(Arm(**arm)) for arm in row["arms"])


def _mark(figure: Figure, row: dict[str, Any] | None) -> str:
    if figure.must is None:
        return "not judged"
    if row is None:
        return ""
    if row["ratio"] > figure.must:
        return "✗"
    return "✓✓" if figure.aim is not None and row["ratio"] <= figure.aim else "✓"
