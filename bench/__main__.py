"""`python -m bench [part …] [--records N]`: ratios within one run, kept in `bench/results.json`.

Exit code 1 if a figure exceeds its upper bound.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Iterable

from bench.page import note_machine
from bench.results import Row, merge

PARTS = ("validation", "orchestration", "snapshot", "triggerer", "mirroring", "groups")


def main() -> int:
    """Run the requested parts; write and print their figures."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=PARTS, help="the parts to run (default: all)")
    parser.add_argument("--records", type=int, default=5_000_000, help="records per side (validation)")
    options = parser.parse_args()
    missed = 0
    for part in options.parts or PARTS:
        for row in _rows(part, options.records):
            merge([row])
            print(row, flush=True)
            missed += row.must is not None and row.ratio > row.must
    note_machine(options.records)
    return int(missed > 0)


def _rows(part: str, records: int) -> Iterable[Row]:
    # Each part imports only what it needs.
    module = importlib.import_module(f"bench.{part}")
    found: Iterable[Row] = module.rows(records) if part == "validation" else module.rows()
    return found


if __name__ == "__main__":
    sys.exit(main())
