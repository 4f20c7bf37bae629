"""A benchmark figure: a ratio within one run, its upper bound and its target."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

RESULTS = Path(__file__).with_name("results.json")


@dataclass(frozen=True, slots=True)
class Row:
    """One figure; `must` and `aim` are upper bounds, `None` if the figure has no bound.

    If both were measured, `wall` and `cpu` are the ratios of elapsed time and of processor time; `ratio` is the one
    that is judged.
    """

    name: str
    ratio: float
    must: float | None
    aim: float | None
    wall: float | None = None
    cpu: float | None = None

    def __str__(self) -> str:
        return f"{self.name}: {self.ratio:.2f} (must {self.must}, aim {self.aim})"


def merge(rows: Iterable[Row]) -> None:
    """Write the rows into `bench/results.json`. A row of the same name is replaced; others are kept."""
    known = {row["name"]: row for row in json.loads(RESULTS.read_text())} if RESULTS.exists() else {}
    known |= {row.name: _document(row) for row in rows}
    RESULTS.write_text(json.dumps(list(known.values()), indent=1, ensure_ascii=False) + "\n")


def _document(row: Row) -> dict[str, object]:
    values = {name: round(value, 3) if isinstance(value, float) else value for name, value in asdict(row).items()}
    return {name: value for name, value in values.items() if value is not None or name in {"must", "aim"}}
