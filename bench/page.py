"""The page `docs/operate/benchmarks.md`: the figures of `bench/results.json` and their machine."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.results import RESULTS
from kafka_migration.core.text.markdown import table

MACHINE = Path(__file__).with_name("machine.json")
HEADS = ("What", "Ratio", "elapsed", "processor", "must", "aim", "")
INTRODUCTION = """\
All figures are ratios, measured in one run on one machine, side by side and in turn, so that they are meaningful on
other machines too. Both values are the median of at least five runs; the first run of each is dropped. Both clusters,
Spark and the compared code share the machine's cores. The ratio of elapsed times is judged. If other processes used the
machine during the run, the ratio of processor times is judged instead (of all processes below the benchmark: Spark, its
Python workers, the brokers). `make bench` measures again and writes this page; it takes hours on such a machine."""
LEGEND = (
    "✓ within the upper bound, ✓✓ within the target, ✗ above the upper bound. A figure without a bound is not judged."
)


def note_machine(records: int) -> None:
    """Record the machine and versions of the figures, and the number of records per side."""
    java = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True).stderr.splitlines()[0]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    facts = {
        "Processor cores": str(os.cpu_count()),
        "Memory": f"{memory / (1 << 30):.0f} GiB",
        "System": f"{platform.system()} {platform.machine()}",
        "Records of a side (validation)": f"{records:,}",
        "Java": java.split('"')[1],
        "Python": platform.python_version(),
        "Kafka (brokers, tools)": "3.9.1",
        **{name: version(name) for name in ("apache-airflow", "pyspark", "confluent-kafka", "numpy", "pyarrow")},
    }
    MACHINE.write_text(json.dumps(facts, indent=1) + "\n")


def page(notice: str) -> str:
    """Return the page."""
    rows = [_row(row) for row in json.loads(RESULTS.read_text())]
    machine = table(("Machine", ""), list(json.loads(MACHINE.read_text()).items()))
    return f"# Benchmarks\n\n{notice}{INTRODUCTION}\n\n{table(HEADS, rows)}\n\n{LEGEND}\n\n{machine}\n"


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    figures = (_figure(row.get(name)) for name in ("ratio", "wall", "cpu", "must", "aim"))
    return row["name"], *figures, _mark(row)


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def _mark(row: dict[str, Any]) -> str:
    ratio, must, aim = row["ratio"], row["must"], row["aim"]
    if must is None:
        return ""
    if ratio > must:
        return "✗"
    return "✓✓" if aim is not None and ratio <= aim else "✓"
