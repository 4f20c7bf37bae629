"""Benchmarks: ratios measured side by side in one run, never absolute times."""

from __future__ import annotations

import sys
from pathlib import Path

# The checkout's own packages: nothing is installed where the benchmarks run.
sys.path[:0] = [str(Path(__file__).parents[1] / folder) for folder in ("spark_jobs", "plugins")]
