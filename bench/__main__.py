"""`python -m bench [part …] [--quick]`: ratios within one run, kept in `bench/results.json`.

Exit code 1 if a figure exceeds its upper bound, or if a part fails; the other parts are measured all the same. With
`--quick` every part runs once on little data: the figures are only printed, and no bound is judged.
"""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys
from collections.abc import Iterator
from functools import partial

from bench.figures import FIGURES, ON_REQUEST, PARTS, figures_of
from bench.machine import note_machine
from bench.results import Row, merge
from bench.sizes import FULL, QUICK, Size

say = partial(print, flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Run the requested parts; print their figures, and keep them unless `--quick` is given."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    named = f"the parts to run (default: all; without --quick not {', '.join(ON_REQUEST)}): {', '.join(PARTS)}"
    parser.add_argument("parts", nargs="*", metavar="part", help=named)
    parser.add_argument("--quick", action="store_true", help="little data, nothing kept, nothing judged")
    options = parser.parse_args(arguments)
    if unknown := [part for part in options.parts if part not in PARTS]:
        parser.error(f"unknown part {', '.join(unknown)}; the parts are {', '.join(PARTS)}")
    parts = options.parts or [part for part in PARTS if options.quick or part not in ON_REQUEST]
    if len(parts) == 1:
        return int(_run(parts[0], is_quick=options.quick))
    failed = [_failed(part, is_quick=options.quick) for part in parts]
    return int(any(failed))


def _failed(part: str, *, is_quick: bool) -> bool:
    """Run a part in a process of its own; return whether it failed or a figure exceeds its upper bound.

    Otherwise the memory that one part has used would slow down the next, and an error would end all.
    """
    say(f"part {part}")
    command = [sys.executable, "-m", "bench", part, *(["--quick"] if is_quick else [])]
    return subprocess.run(command, check=False).returncode != 0


def _run(part: str, *, is_quick: bool) -> bool:
    """Run a part; return whether a figure exceeds its upper bound."""
    missed = False
    for row in measured(part, (QUICK if is_quick else FULL)[part]):
        if is_quick:
            say(f"quick, not judged: {row}")
            continue
        note_machine()
        merge([row])
        must = FIGURES[row.name].must
        say(f"{row} ({'not judged' if must is None else f'must be at most {must:.3g}'})")
        missed |= must is not None and row.ratio > must
    return missed


def measured(part: str, size: Size) -> Iterator[Row]:
    """Yield the figures of a part; raise `RuntimeError` if they are not those of `bench.figures`."""
    # Each part imports only what it needs.
    found = []
    for row in importlib.import_module(PARTS[part]).rows(size):
        found.append(row.name)
        if row.name not in FIGURES:
            raise RuntimeError(f"bench.figures has no figure {row.name}")
        yield row
    if missing := {figure.name for figure in figures_of(part)}.difference(found):
        raise RuntimeError(f"part {part} did not measure: {'; '.join(sorted(missing))}")


if __name__ == "__main__":
    sys.exit(main())
