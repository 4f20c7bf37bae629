"""Measured figures, kept in `bench/results.json`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("results.json")


@dataclass(frozen=True, slots=True)
class Arm:
    """The absolute amount of one arm. If `records` is known, the records per second are shown too."""

    name: str
    amount: float
    unit: str = "s"
    records: int = 0

    def __str__(self) -> str:
        rate = f" ({self.records / self.amount:,.0f} records/s)" if self.records else ""
        return f"{self.name} {self.amount:,.4g} {self.unit}{rate}"


@dataclass(frozen=True, slots=True)
class Row:
    """One measured ratio and the arms that it compares; `bench.figures` has its bounds.

    If both were measured, `wall` and `cpu` are the ratios of elapsed time and of processor time; `ratio` is the one
    that is judged. `busy`: other processes used the machine, so the seconds of the arms are too high.
    """

    name: str
    ratio: float
    arms: tuple[Arm, ...]
    wall: float | None = None
    cpu: float | None = None
    busy: bool = False

    def __str__(self) -> str:
        busy = "; other processes used the machine" if self.busy else ""
        return f"{self.name}: {self.ratio:.3g}; {' ÷ '.join(map(str, self.arms))}{busy}"


def compared(name: str, one: Arm, other: Arm) -> Row:
    """Return the ratio of two amounts."""
    return Row(name, one.amount / other.amount, (one, other))


def known() -> dict[str, dict[str, Any]]:
    """Return the kept rows, by name."""
    return {row["name"]: row for row in json.loads(RESULTS.read_text())} if RESULTS.exists() else {}


def merge(rows: Iterable[Row]) -> None:
    """Write the rows into `bench/results.json`. A row of the same name is replaced; others are kept."""
    write(known() | {row.name: _document(row) for row in rows})


def drop_arms() -> None:
    """Remove the absolute amounts of all kept rows: they were measured on another machine."""
    write({name: {key: value for key, value in row.items() if key != "arms"} for name, row in known().items()})


def write(rows: Mapping[str, Mapping[str, Any]]) -> None:
    """Write all rows."""
    RESULTS.write_text(json.dumps(list(rows.values()), indent=1, ensure_ascii=False) + "\n")


def _document(row: Row) -> dict[str, Any]:
    """Return the row as JSON values, without those that were not measured."""
    return {name: _rounded(value) for name, value in asdict(row).items() if value is not None}


def _rounded(value: Any) -> Any:
    if isinstance(value, tuple):
        return [{name: _rounded(one) for name, one in arm.items()} for arm in value]
    return round(value, 3) if isinstance(value, float) else value
