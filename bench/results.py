"""A figure of the benchmarks: a ratio within one run, what it must be and what we aim at."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

RESULTS = Path(__file__).with_name("results.json")


@dataclass(frozen=True, slots=True)
class Row:
    """One figure; `must` and `aim` are upper bounds, `None` where the figure is only noted."""

    name: str
    ratio: float
    must: float | None
    aim: float | None

    def __str__(self) -> str:
        return f"{self.name}: {self.ratio:.2f} (must {self.must}, aim {self.aim})"


def merge(rows: Iterable[Row]) -> None:
    """Write the rows into `bench/results.json`; one of the same name is replaced, the others stay."""
    known = {row["name"]: row for row in json.loads(RESULTS.read_text())} if RESULTS.exists() else {}
    known |= {row.name: {**asdict(row), "ratio": round(row.ratio, 3)} for row in rows}
    RESULTS.write_text(json.dumps(list(known.values()), indent=1, ensure_ascii=False) + "\n")
